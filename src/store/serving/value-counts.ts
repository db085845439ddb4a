// Counts the records of a company's listings by the values of their filters (contract 8.4), for
// filters of few values. The counts of long listings are cached, within a number of bytes.

import { LRUCache } from 'lru-cache'
import type { Resource } from '../../resources/resource.ts'
import { hasMoreCharacters } from '../../text/characters.ts'
import { markOf, onlySegment } from '../listing/directory.ts'
import { leavesOf, scanEntries } from '../listing/open-listings.ts'
import { createIndexScanner, lists, type TextColumn } from '../listing/segment.ts'
import { shapeOf } from '../listing/shape.ts'
import type { HeadRow, ListingReads } from '../listing/tables.ts'
import { byCodePoint } from '../record-texts.ts'
import type { Snapshot } from '../sql/database.ts'
import { checkHistory } from './listing-state.ts'
import { createPace } from './pace.ts'
import type { Change } from './reads.ts'
import { createSharedWork } from './shared-work.ts'

/** Up to this many values of a filter are counted; with more, it is left out. */
export const countedValuesMax = 50
/** The length of a counted value, in characters; a filter with a longer one is left out. */
export const countedLengthMax = 1_024

/** A value, null included, and the number of records that have it. */
export type ValueCount = readonly [value: string | null, count: number]

/** The counts of each filter with few values, by field: most frequent first, then by code point. */
export type ListingCounts = Readonly<Record<string, readonly ValueCount[]>>

/** A listing that has records. */
export interface CountedListing {
  readonly resource: Resource
  readonly head: HeadRow
  /** The import that made this state. */
  readonly change: Change
  /** The index of its first segment, if it was read with the head; else null. */
  readonly entries: Uint8Array | null
}

/** Listings of up to this many records are not cached: counting takes some 0.2 us a record. */
const shortListingMax = 1_000
/** The bytes of cached counts. */
const countBytesMax = 4 * 1_048_576

type EntryReads = Pick<ListingReads, 'entries' | 'free'>

/** Counts a company's listings, by the names of their resources. */
export type CountListings = (
  snapshot: Snapshot,
  listings: readonly CountedListing[],
) => Promise<ReadonlyMap<string, ListingCounts>>

/** Creates what counts listings, and caches the counts of long ones. */
export function createValueCounts(): CountListings {
  const kept = new LRUCache<string, ListingCounts>({
    maxSize: countBytesMax,
    sizeCalculation: sizeOf,
  })
  const counting = createSharedWork<ListingCounts>()

  const countKept = async (snapshot: Snapshot, listing: CountedListing) => {
    const { resource, head, change } = listing
    // The key names one state of the listing, so no counts are ever stale.
    const key = `${resource.name} ${head.companyId} ${change.lineage}${markOf(head.directory)}`
    const known = kept.get(key)
    if (known !== undefined) return known
    return counting.run(key, async () => {
      const counts = await countLong(snapshot.tables, listing)
      const { lineage } = change
      const registry = await snapshot.registry(head.companyId)
      await checkHistory(snapshot, { version: head.version, lineage }, registry)
      kept.set(key, counts)
      return counts
    })
  }

  return async (snapshot, listings) => {
    const isShort = ({ head }: CountedListing) => head.total <= shortListingMax
    const counts = await countShort(snapshot.tables, listings.filter(isShort))
    for (const listing of listings) {
      if (!isShort(listing)) counts.set(listing.resource.name, await countKept(snapshot, listing))
    }
    return counts
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

/** The counts of a listing without records. */
export function noCounts(resource: Resource): ListingCounts {
  return createCounter(resource).counts()
}

/** Counts listings whose segments are read at once. */
async function countShort(
  reads: EntryReads,
  listings: readonly CountedListing[],
): Promise<Map<string, ListingCounts>> {
  const numbers: number[] = []
  const ends: number[] = []
  for (const { head, entries: first } of listings) {
    if (first === null || onlySegment(head.directory) === null) {
      const leaves = await leavesOf(reads, head)
      for (const { segment } of first === null ? leaves : leaves.slice(1)) numbers.push(segment)
    }
    ends.push(numbers.length)
  }
  const [company] = listings
  const further =
    company === undefined || numbers.length === 0
      ? []
      : await reads.entries(company.head.companyId, numbers)
  const counts = new Map<string, ListingCounts>()
  for (const [n, { resource, entries: first }] of listings.entries()) {
    const counter = createCounter(resource)
    if (first !== null) counter.add(first)
    for (const one of further.slice(ends[n - 1] ?? 0, ends[n])) counter.add(one)
    counts.set(resource.name, counter.counts())
  }
  return counts
}

/** Counts a listing in steps; ends early if every filter has too many values. */
async function countLong(
  reads: EntryReads,
  { resource, head }: CountedListing,
): Promise<ListingCounts> {
  const counter = createCounter(resource)
  const pace = createPace()
  for await (const { entries } of scanEntries(reads, head)) {
    if (counter.isOver()) break
    for (const one of entries) {
      counter.add(one)
      await pace()
    }
  }
  return counter.counts()
}

/** Counts the values of the fields that are filtered by single values, until they are too many. */
function createCounter(resource: Resource) {
  const shape = shapeOf(resource)
  let fields = shape.columns.flatMap(({ field }, column) =>
    resource.fields[field]?.filter === 'value'
      ? [{ field, column, counts: new Map<string | null, number>() }]
      : [],
  )
  const index = createIndexScanner(shape)
  return {
    add(entries: Uint8Array): void {
      if (fields.length === 0) return
      index.open(entries)
      fields = fields.filter(({ column, counts }) =>
        addColumn(index.texts(lists.columns + column), counts),
      )
    },
    isOver: () => fields.length === 0,
    counts: (): ListingCounts =>
      Object.fromEntries(fields.map(({ field, counts }) => [field, [...counts].sort(byCount)])),
  }
}

/** Adds the values of a segment; returns false if they are too many, or one is too long. */
function addColumn({ values, codes }: TextColumn, counts: Map<string | null, number>): boolean {
  const byCode = new Uint32Array(values.length + 1)
  for (const code of codes) byCode[code] = (byCode[code] ?? 0) + 1
  for (let code = 0; code < byCode.length; code++) {
    const count = byCode[code] ?? 0
    if (count === 0) continue
    const value = code === 0 ? null : (values[code - 1] ?? null)
    if (isTooLong(value)) return false
    counts.set(value, (counts.get(value) ?? 0) + count)
  }
  return counts.size <= countedValuesMax
}

function isTooLong(value: string | null): boolean {
  return value !== null && hasMoreCharacters(value, countedLengthMax)
}

/** Most frequent first, then by code point, null last. */
function byCount([a, countOfA]: ValueCount, [b, countOfB]: ValueCount): number {
  if (countOfA !== countOfB) return countOfB - countOfA
  if (a === null || b === null) return Number(a === null) - Number(b === null)
  return byCodePoint(a, b)
}
