// `dossier serve`: answers requests from the store until it is told to stop.

import cluster from 'node:cluster'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import type { FastifyInstance } from 'fastify'
import { type Settings, UsageError } from '../config.ts'
import { buildApp } from '../http/app.ts'
import type { Metrics } from '../http/metrics.ts'
import { timeStore } from '../http/time-store.ts'
import type { Ask } from '../keys/one-for-all.ts'
import { resources } from '../resources/index.ts'
import { describeStore, openStoreReader } from '../store/open-store.ts'
import type { StoreReader } from '../store/store.ts'
import { borrowLimits, keepLimits, readyOptions } from './app-options.ts'
import type { Command, CommandContext } from './command.ts'
import { createLog, type Log } from './log.ts'
import { isMeasured, listenForMetrics, type MetricsListener } from './metrics-listener.ts'
import { explainListenError, hasHandedSocket, listenOptions, urlOf } from './listening.ts'
import { programVersion } from './program-version.ts'
import { stopServing } from './stop-serving.ts'
import { keepUsage, lendUsage, type Usage } from './usage.ts'

export const serve: Command = {
  name: 'serve',
  summary: 'answer requests from the store',
  usage: ['serve [OPTIONS]'],
  details: `
Answers GET /api/v1/companies/{company_id}/LISTING to clients with a key, where LISTING is one of
${resources.map(({ name }) => name).join(', ')}; /healthz and /readyz to load
balancers; /docs to browsers. The store is opened read-only; imports may go on at the same time,
and each is seen as soon as it is committed.

SIGTERM or SIGINT (Ctrl-C) stop it: it says that it is not ready, has its clients close their
connections, takes no new ones, ends the running requests, and exits 0.

  dossier serve --db registry.db --host 0.0.0.0 --port 80
  dossier serve --db postgres://dossier@db.internal/registry --pool 20`,
  options: [],
  settings: [
    ...(['db', 'pool', 'waitMs', 'statementMs'] as const),
    ...(['host', 'port', 'reusePort', 'workers', 'cacheMib', 'stopSeconds'] as const),
    ...(['connectionsMax', 'requestsMax', 'delayMsMax'] as const),
    ...(['corsOrigin', 'trustProxy', 'defaultRate', 'redisUrl', 'badKeyRate'] as const),
    ...(['usageDb', 'usageSeconds'] as const),
    ...(['metricsPort', 'metricsHost', 'logLevel', 'logFormat'] as const),
  ],
  async run({ words, settings }, context) {
    if (words.length > 0)
      throw new UsageError(`serve takes options only, but got ${words.join(' ')}`)
    // The two know this file in turn, and are needed where there are workers only.
    if (cluster.isWorker) return (await import('./worker.ts')).runWorker(settings, context)
    const count = workerCount(settings)
    // A primary closes its listener where no worker is left; this one it could not open again.
    if (count > 1 && hasHandedSocket(context.environment)) {
      throw new UsageError(`--workers is ${count}; a socket that systemd holds takes one process`)
    }
    if (count > 1 && settings.reusePort === 'yes' && settings.port === '0') {
      throw new UsageError(
        '--port is 0; with --reuse-port yes, several workers need to know theirs',
      )
    }
    if (count > 1) return (await import('./primary.ts')).runPrimary(settings, context, count)
    const server = await startServer(settings, context)
    const { url, metrics, log } = server
    const db = describeStore(settings.db)
    log.logger.info({ url, db, metrics_url: metrics?.url }, 'listening')
    await untilStopped(server, settings, context.signal)
    return 0
  },
}

/** A server that listens. */
export interface RunningServer {
  readonly app: FastifyInstance
  readonly store: StoreReader
  readonly log: Log
  /** Where it can be reached, such as `http://127.0.0.1:8080`. */
  readonly url: string
  readonly metrics: MetricsListener | undefined
  /** What is counted; undefined where nobody wants to know. */
  readonly counts: Metrics | undefined
  /** Undefined where uses of keys are not counted. */
  readonly usage: Usage | undefined
}

/** How many processes are to answer requests. */
function workerCount({ workers }: Settings): number {
  return workers === 'auto' ? availableParallelism() : Number(workers)
}

/**
 * Starts serving; as a worker, with its share of the cache, and no listener for metrics.
 *
 * @param primary answers a worker what has to be one for all; undefined for a server alone.
 *
 * @throws OperatorError where the store cannot be opened or the address not be listened on.
 */
export async function startServer(
  settings: Settings,
  { environment, stdout, now }: CommandContext,
  primary?: Ask,
): Promise<RunningServer> {
  const isWorker = primary !== undefined
  const opened = await openStoreReader(settings.db, resources, servingBounds(settings, isWorker))
  const log = await createLog(settings, stdout, isWorker)
  const counts = isMeasured(settings) ? await measure(opened, log) : undefined
  const store = counts === undefined ? opened : timeStore(opened, counts)
  const limits = isWorker
    ? borrowLimits(settings, primary)
    : await keepLimits(settings, store.storeId, log.logger)
  const usage = isWorker
    ? lendUsage(settings, primary, now)
    : keepUsage(settings, store.storeId, log.logger, now)
  const app = buildApp({
    store,
    resources,
    logger: log.logger,
    metrics: counts,
    countUse: usage?.count,
    version: programVersion(),
    ...readyOptions(settings, store, now, { limits, shares: isWorker ? workerCount(settings) : 1 }),
  })
  app.addHook('onClose', limits.close)
  const { logger } = log
  try {
    await listen(app, settings, environment)
    const metrics =
      counts && !isWorker ? await listenForMetrics(settings, counts.registry, logger) : undefined
    return { app, store, log, url: urlOf(app.server.address()), metrics, counts, usage }
  } catch (error) {
    await app.close()
    await store.close()
    throw error
  }
}

/** What may be asked of a database's server; workers share its connections among them. */
function servingBounds(settings: Settings, isWorker: boolean) {
  const shares = isWorker ? workerCount(settings) : 1
  return {
    pool: Math.max(1, Math.floor(Number(settings.pool) / shares)),
    waitMs: Number(settings.waitMs),
    statementMs: Number(settings.statementMs),
  }
}

/** Loads what is needed for figures only where somebody wants them. */
async function measure(store: StoreReader, log: Log): Promise<Metrics> {
  const { createMetrics } = await import('../http/metrics.ts')
  const lastImports = async () => store.lastImports()
  const { dropped: droppedLines } = log
  return createMetrics({ resources, version: programVersion(), lastImports, droppedLines })
}

async function listen(
  app: FastifyInstance,
  settings: Settings,
  environment: CommandContext['environment'],
): Promise<void> {
  try {
    await app.listen(listenOptions(settings, environment))
  } catch (error) {
    throw explainListenError(error, settings)
  }
}

/** Waits for the signal, and stops. */
export async function untilStopped(
  server: RunningServer,
  settings: Settings,
  signal: AbortSignal,
): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort')
  const { logger } = server.log
  logger.info({ signal: String(signal.reason) }, 'stopping')
  await stopServing(server.app, Number(settings.stopSeconds) * 1_000)
  await server.metrics?.close()
  await server.usage?.close()
  await server.store.close()
  logger.info('stopped')
  await server.log.close()
}
