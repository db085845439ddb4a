// A running server: an application that listens, with its store, log, metrics and metering.

import { once } from 'node:events'
import { existsSync } from 'node:fs'
import type { App } from '../http/app.ts'
import type { Settings } from '../config/settings.ts'
import { buildApp } from '../http/app.ts'
import type { Metrics } from '../http/metrics.ts'
import type { Ask } from '../auth/limits-over-ipc.ts'
import { resources } from '../resources/index.ts'
import { openStoreReader } from '../store/open-store.ts'
import type { StoreReader } from '../store/reading.ts'
import { limitsOfPrimary, createLimits, readyOptions } from './app-options.ts'
import { explainListenError, listenOptions } from './listening.ts'
import { createLog, type Log } from './log.ts'
import { type Metering, startMetering } from './metering.ts'
import { listenForMetrics, type MetricsListener } from './metrics-listener.ts'
import { programVersion } from './program-version.ts'
import { stopServing } from './stopping.ts'
import { timeStore } from './time-store.ts'

/** Standard error, and how many bytes wait for its reader. */
export interface ErrorOutput {
  write(text: string): void
  readonly terminal: { readonly writableLength: number }
}

/** The parts of the process that a server uses. */
export interface ServerContext {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly stderr: ErrorOutput
  /** The destination of the log. */
  readonly stdout: { readonly isTTY: boolean }
  /** Aborted by the first SIGINT or SIGTERM. */
  readonly signal: AbortSignal
  /** Returns milliseconds since 1970. */
  readonly now: () => number
}

/** A server that listens. */
export interface RunningServer {
  readonly app: App
  readonly store: StoreReader
  readonly log: Log
  /** Its address, such as `http://127.0.0.1:8080`. */
  readonly url: string
  readonly metrics: MetricsListener | undefined
  /** The counters; undefined if metrics are off. */
  readonly counts: Metrics | undefined
  /** Undefined if uses of keys are not counted. */
  readonly metering: Metering | undefined
  /** Ends the connection by which several servers share their limits. */
  readonly closeLimits: () => Promise<void>
}

/**
 * Starts serving. A worker gets its share of cache, connections and requests, and no listener for
 * metrics.
 *
 * @param primary asks a worker's primary for shared limits; undefined for a single server.
 * @throws OperatorError if it cannot open the store or listen on the address.
 */
export async function startServer(
  settings: Settings,
  { environment, stdout, now }: ServerContext,
  primary?: Ask,
): Promise<RunningServer> {
  const isWorker = primary !== undefined
  const opened = await openStoreReader(settings, servingBounds(settings, isWorker))
  const log = await createLog(settings, stdout, isWorker)
  const counts = settings.metricsPort !== undefined ? await measure(opened, log) : undefined
  const store = counts === undefined ? opened : timeStore(opened, counts)
  const limits = isWorker
    ? limitsOfPrimary(settings, primary)
    : await createLimits(settings, store.storeId, log.logger)
  const metering = startMetering(settings, store.storeId, log.logger, now)
  const app = buildApp({
    store,
    resources,
    logger: log.logger,
    metrics: counts,
    countUse: metering?.count,
    readUses: metering?.readUses,
    version: programVersion(),
    ...readyOptions(settings, store, now, {
      limits,
      shares: isWorker ? settings.workers : 1,
      logger: log.logger,
    }),
  })
  const { logger } = log
  warnOfExports(settings, log)
  try {
    const url = await listen(app, settings, environment)
    const metrics =
      counts && !isWorker ? await listenForMetrics(settings, counts.registry, logger) : undefined
    return { app, store, log, url, metrics, counts, metering, closeLimits: limits.close }
  } catch (error) {
    await app.close()
    await limits.close()
    await store.close()
    throw error
  }
}

/** The limits of the use of a database server; workers share its connections. */
function servingBounds(settings: Settings, isWorker: boolean) {
  const shares = isWorker ? settings.workers : 1
  return {
    pool: Math.max(1, Math.floor(settings.pool / shares)),
    waitMs: settings.waitMs,
    statementMs: settings.statementMs,
  }
}

/** The folder of copies may be made later, or be misspelt. */
function warnOfExports({ exports }: Settings, { logger }: Log): void {
  if (exports === undefined || existsSync(exports)) return
  const until = 'no copies are offered until dossier export makes it'
  logger.warn({ exports }, `the folder of --exports does not exist: ${until}`)
}

/** Loads the code for metrics only if metrics are on. */
async function measure(store: StoreReader, log: Log): Promise<Metrics> {
  const { createMetrics } = await import('../http/metrics.ts')
  const lastImports = async () => store.lastImports()
  const { dropped: droppedLines } = log
  const viewCounts = () => store.viewCounts()
  const version = programVersion()
  return createMetrics({ resources, version, lastImports, viewCounts, droppedLines })
}

async function listen(
  app: App,
  settings: Settings,
  environment: ServerContext['environment'],
): Promise<string> {
  try {
    return await app.listen(listenOptions(settings, environment))
  } catch (error) {
    throw explainListenError(error, settings)
  }
}

/** Waits for the signal, then stops the server. */
export async function untilStopped(
  server: RunningServer,
  settings: Settings,
  signal: AbortSignal,
): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort')
  const { logger } = server.log
  logger.info({ signal: String(signal.reason) }, 'stopping')
  await stopServing(server.app, settings.stopSeconds * 1_000)
  await server.closeLimits()
  await server.metrics?.close()
  await server.metering?.close()
  await server.store.close()
  logger.info('stopped')
  await server.log.close()
}
