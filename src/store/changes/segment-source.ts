// Reads segments for comparisons: those of many short listings by one statement, those of a long
// one as they are needed.

import { createPace } from '../listing/pace.ts'
import type { ListingLookups, SegmentKey, SegmentRow } from '../listing/tables.ts'

/** How much of segments is read. */
export type SegmentParts = 'entries' | 'both'

export interface SegmentSource {
  /** Reads segments that will be asked for; what was read before is forgotten. */
  prefetch(keys: readonly SegmentKey[], what: SegmentParts): Promise<void>
  /** Forgets what was read. */
  forget(): void
  read(keys: readonly SegmentKey[], what: SegmentParts): Promise<readonly SegmentRow[]>
}

export function createSegmentSource(tables: Pick<ListingLookups, 'segments'>): SegmentSource {
  const kept = new Map<number, SegmentRow>()
  const pace = createPace()
  const find = ({ segment }: SegmentKey, what: SegmentParts) => {
    const row = kept.get(segment)
    return what === 'both' && row?.texts === null ? undefined : row
  }
  return {
    async prefetch(keys, what) {
      await pace()
      for (const row of await tables.segments(keys, what)) kept.set(row.segment, row)
    },
    forget: () => kept.clear(),
    async read(keys, what) {
      await pace()
      const missing = keys.filter((key) => find(key, what) === undefined)
      const rows = missing.length === 0 ? [] : await tables.segments(missing, what)
      const read = new Map(rows.map((row) => [row.segment, row]))
      return keys.flatMap((key) => read.get(key.segment) ?? find(key, what) ?? [])
    },
  }
}
