// The primary of several workers: it owns the port, starts and stops the workers, replaces those
// that die, and sums their metrics. It does not answer requests itself.

import { once } from 'node:events'
import type { Settings } from '../config/settings.ts'
import { answerLimits } from '../auth/limits-over-ipc.ts'
import { describeStore, openStoreReader } from '../store/open-store.ts'
import { createLimits } from './limits.ts'
import type { ServerContext } from './server.ts'
import { createLog, type Log } from './log.ts'
import { listenForMetrics } from './metrics-listener.ts'
import { createWorkerPool, type WorkerPool } from './worker-pool.ts'

/** How much longer than its own time to stop a worker may take before it is killed. */
const graceMs = 5_000

/**
 * Serves with `count` workers until the signal.
 *
 * @returns the exit code; if the first worker could not start, that of the worker, which has
 *   reported the reason.
 */
export async function runPrimary(
  settings: Settings,
  context: ServerContext,
  count: number,
): Promise<number> {
  // Reports a fault of the store once, not once per worker.
  const store = await openStoreReader(settings)
  await store.close()
  const log = await createLog(settings, context.stdout)
  // What is left open where the metrics or the first worker cannot listen would keep the process
  // running.
  await using running = new AsyncDisposableStack()
  const limits = await createLimits(settings, store.storeId, log.logger)
  running.defer(limits.close)
  const answers = answerLimits(limits.counter, limits.throttle)
  const pool = createWorkerPool(log.logger, answers)
  const listener =
    settings.metricsPort === undefined ? undefined : await listenForSum(pool, settings, log)
  running.defer(() => listener?.close())
  const url = await pool.start(count)
  if (typeof url === 'number') return url
  const db = describeStore(settings.db)
  log.logger.info({ url, db, workers: count, metrics_url: listener?.url }, 'listening')
  if (!context.signal.aborted) await once(context.signal, 'abort')
  log.logger.info({ signal: String(context.signal.reason) }, 'stopping')
  const killMs = settings.stopSeconds * 1_000 + graceMs
  const timer = setTimeout(() => pool.kill(), killMs)
  await pool.stop(context.signal.reason)
  clearTimeout(timer)
  await running.disposeAsync()
  log.logger.info('stopped')
  return 0
}

/** Loads the code for metrics only if metrics are on. */
async function listenForSum(pool: WorkerPool, settings: Settings, { logger, dropped }: Log) {
  const { sumMetrics } = await import('./sum-metrics.ts')
  return listenForMetrics(settings, sumMetrics(pool, dropped), logger)
}
