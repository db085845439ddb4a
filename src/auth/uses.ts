// Counts the uses of keys in memory until the counts are taken to be written.

import { hourOf, type KeyUse } from '../store/keys.ts'

/** The maximum number of counts, one per key and hour, of about 100 bytes; no more are started. */
export const usesMax = 100_000

export type Uses = ReturnType<typeof createUses>

interface Count {
  readonly keyId: number
  readonly hour: number
  requests: number
  lastUsedAt: number
}

/** @param now returns milliseconds since 1970. */
export function createUses(now: () => number) {
  /** The counts of each key, one per hour; nearly always just one. */
  let counts = new Map<number, Count[]>()
  let size = 0

  function countOf(keyId: number, hour: number): Count | undefined {
    const hours = counts.get(keyId)
    const found = hours?.find((count) => count.hour === hour)
    if (found !== undefined || size >= usesMax) return found
    const created = { keyId, hour, requests: 0, lastUsedAt: 0 }
    if (hours === undefined) counts.set(keyId, [created])
    else hours.unshift(created)
    size += 1
    return created
  }

  return {
    /** Counts a request of a key. */
    count: (keyId: number): void => {
      const at = now()
      const count = countOf(keyId, hourOf(at))
      if (count === undefined) return
      count.requests += 1
      count.lastUsedAt = at
    },
    /** The counts of a key that have not been taken. */
    ofKey: (keyId: number): readonly KeyUse[] => counts.get(keyId) ?? [],
    /** Adds counts that could not be written. */
    add(uses: readonly KeyUse[]): void {
      for (const { keyId, hour, requests, lastUsedAt } of uses) {
        const count = countOf(keyId, hour)
        if (count === undefined) continue
        count.requests += requests
        count.lastUsedAt = Math.max(count.lastUsedAt, lastUsedAt)
      }
    },
    /** Returns all counts, and clears them. */
    take(): readonly KeyUse[] {
      const taken = [...counts.values()].flat()
      counts = new Map()
      size = 0
      return taken
    },
  }
}
