// A running server: an application that listens, with its store, log, metrics and metering.

import { once } from 'node:events'
import { existsSync } from 'node:fs'
import type { Logger } from 'pino'
import { createAuthenticate } from '../auth/authenticate.ts'
import type { Settings } from '../config/settings.ts'
import { buildApp } from '../http/app.ts'
import type { Metrics } from '../http/metrics.ts'
import type { Ask } from '../auth/limits-over-ipc.ts'
import { createLimit } from '../auth/rate-limit.ts'
import { createLoad } from '../http/wire/load.ts'
import { resources } from '../resources/index.ts'
import { openStoreReader } from '../store/open-store.ts'
import type { StoreReader } from '../store/serving/store-reader.ts'
import { explainListenError, listenOptions } from './listening.ts'
import { createLimits, limitsOfPrimary } from './limits.ts'
import { createLog, type Log } from './log.ts'
import { startMetering } from './metering.ts'
import { listenForMetrics } from './metrics-listener.ts'
import { programVersion } from './program-version.ts'
import { stopServing } from './stopping.ts'
import { timeStore } from './time-store.ts'

/** The parts of the process that a server uses; a command has more. */
export interface ServerContext {
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The destination of the log. */
  readonly stdout: { readonly isTTY: boolean }
  /** Aborted by the first SIGINT or SIGTERM. */
  readonly signal: AbortSignal
  /** Returns milliseconds since 1970. */
  readonly now: () => number
}

export type RunningServer = Awaited<ReturnType<typeof startServer>>

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
) {
  const isWorker = primary !== undefined
  const shares = isWorker ? settings.workers : 1
  // What a start that fails has left open would keep the process running.
  await using starting = new AsyncDisposableStack()
  const { waitMs, statementMs } = settings
  // Workers share the connections to a database server.
  const pool = Math.max(1, Math.floor(settings.pool / shares))
  const opened = starting.use(await openStoreReader(settings, { pool, waitMs, statementMs }))
  const log = await createLog(settings, stdout)
  const { logger } = log
  const metrics = settings.metricsPort !== undefined ? await loadMetrics(opened, log) : undefined
  const store = metrics === undefined ? opened : timeStore(opened, metrics)
  const limits = isWorker
    ? limitsOfPrimary(settings, primary)
    : await createLimits(settings, store.storeId, logger)
  starting.defer(limits.close)
  const metering = startMetering(settings, store.storeId, logger, now)
  starting.defer(() => metering?.close())
  const app = buildApp({
    store,
    resources,
    logger,
    metrics,
    countUse: metering?.count,
    readUses: metering?.readUses,
    authenticate: createAuthenticate(store, now, limits.throttle),
    limitRate: createLimit(settings.defaultRate, limits.counter),
    ...boundsOfApp(settings, shares, logger),
  })
  starting.defer(() => app.close())
  warnOfExports(settings, log)
  const url = await app.listen(listenOptions(settings, environment)).catch((error: unknown) => {
    throw explainListenError(error, settings)
  })
  const listener =
    metrics && !isWorker ? await listenForMetrics(settings, metrics.registry, logger) : undefined
  starting.defer(() => listener?.close())
  const running = starting.move()
  return {
    logger,
    /** Its address, such as `http://127.0.0.1:8080`. */
    url,
    /** That of its metrics; undefined without a listener for them. */
    metricsUrl: listener?.url,
    /** Undefined if metrics are off. */
    metrics,
    async untilStopped(signal: AbortSignal): Promise<void> {
      if (!signal.aborted) await once(signal, 'abort')
      logger.info({ signal: String(signal.reason) }, 'stopping')
      await stopServing(app, settings.stopSeconds * 1_000)
      await running.disposeAsync()
      logger.info('stopped')
    },
  }
}

/** Loads the code for metrics only if metrics are on. */
async function loadMetrics(store: StoreReader, log: Log): Promise<Metrics> {
  const { createMetrics } = await import('../http/metrics.ts')
  return createMetrics({
    resources,
    version: programVersion(),
    lastImports: async () => store.lastImports(),
    viewCounts: () => store.viewCounts(),
    droppedLines: log.dropped,
  })
}

/** What follows from the settings alone. */
function boundsOfApp(settings: Settings, shares: number, logger: Logger) {
  const share = (whole: number) => Math.ceil(whole / shares)
  const { requestsMax, delayMsMax, connectionsMax } = settings
  return {
    cacheBytesMax: Math.floor((settings.cacheMib * 1_048_576) / shares),
    load: createLoad({ requestsMax: share(requestsMax), delayMsMax }, logger),
    limits: { connectionsMax: share(connectionsMax) },
    isExplorerOn: settings.explorer,
    exportsFolder: settings.exports,
    corsOrigins: settings.corsOrigin,
    trustedProxies: settings.trustProxy,
  }
}

/** The folder of copies may be made later, or be misspelt. */
function warnOfExports({ exports }: Settings, { logger }: Log): void {
  if (exports === undefined || existsSync(exports)) return
  const until = 'no copies are offered until dossier export makes it'
  logger.warn({ exports }, `the folder of --exports does not exist: ${until}`)
}
