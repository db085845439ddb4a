// Reads indexes of segments for comparisons: those of many short listings by one statement, those
// of a long one as they are needed.

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

/** The index of a segment, with the texts if these were asked for. */
export interface ReadSegment extends SegmentIndex {
  readonly texts: Uint8Array | null
}

export function createIndexSource(tables: Pick<ListingLookups, 'segments'>, shape: ListingShape) {
  const kept = new Map<number, SegmentRow>()
  const pace = createPace()
  const wanted = { ids: true, sorts: true }
  return {
    shape,
    /** Reads segments that will be asked for, and forgets those read before. */
    async prefetch({ indexes, both }: WantedSegments): Promise<void> {
      await pace()
      kept.clear()
      for (const row of await tables.segments(indexes, 'entries')) kept.set(row.segment, row)
      for (const row of await tables.segments(both, 'both')) kept.set(row.segment, row)
    },
    /** Ids, order values, lengths and digests of segments, and texts. */
    async read(
      { companyId, leaves }: Leaves,
      what: 'entries' | 'both' = 'entries',
    ): Promise<readonly ReadSegment[]> {
      await pace()
      const known = leaves.flatMap(({ segment }) => kept.get(segment) ?? [])
      const isKnown = ({ texts }: SegmentRow) => what === 'entries' || texts !== null
      const areKnown = known.length === leaves.length && known.every(isKnown)
      const rows = areKnown ? known : await tables.segments(keysOf(companyId, leaves), what)
      return rows.map(({ entries, texts }) => ({ ...decodeEntries(shape, entries, wanted), texts }))
    },
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
