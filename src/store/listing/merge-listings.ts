// Merges new records into listings. A long listing is merged in windows, so that neither its
// segments nor the new records have to fit into memory.

import { OperatorError } from '../../config/operator-error.ts'
import { metaTypesMax } from '../../resources/resource.ts'
import { formatCount } from '../../text/format-count.ts'
import type { Awaitable } from '../awaitable.ts'
import type { DirectoryEntry } from './directory.ts'
import { elementOf, keyAt, type OldSegment, planMerge } from './merge.ts'
import type { IndexReader, OpenListing } from './open-listings.ts'
import { type ListedRecord, type SegmentIndex, valueAt } from './segment.ts'
import { addToCount, type ListingShape, metaOf, parseMeta, typesOf } from './shape.ts'
import type { Output } from './write-listings.ts'

interface ListingMerge {
  readonly companyId: number
  readonly listing: OpenListing | undefined
  /** Reads the indexes of its segments. */
  readonly read: IndexReader
  readonly puts: PutReader
  /** The ids of the records that it loses or replaces. */
  readonly gone: ReadonlySet<number>
}

export interface PutReader {
  /** The next records before a place in the order of the listing, up to a number of them. */
  take(
    before: Pick<ListedRecord, 'id' | 'sort'> | undefined,
    most?: number,
  ): Awaitable<ListedRecord[]>
}

/** How many segments, and how many new records, are merged at a time. */
const segmentsAtOnce = 300
const recordsAtOnce = 20_000

/**
 * Merges new records into a listing, and makes its new head.
 *
 * @throws OperatorError where `meta` would have more types than it may (contract 3.7).
 */
export async function mergeListing(
  shape: ListingShape,
  { companyId, listing, read, puts, gone }: ListingMerge,
  out: Output,
): Promise<void> {
  const entries: DirectoryEntry[] = []
  const types = parseMeta(listing?.head.meta ?? '[]')
  let left = gone.size

  function mergeWindow(old: readonly OldSegment[], records: readonly ListedRecord[]): void {
    out.addMerge({ companyId, entries, parts: planMerge(shape, old, records, gone) })
    if (shape.metaColumn === undefined) return
    for (const type of left === 0 ? [] : goneTypes(old, gone, shape.metaColumn)) {
      addToCount(types, type, -1)
      left -= 1
    }
    for (const [type, count] of typesOf(shape, records)) addToCount(types, type, count)
    // Each record that is still to be removed may be the last one of its type.
    if (types.size > metaTypesMax + left) throw tooManyTypes(shape, companyId, [...types.keys()])
  }

  /** Merges the new records before a place, many at a time; returns the rest of them. */
  async function putBefore(place: Parameters<PutReader['take']>[0]): Promise<ListedRecord[]> {
    for (;;) {
      const records = await puts.take(place, recordsAtOnce)
      if (records.length < recordsAtOnce) return records
      mergeWindow([], records)
      if (out.isFull()) await out.flush()
    }
  }

  const leaves = listing?.leaves ?? []
  let indexes: SegmentIndex[] = []
  for (let at = 0; at < leaves.length; at += segmentsAtOnce) {
    // The segment after the window shows where the window ends.
    const wanted = Math.min(segmentsAtOnce + 1, leaves.length - at)
    await read(wanted - indexes.length, (index) => indexes.push(index))
    const old = leaves
      .slice(at, at + segmentsAtOnce)
      .map((entry, n) => ({ entry, index: elementOf(indexes, n) }))
    const records = await putBefore(keyAt(elementOf(indexes, 0), 0))
    const next = indexes[segmentsAtOnce]
    if (next !== undefined) mergeWindow(old, records.concat(await puts.take(keyAt(next, 0))))
    else {
      const within = await puts.take(keyAt(elementOf(indexes, old.length - 1), -1))
      mergeWindow(old, records.concat(within, await puts.take(undefined, recordsAtOnce)))
    }
    indexes = indexes.slice(segmentsAtOnce)
  }
  const last = await putBefore(undefined)
  if (last.length > 0) mergeWindow([], last)
  out.addListing({ companyId, meta: metaOf(shape, types), entries, known: listing?.nodes ?? [] })
}

/** The types of the records that are removed from segments. */
function* goneTypes(
  old: readonly OldSegment[],
  gone: ReadonlySet<number>,
  metaColumn: number,
): Generator {
  for (const { index } of old) {
    const values = elementOf(index.columns, metaColumn)
    for (let n = 0; n < index.count; n++) if (gone.has(index.ids[n] ?? 0)) yield valueAt(values, n)
  }
}

function tooManyTypes(
  { listing }: ListingShape,
  company: number,
  types: readonly string[],
): OperatorError {
  const last = JSON.stringify(types.at(-1))
  return new OperatorError(
    `the ${listing} of company ${company} would have more than ${formatCount(metaTypesMax)} ` +
      `kinds, ${last} among them; import fewer (recorded changes count, too)`,
  )
}
