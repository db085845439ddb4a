// Counts how many records of a company's listings have which value of a filter, from the indexes.

import type { Resource } from '../../resources/resource.ts'
import { markOf } from '../listing/directory.ts'
import { leavesOf } from '../listing/open-listings.ts'
import { createPace } from './pace.ts'
import { decodeEntries, noLists, type SegmentIndex } from '../listing/segment.ts'
import { shapeOf } from '../listing/shape.ts'
import type { HeadRow, ListingReads } from '../listing/tables.ts'
import type { Change } from './reads.ts'
import { createCounter, type KeptCounts, type ListingCounts } from './value-counts.ts'

/** A listing that has records. */
export interface CountedListing {
  readonly resource: Resource
  readonly head: HeadRow
  /** The import that made this state of it. */
  readonly change: Change
}

/** Up to this many records are counted at once: some 0.2 us for each. */
const shortListingMax = 1_000
/** Segments of a long listing that are read at a time. */
const batchLength = 64

/**
 * Counts listings, by the names of their resources.
 *
 * @param kept the counts of long ones.
 */
export async function countListings(
  reads: Pick<ListingReads, 'entries'>,
  listings: readonly CountedListing[],
  kept: KeptCounts,
): Promise<ReadonlyMap<string, ListingCounts>> {
  const isShort = ({ head }: CountedListing) => head.total <= shortListingMax
  const counts = await countShort(reads, listings.filter(isShort))
  for (const listing of listings) {
    if (isShort(listing)) continue
    const { resource, head, change } = listing
    const key = `${resource.name} ${head.companyId} ${change.lineage}${markOf(head.directory)}`
    const found = kept.get(key) ?? (await kept.share(key, () => countLong(reads, listing)))
    counts.set(resource.name, found)
  }
  return counts
}

/** The counts of a listing without records. */
export function noCounts(resource: Resource): ListingCounts {
  return createCounters(resource).counts()
}

/** Counts listings whose segments are read at once. */
async function countShort(
  reads: Pick<ListingReads, 'entries'>,
  listings: readonly CountedListing[],
): Promise<Map<string, ListingCounts>> {
  const numbers: number[] = []
  const ends: number[] = []
  for (const { head } of listings) {
    numbers.push(...(await segmentsOf(reads, head)))
    ends.push(numbers.length)
  }
  const [company] = listings
  const entries = company === undefined ? [] : await reads.entries(company.head.companyId, numbers)
  const counts = new Map<string, ListingCounts>()
  for (const [n, { resource }] of listings.entries()) {
    const counters = createCounters(resource)
    for (const one of entries.slice(ends[n - 1] ?? 0, ends[n])) counters.add(one)
    counts.set(resource.name, counters.counts())
  }
  return counts
}

/** Counts a listing in steps; ends early if every filter has too many values. */
async function countLong(
  reads: Pick<ListingReads, 'entries'>,
  { resource, head }: CountedListing,
): Promise<ListingCounts> {
  const numbers = await segmentsOf(reads, head)
  const counters = createCounters(resource)
  const pace = createPace()
  for (let at = 0; at < numbers.length && !counters.areOver(); at += batchLength) {
    const batch = numbers.slice(at, at + batchLength)
    for (const one of await reads.entries(head.companyId, batch)) {
      counters.add(one)
      await pace()
    }
  }
  return counters.counts()
}

async function segmentsOf(
  reads: Pick<ListingReads, 'entries'>,
  head: HeadRow,
): Promise<readonly number[]> {
  return (await leavesOf(reads, head)).map(({ segment }) => segment)
}

/** Counters of the fields that are filtered by single values. */
function createCounters(resource: Resource) {
  const shape = shapeOf(resource)
  const fields = shape.columns.flatMap(({ field }, column) =>
    resource.fields[field]?.filter === 'value' ? [{ field, column, counter: createCounter() }] : [],
  )
  const columns = fields.map(({ column }) => column)
  return {
    add(entries: Uint8Array): void {
      if (fields.length === 0) return
      const index = decodeEntries(shape, entries, columns, noLists)
      for (const { column, counter } of fields) {
        if (!counter.isOver()) addColumn(index, column, counter)
      }
    },
    areOver: () => fields.every(({ counter }) => counter.isOver()),
    counts(): ListingCounts {
      const entries = fields.flatMap(({ field, counter }) => {
        const found = counter.counts()
        return found === undefined ? [] : [[field, found] as const]
      })
      return Object.fromEntries(entries)
    },
  }
}

type Counter = ReturnType<typeof createCounter>

function addColumn({ columns }: SegmentIndex, at: number, counter: Counter): void {
  const column = columns[at]
  if (column?.type !== 'text') throw new Error('only texts are filtered by single values')
  const byCode = new Uint32Array(column.values.length + 1)
  for (const code of column.codes) byCode[code] = (byCode[code] ?? 0) + 1
  for (const [code, count] of byCode.entries()) {
    if (count > 0) counter.add(code === 0 ? null : (column.values[code - 1] ?? null), count)
  }
}
