// From settings to what the application asks of the layers beside it.

import type { Logger } from 'pino'
import { listOf, type Settings } from '../config.ts'
import type { AppOptions } from '../http/app.ts'
import { createAuthenticate } from '../keys/authenticate.ts'
import { type Counter, createCounter } from '../keys/counter.ts'
import { createLimit } from '../keys/limit.ts'
import { type Ask, askCounter, askThrottle } from '../keys/one-for-all.ts'
import type { SharedWindows } from '../keys/shared-windows.ts'
import { createThrottle, type Throttle } from '../keys/throttle.ts'
import { parseRate } from '../rate.ts'
import type { StoreReader } from '../store/reading.ts'

const clock = () => performance.now()

/** The counts of keys and of addresses, one for all processes of a server. */
interface Limits {
  readonly counter: Counter
  readonly throttle: Throttle | undefined
  readonly close: () => Promise<void>
}

/** Keeps the counts here, shared with other servers on one store where there is a Redis. */
export async function keepLimits(
  settings: Settings,
  storeId: string,
  logger: Logger,
): Promise<Limits> {
  const shared = await connectRedis(settings, storeId, logger)
  return {
    counter: createCounter(clock, shared?.count),
    throttle: throttleOf(settings),
    close: async () => shared?.close(),
  }
}

/** Asks another process, which keeps the counts and answers with `answerLimits`. */
export function borrowLimits(settings: Settings, ask: Ask): Limits {
  return {
    counter: createCounter(clock, askCounter(ask)),
    throttle: throttleOf(settings) && askThrottle(ask),
    close: () => Promise.resolve(),
  }
}

/** What the settings say of the application. */
type ReadyOptions = Pick<
  AppOptions,
  'authenticate' | 'limitRate' | 'corsOrigins' | 'trustedProxies' | 'cacheBytesMax' | 'limits'
>

/**
 * @param now gives milliseconds since 1970.
 * @param shares is among how many processes of a server its bounds are shared out.
 */
export function readyOptions(
  settings: Settings,
  store: StoreReader,
  now: () => number,
  { limits, shares }: { readonly limits: Limits; readonly shares: number },
): ReadyOptions {
  const share = (setting: string) => Math.ceil(Number(setting) / shares)
  const { counter, throttle } = limits
  const corsOrigins = listOf(settings.corsOrigin)
  const trustedProxies = listOf(settings.trustProxy)
  return {
    authenticate: createAuthenticate(store, now, throttle),
    limitRate: createLimit(settings.defaultRate, counter),
    cacheBytesMax: Math.floor((Number(settings.cacheMib) * 1_048_576) / shares),
    limits: {
      connectionsMax: share(settings.connectionsMax),
      requestsMax: share(settings.requestsMax),
      delayMsMax: Number(settings.delayMsMax),
    },
    ...(corsOrigins.length > 0 ? { corsOrigins } : {}),
    ...(trustedProxies.length > 0 ? { trustedProxies } : {}),
  }
}

function throttleOf({ badKeyRate }: Settings): Throttle | undefined {
  const rate = parseRate(badKeyRate)
  return rate && createThrottle(rate, clock)
}

/** Servers on one store, or on copies of it, share their counts. */
async function connectRedis(
  { redisUrl }: Settings,
  storeId: string,
  logger: Logger,
): Promise<SharedWindows | undefined> {
  if (redisUrl === 'none') return undefined
  const { connectSharedWindows } = await import('../keys/shared-windows.ts')
  return connectSharedWindows(redisUrl, `dossier:${storeId}:rate:`, {
    onAway: (reason) => logger.warn({ reason }, 'Redis is away: this server counts on its own'),
    onBack: () => logger.info('Redis is there: rates are shared'),
  })
}
