// How many records of a listing have which value of a filter (contract 8.4), for filters of few
// values. Counts are made once for each state of a listing, and kept within a number of bytes.

import { LRUCache } from 'lru-cache'
import { createSharedWork } from './shared-work.ts'

/** Up to this many values of a filter are counted; with more, it is left out. */
export const countedValuesMax = 50
/** The length of a counted value, in characters; a filter with a longer one is left out. */
export const countedLengthMax = 1_024

/** A value, null included, and the number of records that have it. */
export type ValueCount = readonly [value: string | null, count: number]

/** The counts of each filter that has few values, by field: most first, then by code point. */
export type ListingCounts = Readonly<Record<string, readonly ValueCount[]>>

/** Counts values one after another, until they are too many. */
export function createCounter() {
  const counts = new Map<string | null, number>()
  let isOver = false
  return {
    add(value: string | null, count = 1): void {
      const known = counts.get(value)
      if (known !== undefined) counts.set(value, known + count)
      else if (counts.size === countedValuesMax || isTooLong(value)) isOver = true
      else counts.set(value, count)
    },
    isOver: () => isOver,
    /** Most first, then by code point, null last; undefined if the values are too many. */
    counts: (): readonly ValueCount[] | undefined =>
      isOver ? undefined : [...counts].sort(byCount),
  }
}

function isTooLong(value: string | null): boolean {
  if (value === null || value.length <= countedLengthMax) return false
  return Array.from(value).length > countedLengthMax
}

function byCount([a, countOfA]: ValueCount, [b, countOfB]: ValueCount): number {
  if (countOfA !== countOfB) return countOfB - countOfA
  if (a === null || b === null) return Number(a === null) - Number(b === null)
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}

/** The bytes of counts that a reader keeps. */
export const countBytesUsual = 4 * 1_048_576

/** Counts by a key that names one state of a listing, so that they are never stale. */
export interface KeptCounts {
  get(key: string): ListingCounts | undefined
  /**
   * Counts a long listing, and keeps the counts; those who ask for it meanwhile get the same.
   *
   * @throws Error if too many are being counted.
   */
  share(key: string, count: () => Promise<ListingCounts>): Promise<ListingCounts>
}

/** @param bytesMax bounds the counts that are kept. */
export function createKeptCounts(bytesMax = countBytesUsual): KeptCounts {
  const kept = new LRUCache<string, ListingCounts>({ maxSize: bytesMax, sizeCalculation: sizeOf })
  const counting = createSharedWork<ListingCounts>('too many long listings are being counted')
  return {
    get: (key) => kept.get(key),
    share: (key, count) =>
      counting.run(key, async () => {
        const counts = await count()
        kept.set(key, counts)
        return counts
      }),
  }
}

/** The memory of counts, in bytes; a generous estimate. */
function sizeOf(counts: ListingCounts): number {
  let bytes = 512
  for (const values of Object.values(counts)) {
    for (const [value] of values) bytes += 64 + 2 * (value?.length ?? 0)
  }
  return bytes
}
