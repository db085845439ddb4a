// The rates of keys and the throttle of addresses, whose counts all processes of a server share.

import type { Logger } from 'pino'
import { type Counter, createCounter } from '../auth/counter.ts'
import { type Ask, askCounter, askThrottle } from '../auth/limits-over-ipc.ts'
import { createThrottle, type Throttle } from '../auth/throttle.ts'
import type { Settings } from '../config/settings.ts'

const clock = () => performance.now()

/** Counts per key and per address. */
export interface Limits {
  readonly counter: Counter
  readonly throttle: Throttle | undefined
  readonly close: () => void
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
    close: () => shared?.close(),
  }
}

/** Keeps the counts in the primary, which answers with `answerLimits`. */
export function limitsOfPrimary(settings: Settings, ask: Ask): Limits {
  return {
    counter: createCounter(clock, askCounter(ask)),
    throttle: settings.badKeyRate && askThrottle(ask),
    close: () => undefined,
  }
}

/** Connects to Redis, if set; servers on one store, or on copies of it, share their counts. */
async function connectRedis({ redisUrl }: Settings, storeId: string, logger: Logger) {
  if (redisUrl === undefined) return undefined
  const { connectSharedWindows } = await import('../auth/redis-counter.ts')
  return connectSharedWindows(redisUrl, `dossier:${storeId}:rate:`, {
    onAway: (reason) =>
      logger.warn({ reason }, 'Redis is unreachable; this server counts rates on its own'),
    onBack: () => logger.info('Redis is reachable; rates are shared'),
  })
}
