// How much is under way, and when it is too much: then requests are refused at once, so that those
// that are under way are answered in time.

import type { Logger } from 'pino'

/** What the server puts up with from all connections together. */
export interface LoadLimits {
  /** Requests whose answers are being made or sent; those that wait for others do not count. */
  readonly requestsMax: number
  /** How late the event loop may be, in milliseconds, as a mean of the last moments. */
  readonly delayMsMax: number
}

/** The limits that a server has unless it is given others. */
export const loadLimits: LoadLimits = {
  requestsMax: 2_000,
  delayMsMax: 500,
}

/** How often it is looked how late the event loop is. */
const sampleMs = 100
/**
 * How much the last look counts, against all before it, and how many times the most it counts at
 * all: a single pause, however long, is no load; two in a row are none either.
 */
const lastWeight = 0.25
const countedMax = 2
/** A warning stands for all that follows, until so long nothing has been refused. */
const calmMs = 10_000

/** What is under way: what the HTTP server and the application ask of it. */
interface Load {
  begin(): void
  end(): void
  /** Why a request cannot be taken on now; undefined where it can. */
  excess(): 'requests' | 'delay' | undefined
  /** Warns that something is refused, once for many. */
  warn(reason: string): void
  close(): void
}

export function createLoad({ requestsMax, delayMsMax }: LoadLimits, logger: Logger): Load {
  let underWay = 0
  let delayMs = 0
  let dueAt = performance.now() + sampleMs
  let warnedUntil = 0
  const timer = setInterval(() => {
    const now = performance.now()
    const lateMs = Math.min(Math.max(0, now - dueAt), countedMax * delayMsMax)
    delayMs += lastWeight * (lateMs - delayMs)
    dueAt = now + sampleMs
  }, sampleMs).unref()
  return {
    begin() {
      underWay += 1
    },
    end() {
      underWay -= 1
    },
    excess() {
      if (underWay > requestsMax) return 'requests'
      return delayMs > delayMsMax ? 'delay' : undefined
    },
    warn(reason) {
      const now = performance.now()
      if (now > warnedUntil) {
        logger.warn({ reason, requests: underWay, delay_ms: Math.round(delayMs) }, 'overloaded')
      }
      warnedUntil = now + calmMs
    },
    close: () => clearInterval(timer),
  }
}
