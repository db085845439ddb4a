// Runs `serve`: a single server, or a primary with workers, until a signal stops it.

import cluster from 'node:cluster'
import { type Settings, UsageError } from '../config/settings.ts'
import { describeStore } from '../store/open-store.ts'
import { hasHandedSocket } from './listening.ts'
import { type ServerContext, startServer } from './server.ts'

/**
 * Serves until the signal.
 *
 * @returns the exit code.
 * @throws UsageError if two settings conflict; OperatorError if it cannot open the store or listen
 *   on the address.
 */
export async function runServer(settings: Settings, context: ServerContext): Promise<number> {
  if (cluster.isWorker) return (await import('./worker.ts')).runWorker(settings, context)
  const count = settings.workers
  if (count > 1) {
    checkWorkers(count, settings, context)
    return (await import('./primary.ts')).runPrimary(settings, context, count)
  }
  const server = await startServer(settings, context)
  const { logger, url, metricsUrl } = server
  logger.info({ url, db: describeStore(settings.db), metrics_url: metricsUrl }, 'listening')
  await server.untilStopped(context.signal)
  return 0
}

function checkWorkers(count: number, settings: Settings, { environment }: ServerContext): void {
  // The primary closes its listener when no worker is left, and could not reopen a passed socket.
  if (hasHandedSocket(environment)) {
    throw new UsageError(`--workers is ${count}; with a socket of systemd, it must be 1`)
  }
  if (settings.reusePort && settings.port === 0) {
    throw new UsageError('--port is 0; with --reuse-port yes and several workers, name a port')
  }
}
