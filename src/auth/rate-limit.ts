// The rate limits of keys: `quota` requests in a window that starts with the first of them; the
// next request after its end starts another. The headers follow the IETF draft
// (draft-ietf-httpapi-ratelimit-headers).

import { after, type Awaitable } from '../store/awaitable.ts'
import type { KeyRecord } from '../store/keys.ts'
import { parseRate, type Rate, type RateVerdict } from '../config/rate.ts'
import type { Counted, Counter } from './counter.ts'

/** Counts a request of a key; undefined if the key has no limit. */
export type LimitRate = (key: KeyRecord) => Awaitable<RateVerdict | undefined>

/** @param defaultRate is for keys without a rate of their own; undefined for no limit. */
export function createLimit(defaultRate: Rate | undefined, counter: Counter): LimitRate {
  return ({ id, rate: own }) => {
    // `none` does not parse as a rate, so that it is no limit.
    const rate = own === undefined ? defaultRate : parseRate(own)
    return rate && after(counter(id, rate), (counted) => verdictOf(rate, counted))
  }
}

function verdictOf({ quota, seconds }: Rate, { count, leftMs }: Counted): RateVerdict {
  return {
    isWithin: count <= quota,
    policy: `"default";q=${quota};w=${seconds}`,
    quota,
    windowSeconds: seconds,
    remaining: Math.max(0, quota - count),
    resetSeconds: Math.ceil(leftMs / 1_000),
  }
}
