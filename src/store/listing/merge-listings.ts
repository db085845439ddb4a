// Merges new records into listings. A long listing is merged in windows, so that neither its
// segments nor the new records have to fit into memory.

import { OperatorError } from '../../config/operator-error.ts'
import { metaTypesMax } from '../../resources/resource.ts'
import { formatCount } from '../../text/format-count.ts'
import { after, type Awaitable } from '../awaitable.ts'
import { type DirectoryEntry, sumOf } from './directory.ts'
import { inBatches } from './in-batches.ts'
import { compareOrder, elementOf, keyAt, type OldSegment, planMerge } from './merge.ts'
import { type IndexReader, keysOf, type OpenListing, readIndexes } from './open-listings.ts'
import { type ListedRecord, type RecordPlace, valueAt } from './segment.ts'
import { addToCount, type ListingShape, metaOf, parseMeta, typesOf } from './shape.ts'
import type { ListingLookups } from './tables.ts'
import type { Output } from './write-listings.ts'

interface ListingMerge {
  readonly companyId: number
  readonly listing: OpenListing | undefined
  readonly puts: PutReader
  /** The ids of the records that it loses or replaces. */
  readonly gone: ReadonlySet<number>
  /** The numbers of the segments that have these; any of its segments may if undefined. */
  readonly touched?: ReadonlySet<number> | undefined
  /** For a short listing, what reads indexes of many listings, and those of this one next. */
  readonly read?: IndexReader
}

/** Reads consecutive segments of a listing. */
async function readOld(
  tables: Pick<ListingLookups, 'segments'>,
  shape: ListingShape,
  { companyId, read }: ListingMerge,
  leaves: readonly DirectoryEntry[],
): Promise<readonly OldSegment[]> {
  const old: OldSegment[] = []
  const next = read ?? readIndexes(tables, shape, keysOf(companyId, leaves))
  await next(leaves.length, (index) => old.push({ entry: elementOf(leaves, old.length), index }))
  return old
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
 * Merges new records into a listing, and makes its new head. Windows that do not change are not
 * read.
 *
 * @throws OperatorError where `meta` would have more types than it may (contract 3.7).
 */
export async function mergeListing(
  tables: Pick<ListingLookups, 'segments'>,
  shape: ListingShape,
  merge: ListingMerge,
  out: Output,
): Promise<void> {
  const { companyId, listing, puts, gone, touched } = merge
  const read: WindowReader = (leaves) => readOld(tables, shape, merge, leaves)
  const entries: DirectoryEntry[] = []
  const types = createTypes(shape, merge)

  async function mergeUpTo(end: RecordPlace | undefined, all: readonly OldSegment[]) {
    types.lose(all)
    let old = all
    // The records of the first segment that have been merged.
    let merged: readonly number[] = []
    let isMore: boolean
    do {
      const { records, rest } = await takeBefore(shape, puts, end)
      types.gain(records)
      // If there are too many new records, those of a segment may be merged in two steps.
      const { whole, before, after } = splitAt(shape, old, rest)
      const some = old.slice(0, before.length > 0 ? whole + 1 : whole)
      const lost = goneIn(some, gone, [...merged, ...after])
      out.addMerge({ companyId, entries, parts: planMerge(shape, some, records, lost) })
      if (out.isFull()) await out.flush()
      merged = before
      old = old.slice(whole)
      isMore = rest !== undefined
    } while (isMore)
  }

  for (const { leaves, end } of await windowsOf(listing?.leaves ?? [], read)) {
    const isTouched = touched === undefined || leaves.some(({ segment }) => touched.has(segment))
    if (isTouched || (await nextBefore(shape, puts, end)) !== undefined) {
      await mergeUpTo(end, await read(leaves))
    } else out.addMerge({ companyId, entries, parts: leaves.map((kept) => ({ kept })) })
  }
  out.addListing({ companyId, meta: types.meta(), entries, known: listing?.nodes ?? [] })
}

/** Consecutive segments, and the place of the first record after them. */
interface LeafWindow {
  readonly leaves: readonly DirectoryEntry[]
  readonly end: RecordPlace | undefined
}

type WindowReader = (leaves: readonly DirectoryEntry[]) => Promise<readonly OldSegment[]>

/** The windows in which a listing is merged: at least one. */
async function windowsOf(
  all: readonly DirectoryEntry[],
  read: WindowReader,
): Promise<readonly LeafWindow[]> {
  if (isShort(all)) return [{ leaves: all, end: undefined }]
  const windows = [...inBatches(all, windowMax.segments, ({ bytes }) => bytes, windowMax.bytes)]
  const later = await read(windows.slice(1).flatMap(([first]) => first ?? []))
  return windows.map((leaves, n) => {
    const next = later[n]
    return { leaves, end: next && keyAt(next.index, 0) }
  })
}

/** Whether a listing is merged at once. */
export const isShort = (leaves: readonly DirectoryEntry[]): boolean =>
  leaves.length <= windowMax.segments && sumOf(leaves).bytes <= windowMax.bytes

/** The next new record if it is before a place. */
function nextBefore(
  shape: ListingShape,
  puts: PutReader,
  end: RecordPlace | undefined,
): Awaitable<ListedRecord | undefined> {
  return after(puts.peek(), (next) => {
    const isIn = next && (end === undefined || compareOrder(shape, next, end) < 0)
    return isIn === true ? next : undefined
  })
}

/** The next new records before a place, and the one after these if there are too many. */
async function takeBefore(shape: ListingShape, puts: PutReader, end: RecordPlace | undefined) {
  const records: ListedRecord[] = []
  for (let bytes = 0; ;) {
    const found = nextBefore(shape, puts, end)
    const next = found instanceof Promise ? await found : found
    if (next === undefined) return { records, rest: undefined }
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

/** The ids of the records of segments that are not kept, nor merged elsewhere. */
function goneIn(
  old: readonly OldSegment[],
  gone: ReadonlySet<number>,
  elsewhere: readonly number[],
): ReadonlySet<number> {
  if (elsewhere.length === 0) return gone
  const lost = old.flatMap(({ index }) => [...index.ids].filter((id) => gone.has(id)))
  return new Set([...elsewhere, ...lost])
}

/** Counts the types of a listing's records (contract 3.7). */
function createTypes(
  shape: ListingShape,
  { companyId, listing, gone }: Pick<ListingMerge, 'companyId' | 'listing' | 'gone'>,
) {
  const { metaColumn } = shape
  const types = parseMeta(listing?.head.meta ?? '[]')
  let left = gone.size
  return {
    /** Takes the records of segments that are gone. */
    lose(old: readonly OldSegment[]): void {
      if (metaColumn === undefined || left === 0) return
      for (const { index } of old) {
        const values = elementOf(index.columns, metaColumn)
        for (const [n, id] of index.ids.entries()) {
          if (!gone.has(id)) continue
          addToCount(types, valueAt(values, n), -1)
          left -= 1
        }
      }
    },
    gain(records: readonly ListedRecord[]): void {
      for (const [type, count] of typesOf(shape, records)) addToCount(types, type, count)
      // Each record that is still to be removed may be the last one of its type.
      if (types.size > metaTypesMax + left) throw tooManyTypes(shape, companyId, [...types.keys()])
    },
    meta: () => metaOf(shape, types),
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
