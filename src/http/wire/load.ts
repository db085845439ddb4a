// Measures the load. Under overload, new requests are refused immediately, so that those under way
// are answered in time.

import type { Logger } from 'pino'

/** The limits of all connections together. */
export interface LoadLimits {
  /** Requests whose responses are being made or sent; requests that wait for those do not count. */
  readonly requestsMax: number
  /** The allowed delay of the event loop in milliseconds, as a moving average. */
  readonly delayMsMax: number
}

/** How often the delay of the event loop is sampled. */
const sampleMs = 100
/**
 * The weight of the last sample in the moving average, and its cap in multiples of the allowed
 * delay: a single pause, however long, does not count as overload, nor do two in a row.
 */
const lastWeight = 0.25
const countedMax = 2
/** At most one warning is logged in this time. */
const warnMs = 1_000

export type Load = ReturnType<typeof createLoad>

/** Counts the requests under way, and decides when there are too many. */
export function createLoad({ requestsMax, delayMsMax }: LoadLimits, logger: Logger) {
  let underWay = 0
  let delayMs = 0
  let dueAt = performance.now() + sampleMs
  const timer = setInterval(() => {
    const now = performance.now()
    const lateMs = Math.min(Math.max(0, now - dueAt), countedMax * delayMsMax)
    delayMs += lastWeight * (lateMs - delayMs)
    dueAt = now + sampleMs
  }, sampleMs).unref()
  const refused = new Map<string, number>()
  let warning: NodeJS.Timeout | undefined

  /** Logs what has been refused, and again in a second if there is more by then. */
  function warnNow(): void {
    warning = undefined
    if (refused.size === 0) return
    const reasons = Object.fromEntries(refused)
    refused.clear()
    const state = { requests: underWay, delay_ms: Math.round(delayMs) }
    logger.warn({ refused: reasons, ...state }, 'overloaded')
    warning = setTimeout(warnNow, warnMs).unref()
  }

  return {
    begin(): void {
      underWay += 1
    },
    end(): void {
      underWay -= 1
    },
    /** Why a request has to be refused now; undefined if it can be accepted. */
    excess(): 'requests' | 'delay' | undefined {
      if (underWay > requestsMax) return 'requests'
      return delayMs > delayMsMax ? 'delay' : undefined
    },
    /** Counts a refusal, for one line a second. */
    warn(reason: string): void {
      refused.set(reason, (refused.get(reason) ?? 0) + 1)
      // The first line covers all refusals of this turn.
      warning ??= setTimeout(warnNow, 0)
    },
    close(): void {
      clearInterval(timer)
      clearTimeout(warning)
      warnNow()
      clearTimeout(warning)
    },
  }
}
