// The rate limits of keys: `quota` requests in a window that starts with the first of them; the
// next request after its end starts another. The headers follow the IETF draft
// (draft-ietf-httpapi-ratelimit-headers).

import { LRUCache } from 'lru-cache'
import { after, type Awaitable } from '../store/awaitable.ts'
import type { KeyRecord } from '../store/keys.ts'
import { parseRate, type Rate, type RateVerdict } from '../config/rate.ts'
import type { Counted, Counter } from './counter.ts'

/** How many different rates are cached in parsed form. */
const policiesMax = 1_000

/** Counts a request of a key; undefined if the key has no limit. */
export type LimitRate = (key: KeyRecord) => Awaitable<RateVerdict | undefined>

/** A rate, and its RateLimit-Policy header. */
interface Policy {
  readonly rate: Rate
  readonly text: string
}

/** @param defaultRate is for keys without a rate of their own; undefined for no limit. */
export function createLimit(defaultRate: Rate | undefined, counter: Counter): LimitRate {
  const defaultPolicy = defaultRate && makePolicy(defaultRate)
  const policies = new LRUCache<string, Policy>({ max: policiesMax })

  function policyOf(text: string): Policy | undefined {
    const known = policies.get(text)
    if (known !== undefined) return known
    const rate = parseRate(text)
    if (rate === undefined) return undefined
    const policy = makePolicy(rate)
    policies.set(text, policy)
    return policy
  }

  const judge = (id: number, policy: Policy) =>
    after(counter(id, policy.rate), (counted) => verdictOf(policy, counted))

  return ({ id, rate: own }) => {
    // `none` does not parse as a rate, so it has no policy.
    const policy = own === undefined ? defaultPolicy : policyOf(own)
    return policy && judge(id, policy)
  }
}

function makePolicy(rate: Rate): Policy {
  return { rate, text: `"default";q=${rate.quota};w=${rate.seconds}` }
}

function verdictOf({ rate, text }: Policy, { count, leftMs }: Counted): RateVerdict {
  return {
    isWithin: count <= rate.quota,
    policy: text,
    quota: rate.quota,
    windowSeconds: rate.seconds,
    remaining: Math.max(0, rate.quota - count),
    resetSeconds: Math.ceil(leftMs / 1_000),
  }
}
