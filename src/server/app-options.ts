// Turns settings into the options of the application, with keys and limits wired in.

import type { Logger } from 'pino'
import type { Settings } from '../config/settings.ts'
import type { AppOptions } from '../http/app.ts'
import { createAuthenticate } from '../auth/authenticate.ts'
import { type Counter, createCounter } from '../auth/counter.ts'
import { createLoad } from '../http/wire/load.ts'
import { createLimit } from '../auth/rate-limit.ts'
import { type Ask, askCounter, askThrottle } from '../auth/limits-over-ipc.ts'
import type { SharedWindows } from '../auth/redis-counter.ts'
import { createThrottle, type Throttle } from '../auth/throttle.ts'
import type { StoreReader } from '../store/reading.ts'

const clock = () => performance.now()

/** Counts per key and per address, shared by all processes of a server. */
interface Limits {
  readonly counter: Counter
  readonly throttle: Throttle | undefined
  readonly close: () => Promise<void>
}

/** Keeps the counts in this process; with a Redis, those of keys are shared between servers. */
export async function createLimits(
  settings: Settings,
  storeId: string,
  logger: Logger,
): Promise<Limits> {
  const shared = await connectRedis(settings, storeId, logger)
  return {
    counter: createCounter(clock, shared?.count),
    throttle: settings.badKeyRate && createThrottle(settings.badKeyRate, clock),
    close: async () => shared?.close(),
  }
}

/** Keeps the counts in the primary, which answers with `answerLimits`. */
export function limitsOfPrimary(settings: Settings, ask: Ask): Limits {
  return {
    counter: createCounter(clock, askCounter(ask)),
    throttle: settings.badKeyRate && askThrottle(ask),
    close: () => Promise.resolve(),
  }
}

/** What the options of an application need in addition to the settings. */
interface ReadyContext {
  readonly limits: Limits
  /** The number of processes that share the limits of a server. */
  readonly shares: number
  readonly logger: Logger
}

/** The options of an application that follow from the settings. */
type ReadyOptions = Pick<
  AppOptions,
  | 'authenticate'
  | 'limitRate'
  | 'load'
  | 'corsOrigins'
  | 'trustedProxies'
  | 'cacheBytesMax'
  | 'limits'
  | 'isExplorerOn'
  | 'exportsFolder'
>

/**
 * Creates the options of an application.
 *
 * @param now returns milliseconds since 1970.
 */
export function readyOptions(
  settings: Settings,
  store: StoreReader,
  now: () => number,
  { limits, shares, logger }: ReadyContext,
): ReadyOptions {
  const share = (whole: number) => Math.ceil(whole / shares)
  const { counter, throttle } = limits
  const { corsOrigin: corsOrigins, trustProxy: trustedProxies } = settings
  return {
    authenticate: createAuthenticate(store, now, throttle),
    limitRate: createLimit(settings.defaultRate, counter),
    cacheBytesMax: Math.floor((settings.cacheMib * 1_048_576) / shares),
    load: createLoad(
      { requestsMax: share(settings.requestsMax), delayMsMax: settings.delayMsMax },
      logger,
    ),
    limits: { connectionsMax: share(settings.connectionsMax) },
    isExplorerOn: settings.explorer,
    exportsFolder: settings.exports,
    ...(corsOrigins.length > 0 ? { corsOrigins } : {}),
    ...(trustedProxies.length > 0 ? { trustedProxies } : {}),
  }
}

/** Connects to Redis, if set; servers on one store, or on copies of it, share their counts. */
async function connectRedis(
  { redisUrl }: Settings,
  storeId: string,
  logger: Logger,
): Promise<SharedWindows | undefined> {
  if (redisUrl === undefined) return undefined
  const { connectSharedWindows } = await import('../auth/redis-counter.ts')
  return connectSharedWindows(redisUrl, `dossier:${storeId}:rate:`, {
    onAway: (reason) =>
      logger.warn({ reason }, 'Redis is unreachable; this server counts rates on its own'),
    onBack: () => logger.info('Redis is reachable; rates are shared'),
  })
}
