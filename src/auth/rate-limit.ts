// The rate limits of keys: `quota` requests in a window that starts with the first of them; the
// next request after its end starts another. The headers follow the IETF draft
// (draft-ietf-httpapi-ratelimit-headers).

import { after, type Awaitable } from '../store/awaitable.ts'
import type { KeyRecord } from '../store/keys.ts'
import { parseRate, type Rate } from '../config/rate.ts'
import type { Counted, Counter } from './counter.ts'

export type LimitRate = ReturnType<typeof createLimit>

/** @param defaultRate is for keys without a rate of their own; undefined for no limit. */
export function createLimit(defaultRate: Rate | undefined, counter: Counter) {
  /** Counts a request of a key; undefined if the key has no limit. */
  return ({ id, rate: own }: KeyRecord): Awaitable<RateVerdict | undefined> => {
    // `none` does not parse as a rate, so that it is no limit.
    const rate = own === undefined ? defaultRate : parseRate(own)
    return rate && after(counter(id, rate), (counted) => verdictOf(rate, counted))
  }
}

export type RateVerdict = Readonly<ReturnType<typeof verdictOf>>

/** Whether a request is within the rate limit of its key, and what is left of the limit. */
function verdictOf({ quota, seconds }: Rate, { count, leftMs }: Counted) {
  return {
    isWithin: count <= quota,
    /** The value of RateLimit-Policy. */
    policy: `"default";q=${quota};w=${seconds}`,
    quota,
    windowSeconds: seconds,
    remaining: Math.max(0, quota - count),
    /** When the window ends, rounded up. */
    resetSeconds: Math.ceil(leftMs / 1_000),
  }
}
