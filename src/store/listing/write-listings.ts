// Writes new states of listings: their segments, the nodes of their directories, and their heads.

import { buildDirectory, type KnownNode, openDirectory, totalsOf } from './directory.ts'
import { createWindow, type PutReader, recordsAtOnce } from './merge-window.ts'
import { metaText } from './meta.ts'
import type { OpenListing } from './open-listings.ts'
import type { SegmentIndex } from './segment.ts'
import type { ListingShape } from './shape.ts'
import type { HeadRow, ListingTables, SegmentRow } from './tables.ts'

/** How many segments of a listing are read at once. */
export const segmentsAtOnce = 300
/** Segments are written when there are so many bytes of them. */
const bytesAtOnce = 4_194_304

/** Where listings are written, and as which version. */
export interface MergeContext {
  readonly tables: ListingTables
  readonly version: number
  readonly numbers: SegmentNumbers
}

/** Numbers new segments. */
export interface SegmentNumbers {
  readonly next: () => number
  /** Keeps the last number in the registry. */
  readonly note: () => Promise<void>
}

export async function numberSegments(tables: ListingTables): Promise<SegmentNumbers> {
  let last = await tables.lastSegment()
  return {
    next: () => (last += 1),
    note: async () => {
      await tables.noteLastSegment(last)
    },
  }
}

export type Output = ReturnType<typeof createOutput>

/** Collects what is written. */
export function createOutput({ tables }: MergeContext, listing: string) {
  let segments: SegmentRow[] = []
  let heads: HeadRow[] = []
  let bytes = 0
  return {
    addSegment(row: SegmentRow): void {
      segments.push(row)
      bytes += row.entries.length + (row.texts?.length ?? 0)
    },
    addHead: (row: HeadRow) => void heads.push(row),
    isFull: () => bytes > bytesAtOnce,
    async flush(): Promise<void> {
      await tables.putSegments(segments)
      await tables.putHeads(listing, heads)
      segments = []
      heads = []
      bytes = 0
    },
  }
}

export interface CompanyMerge {
  readonly company: number
  readonly listing: OpenListing | undefined
  /** Those of its segments, if they have been read. */
  readonly indexes: readonly SegmentIndex[] | undefined
  readonly puts: PutReader
}

/** What changes in a listing. */
export interface ListingMerge extends CompanyMerge {
  /** The ids of the records that it loses or replaces. */
  readonly gone: ReadonlySet<number>
  /** How many of its other records have each type. */
  readonly types: Map<string, number>
}

/** Merges what is put into a listing, and makes its new head. */
export async function mergeListing(
  context: MergeContext,
  shape: ListingShape,
  { company, listing, indexes, puts, gone, types }: ListingMerge,
  out: Output,
): Promise<void> {
  const window = createWindow(context, shape, { company, gone, types }, out)
  const leaves = listing?.leaves ?? []
  for (let at = 0; at < leaves.length; at += segmentsAtOnce) {
    const some = leaves.slice(at, at + segmentsAtOnce)
    const own = indexes ?? (await window.read(some))
    const following = leaves[at + segmentsAtOnce]
    const [next] = following === undefined ? [] : await window.read([following])
    await window.merge(some, own, puts, next)
  }
  // What comes after all that there was, or the first records of a listing.
  for (;;) {
    const more = await puts.take(undefined, recordsAtOnce)
    if (more.length === 0) break
    await window.merge([], [], { take: () => more.splice(0) }, undefined)
    if (out.isFull()) await out.flush()
  }
  const { directory, nodes } = buildDirectory(
    window.entries,
    listing === undefined ? [] : await knownNodes(context, listing),
    context.numbers.next,
  )
  for (const { segment, entries } of nodes) {
    out.addSegment({ companyId: company, segment, entries, texts: null })
  }
  const { total, largest } = totalsOf(window.entries)
  const meta = shape.metaColumn === undefined ? null : metaText(types)
  out.addHead({ companyId: company, version: context.version, total, meta, largest, directory })
}

async function knownNodes(
  { tables }: MergeContext,
  { head }: OpenListing,
): Promise<readonly KnownNode[]> {
  const readNodes = (nodes: readonly number[]) => tables.entries(head.companyId, nodes)
  return (await openDirectory(head.directory, readNodes)).nodes
}
