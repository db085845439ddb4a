// The rates of keys and the throttle of addresses, whose counts all processes of a server share.

import type { Logger } from 'pino'
import { createCounter } from '../auth/counter.ts'
import { type Ask, askCounter, askThrottle } from '../auth/limits-over-ipc.ts'
import { createThrottle } from '../auth/throttle.ts'
import type { Settings } from '../config/settings.ts'

const clock = () => performance.now()

/**
 * Keeps the counts in this process. With a Redis, those of keys are shared between servers on one
 * store, or on copies of it.
 */
export async function createLimits(settings: Settings, storeId: string, logger: Logger) {
  const { redisUrl, badKeyRate } = settings
  const prefix = `dossier:${storeId}:rate:`
  // Loads the code for Redis only if it is set.
  const connect = async (url: string) => {
    const { connectSharedWindows } = await import('../auth/redis-counter.ts')
    return connectSharedWindows(url, prefix, logger)
  }
  const shared = redisUrl === undefined ? undefined : await connect(redisUrl)
  return {
    counter: createCounter(clock, shared?.count),
    throttle: badKeyRate && createThrottle(badKeyRate, clock),
    close: () => shared?.close(),
  }
}

/** Keeps the counts in the primary, which answers with `answerLimits`. */
export function limitsOfPrimary(settings: Settings, ask: Ask) {
  return {
    counter: createCounter(clock, askCounter(ask)),
    throttle: settings.badKeyRate && askThrottle(ask),
    close: () => undefined,
  }
}
