// Merges new records into listings. A long listing is merged in windows, so that neither its
// segments nor the new records have to fit into memory.

import { OperatorError } from '../../config/operator-error.ts'
import { metaTypesMax } from '../../resources/resource.ts'
import { formatCount } from '../../text/format-count.ts'
import type { Awaitable } from '../awaitable.ts'
import type { DirectoryEntry } from './directory.ts'
import { compareOrder, elementOf, keyAt, type OldSegment, planMerge } from './merge.ts'
import type { IndexReader, OpenListing } from './open-listings.ts'
import { type ListedRecord, type RecordPlace, type SegmentIndex, valueAt } from './segment.ts'
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

/** Reads new records in the order of their listing. */
export interface PutReader {
  /** The next record; undefined if there is none. */
  peek(): Awaitable<ListedRecord | undefined>
  /** Goes on to the one after it. */
  advance(): void
}

/** How much is merged at a time: of segments, and of new records. */
const windowMax = { segments: 300, records: 20_000, bytes: 8_388_608 }

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

  async function mergeWindow(window: Window): Promise<void> {
    const { old, records } = window
    const lost = goneIn(window, gone)
    out.addMerge({ companyId, entries, parts: planMerge(shape, old, records, lost) })
    if (shape.metaColumn !== undefined) countTypes(window, shape.metaColumn)
    if (out.isFull()) await out.flush()
  }

  function countTypes({ old, elsewhere, records }: Window, metaColumn: number): void {
    const isGone = (id: number) => gone.has(id) && !elsewhere.has(id)
    for (const type of left === 0 ? [] : typesIn(old, isGone, metaColumn)) {
      addToCount(types, type, -1)
      left -= 1
    }
    for (const [type, count] of typesOf(shape, records)) addToCount(types, type, count)
    // Each record that is still to be removed may be the last one of its type.
    if (types.size > metaTypesMax + left) throw tooManyTypes(shape, companyId, [...types.keys()])
  }

  const leaves = listing?.leaves ?? []
  let from = 0
  let indexes: SegmentIndex[] = []
  // The records of the first segment that earlier windows have merged.
  let merged: readonly number[] = []
  let isMore: boolean
  do {
    const length = countTogether(leaves, from)
    // The segment after the window shows where the window ends.
    const wanted = Math.min(length + 1, leaves.length - from)
    await read(wanted - indexes.length, (index) => indexes.push(index))
    const next = indexes[length]
    const { records, rest } = await takeBefore(shape, puts, next && keyAt(next, 0))
    const old = leaves
      .slice(from, from + length)
      .map((entry, n) => ({ entry, index: elementOf(indexes, n) }))
    // A window that is full of new records ends before the next one, perhaps within a segment.
    const { whole, before, after } = splitAt(shape, old, rest)
    await mergeWindow({
      old: old.slice(0, before.length > 0 ? whole + 1 : whole),
      elsewhere: new Set([...merged, ...after]),
      records,
    })
    merged = before
    from += whole
    indexes = indexes.slice(whole)
    isMore = rest !== undefined || from < leaves.length
  } while (isMore)
  out.addListing({ companyId, meta: metaOf(shape, types), entries, known: listing?.nodes ?? [] })
}

/** What is merged at a time. */
interface Window {
  readonly old: readonly OldSegment[]
  /** The ids of records of its first and its last segment that other windows merge. */
  readonly elsewhere: ReadonlySet<number>
  readonly records: readonly ListedRecord[]
}

/** How many of the next segments are merged together. */
function countTogether(leaves: readonly DirectoryEntry[], from: number): number {
  let [to, bytes] = [from, 0]
  for (; to < leaves.length && to - from < windowMax.segments && bytes < windowMax.bytes; to++) {
    bytes += leaves[to]?.bytes ?? 0
  }
  return to - from
}

/** The next new records before a place, and the one after these if there are too many. */
async function takeBefore(shape: ListingShape, puts: PutReader, end: RecordPlace | undefined) {
  const records: ListedRecord[] = []
  for (let bytes = 0; ;) {
    const found = puts.peek()
    const next = found instanceof Promise ? await found : found
    const isIn = next && (end === undefined || compareOrder(shape, next, end) < 0)
    if (isIn !== true) return { records, rest: undefined }
    if (records.length === windowMax.records || bytes >= windowMax.bytes) {
      return { records, rest: next }
    }
    records.push(next)
    bytes += next.text.length
    puts.advance()
  }
}

/**
 * Splits segments at a place: how many are before it as a whole, and the ids of the next one before
 * and after it.
 */
function splitAt(shape: ListingShape, old: readonly OldSegment[], end: RecordPlace | undefined) {
  const isBefore = (place: RecordPlace) => end === undefined || compareOrder(shape, place, end) < 0
  const whole = old.filter(({ index }) => isBefore(keyAt(index, -1))).length
  const index = old[whole]?.index
  if (index === undefined) return { whole, before: [], after: [] }
  const after = index.ids.findIndex((_, n) => !isBefore(keyAt(index, n)))
  return { whole, before: [...index.ids.slice(0, after)], after: [...index.ids.slice(after)] }
}

/** The ids of the records of a window's segments that are not kept in it. */
function goneIn({ old, elsewhere }: Window, gone: ReadonlySet<number>): ReadonlySet<number> {
  if (elsewhere.size === 0) return gone
  const lost = old.flatMap(({ index }) => [...index.ids].filter((id) => gone.has(id)))
  return new Set([...elsewhere, ...lost])
}

/** The types of the records that are gone from segments. */
function* typesIn(
  old: readonly OldSegment[],
  isGone: (id: number) => boolean,
  metaColumn: number,
): Generator {
  for (const { index } of old) {
    const values = elementOf(index.columns, metaColumn)
    for (let n = 0; n < index.count; n++) if (isGone(index.ids[n] ?? 0)) yield valueAt(values, n)
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
