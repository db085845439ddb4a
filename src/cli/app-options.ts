// From settings to what the application asks of the layers beside it.

import type { Logger } from 'pino'
import { listOf, type Settings } from '../config.ts'
import type { AppOptions } from '../http/app.ts'
import { createAuthenticate } from '../keys/authenticate.ts'
import { createLimit } from '../keys/limit.ts'
import type { SharedWindows } from '../keys/shared-windows.ts'
import { createThrottle, type Throttle } from '../keys/throttle.ts'
import { parseRate } from '../rate.ts'
import type { StoreReader } from '../store/store.ts'

const clock = () => performance.now()

/** What the settings say of the application, and what has to be closed after it. */
export interface ReadyOptions {
  readonly options: Pick<
    AppOptions,
    'authenticate' | 'limitRate' | 'corsOrigins' | 'trustedProxies' | 'cacheBytesMax' | 'limits'
  >
  readonly close: () => Promise<void>
}

/** @param now gives milliseconds since 1970. */
export async function readyOptions(
  settings: Settings,
  store: StoreReader,
  now: () => number,
  logger: Logger,
): Promise<ReadyOptions> {
  const corsOrigins = listOf(settings.corsOrigin)
  const trustedProxies = listOf(settings.trustProxy)
  const shared = await connectRedis(settings, store, logger)
  return {
    options: {
      authenticate: createAuthenticate(store, now, throttleOf(settings)),
      limitRate: createLimit(settings.defaultRate, clock, shared),
      cacheBytesMax: Number(settings.cacheMib) * 1_048_576,
      limits: {
        connectionsMax: Number(settings.connectionsMax),
        requestsMax: Number(settings.requestsMax),
        delayMsMax: Number(settings.delayMsMax),
      },
      ...(corsOrigins.length > 0 ? { corsOrigins } : {}),
      ...(trustedProxies.length > 0 ? { trustedProxies } : {}),
    },
    close: async () => shared?.close(),
  }
}

function throttleOf({ badKeyRate }: Settings): Throttle | undefined {
  const rate = parseRate(badKeyRate)
  return rate && createThrottle(rate, clock)
}

/** Servers on one store, or on copies of it, share their counts. */
async function connectRedis(
  { redisUrl }: Settings,
  { storeId }: StoreReader,
  logger: Logger,
): Promise<SharedWindows | undefined> {
  if (redisUrl === 'none') return undefined
  const { connectSharedWindows } = await import('../keys/shared-windows.ts')
  return connectSharedWindows(redisUrl, `dossier:${storeId}:rate:`, {
    onAway: (reason) => logger.warn({ reason }, 'Redis is away: this server counts on its own'),
    onBack: () => logger.info('Redis is there: rates are shared'),
  })
}
