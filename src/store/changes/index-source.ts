// Reads indexes of segments for comparisons: those of many short listings by one statement, those
// of a long one as they are needed.

import { after, type Awaitable } from '../awaitable.ts'
import type { DirectoryEntry } from '../listing/directory.ts'
import { inBatches } from '../listing/in-batches.ts'
import { keysOf } from '../listing/open-listings.ts'
import { createPace } from '../serving/pace.ts'
import { decodeEntries, digestBytes, type SegmentIndex } from '../listing/segment.ts'
import type { ListingShape } from '../listing/shape.ts'
import type { ListingLookups, SegmentKey, SegmentRow } from '../listing/tables.ts'

/** Segments of a listing, in its order. */
export interface Leaves {
  readonly companyId: number
  readonly leaves: readonly DirectoryEntry[]
}

/** Segments whose indexes are wanted, and segments whose texts are wanted, too. */
export interface WantedSegments {
  readonly indexes: readonly SegmentKey[]
  readonly both: readonly SegmentKey[]
}

export type IndexSource = ReturnType<typeof createIndexSource>

export function createIndexSource(tables: Pick<ListingLookups, 'segments'>, shape: ListingShape) {
  const kept = new Map<number, Pick<SegmentRow, 'entries' | 'texts'>>()
  const pace = createPace()
  const decode = (entries: Uint8Array) => decodeEntries(shape, entries, { ids: true, sorts: true })
  const readRows = async ({ companyId, leaves }: Leaves) => {
    const rows = await tables.segments(keysOf(companyId, leaves), 'entries')
    return rows.map(({ entries }) => decode(entries))
  }
  return {
    shape,
    /** Reads indexes that will be asked for, some with texts, and forgets those read before. */
    async prefetch({ indexes, both }: WantedSegments): Promise<void> {
      await pace()
      kept.clear()
      for (const row of await tables.segments(indexes, 'entries')) kept.set(row.segment, row)
      for (const row of await tables.segments(both, 'unchecked')) kept.set(row.segment, row)
    },
    /** The texts of a segment, if they were read. */
    textsOf: (segment: number) => kept.get(segment)?.texts ?? undefined,
    /** Ids, order values, lengths and digests of segments. */
    read: (asked: Leaves): Awaitable<readonly SegmentIndex[]> =>
      after(pace(), () => {
        const found: SegmentIndex[] = []
        for (const { segment } of asked.leaves) {
          const row = kept.get(segment)
          if (row === undefined) return readRows(asked)
          found.push(decode(row.entries))
        }
        return found
      }),
  }
}

const segmentsAtOnce = 64

/** The ids of the wanted records that segments have, with their digests as texts. */
export async function collectIds(
  source: IndexSource,
  { companyId, leaves }: Leaves,
  wanted: { has(id: number): boolean },
): Promise<Map<number, string>> {
  const found = new Map<number, string>()
  for (const some of inBatches(leaves, segmentsAtOnce)) {
    for (const { count, ids, digests } of await source.read({ companyId, leaves: some })) {
      for (let n = 0; n < count; n++) {
        const id = ids[n] ?? 0
        if (!wanted.has(id)) continue
        found.set(id, digests.toString('latin1', n * digestBytes, (n + 1) * digestBytes))
      }
    }
  }
  return found
}
