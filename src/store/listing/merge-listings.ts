// Merges listings with what is put into them. A long listing is merged in windows, so that neither
// its segments nor what an import puts into it have to be in memory as a whole.

import { OperatorError } from '../../config/operator-error.ts'
import { metaTypesMax } from '../../resources/resource.ts'
import { formatCount } from '../../text/format-count.ts'
import type { Awaitable } from '../awaitable.ts'
import { type DirectoryEntry, type KnownNode, openDirectory } from './directory.ts'
import { compareOrder, elementOf, planMerge } from './merge.ts'
import { keysOf, type OpenListing } from './open-listings.ts'
import { decodeEntries, type ListedRecord, type SegmentIndex } from './segment.ts'
import { addToCount, type ListingShape, metaOf, typesOf } from './shape.ts'
import type { MergeContext, Output } from './write-listings.ts'

/** How many segments of a listing are read at once. */
export const segmentsAtOnce = 300

/** What changes in a listing. */
interface ListingMerge {
  readonly company: number
  readonly listing: OpenListing | undefined
  /** Those of its segments, if they have been read. */
  readonly indexes: readonly SegmentIndex[] | undefined
  readonly puts: PutReader
  /** The ids of the records that it loses or replaces. */
  readonly gone: ReadonlySet<number>
  /** How many of its other records have each type. */
  readonly types: Map<string, number>
}

/**
 * Merges what is put into a listing, and makes its new head.
 *
 * @throws OperatorError where `meta` would have more types than it may (contract 3.7).
 */
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
  const known = listing === undefined ? [] : await knownNodes(context, listing)
  const meta = metaOf(shape, types)
  out.addListing({ companyId: company, meta, entries: window.entries, known })
}

function tooManyTypes({ listing }: ListingShape, company: number, type: string): OperatorError {
  return new OperatorError(
    `the ${listing} of company ${company} would have more than ${formatCount(metaTypesMax)} ` +
      `kinds, ${JSON.stringify(type)} among them; import fewer (recorded changes count, too)`,
  )
}

/** Makes a listing of all the records that it has from now on, which may be in any order. */
export function addWhole(
  shape: ListingShape,
  { company, records }: { readonly company: number; readonly records: ListedRecord[] },
  out: Output,
): void {
  const meta = metaOf(shape, typesOf(shape, records))
  records.sort((a, b) => compareOrder(shape, a, b))
  const plan = planMerge(shape, [], { puts: records, removed: new Set() })
  const entries: DirectoryEntry[] = []
  out.addPart({ company, plan, entries })
  out.addListing({ companyId: company, meta, entries, known: [] })
}

async function knownNodes(
  { tables }: MergeContext,
  { head }: OpenListing,
): Promise<readonly KnownNode[]> {
  const readNodes = (nodes: readonly number[]) => tables.entries(head.companyId, nodes)
  return (await openDirectory(head.directory, readNodes)).nodes
}

/** A place in the order of a listing. */
type OrderKey = Pick<ListedRecord, 'id' | 'sort'>

export interface PutReader {
  /** The next records before a place, at most so many. */
  take(before: OrderKey | undefined, most?: number): Awaitable<ListedRecord[]>
}

/** How many records are merged at once. */
const recordsAtOnce = 20_000

/** Merges a listing a window of consecutive segments at a time, in the listing's order. */
function createWindow(
  { tables }: MergeContext,
  shape: ListingShape,
  { company, gone, types }: Pick<ListingMerge, 'company' | 'gone' | 'types'>,
  out: Output,
) {
  const entries: DirectoryEntry[] = []

  function planPart(
    leaves: readonly DirectoryEntry[],
    indexes: readonly SegmentIndex[],
    records: readonly ListedRecord[],
  ): void {
    const old = leaves.map((entry, at) => ({ entry, index: elementOf(indexes, at) }))
    out.addPart({ company, entries, plan: planMerge(shape, old, { puts: records, removed: gone }) })
    for (const [type, count] of typesOf(shape, records)) {
      addToCount(types, type, count)
      if (types.size > metaTypesMax) throw tooManyTypes(shape, company, type)
    }
  }

  /** Puts the records before a place, most of them in segments of their own; returns the rest. */
  async function mergeBefore(puts: PutReader, first: OrderKey): Promise<ListedRecord[]> {
    for (;;) {
      const records = await puts.take(first, recordsAtOnce)
      if (records.length < recordsAtOnce) return records
      planPart([], [], records)
      if (out.isFull()) await out.flush()
    }
  }

  return {
    entries,
    async read(leaves: readonly DirectoryEntry[]): Promise<SegmentIndex[]> {
      const rows = await tables.segments(keysOf(company, leaves), 'entries')
      return rows.map((row) => decodeEntries(shape, row.entries))
    },
    /** @param next the segment after the window, if there is one. */
    async merge(
      leaves: readonly DirectoryEntry[],
      indexes: readonly SegmentIndex[],
      puts: PutReader,
      next: SegmentIndex | undefined,
    ): Promise<void> {
      const [first] = indexes
      if (first === undefined) return planPart([], [], await puts.take(undefined))
      let records = await mergeBefore(puts, keyAt(first, 0))
      if (next !== undefined) records = records.concat(await puts.take(keyAt(next, 0)))
      else {
        const last = elementOf(indexes, indexes.length - 1)
        records = records.concat(await puts.take(keyAt(last, last.count - 1)))
        records = records.concat(await puts.take(undefined, recordsAtOnce))
      }
      planPart(leaves, indexes, records)
    },
  }
}

function keyAt({ ids, sorts }: SegmentIndex, n: number) {
  return { id: ids[n] ?? 0, sort: sorts[n] ?? 0 }
}
