// A worker: a server whose primary can stop it and read its metrics.

import cluster from 'node:cluster'
import type { Settings } from '../config/settings.ts'
import { type Channel, connectPeer } from './ipc.ts'
import { type ServerContext, startServer } from './server.ts'

/** Serves until the primary or a signal stops it. */
export async function runWorker(settings: Settings, context: ServerContext): Promise<number> {
  const stopped = new AbortController()
  let readMetrics: () => unknown = () => []
  const primary = connectPeer(process as unknown as Channel, {
    metrics: () => readMetrics(),
    stop: (reason) => stopped.abort(reason),
  })
  try {
    const server = await startServer(settings, context, (topic, question) =>
      primary.ask(topic, question),
    )
    // A busy primary may answer too late; it has been told all the same.
    primary.ask('listening', server.url).catch(() => undefined)
    readMetrics = () => server.metrics?.registry.getMetricsAsJSON() ?? []
    await server.untilStopped(AbortSignal.any([context.signal, stopped.signal]))
  } finally {
    // The channel would keep the process alive. If the primary dies, the runtime ends the worker.
    cluster.worker?.disconnect()
  }
  return 0
}
