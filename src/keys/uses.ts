// Counts the uses of keys in memory, until somebody takes the counts to write them.

import type { KeyUse } from '../store/usage.ts'

/** How many counts are held, of a key and an hour each: some 100 bytes. Beyond it none is begun. */
export const usesMax = 100_000
const hourMs = 3_600_000

interface Uses {
  /** Counts a request of a key. */
  readonly count: (keyId: number) => void
  /** Adds what was counted elsewhere, or was taken and could not be written. */
  add(uses: readonly KeyUse[]): void
  /** Gives everything that has been counted, and forgets it. */
  take(): readonly KeyUse[]
}

interface Count {
  readonly keyId: number
  readonly hour: number
  requests: number
  lastUsedAt: number
}

/** @param now gives milliseconds since 1970. */
export function createUses(now: () => number): Uses {
  /** The counts of a key by the hour; nearly always there is one. */
  let counts = new Map<number, Count[]>()
  let size = 0

  function countOf(keyId: number, hour: number): Count | undefined {
    const hours = counts.get(keyId)
    const found = hours?.find((count) => count.hour === hour)
    if (found !== undefined || size >= usesMax) return found
    const begun = { keyId, hour, requests: 0, lastUsedAt: 0 }
    if (hours === undefined) counts.set(keyId, [begun])
    else hours.unshift(begun)
    size += 1
    return begun
  }

  return {
    count(keyId) {
      const at = now()
      const count = countOf(keyId, Math.floor(at / hourMs))
      if (count === undefined) return
      count.requests += 1
      count.lastUsedAt = at
    },
    add(uses) {
      for (const { keyId, hour, requests, lastUsedAt } of uses) {
        const count = countOf(keyId, hour)
        if (count === undefined) continue
        count.requests += requests
        count.lastUsedAt = Math.max(count.lastUsedAt, lastUsedAt)
      }
    },
    take() {
      const taken = [...counts.values()].flat()
      counts = new Map()
      size = 0
      return taken
    },
  }
}
