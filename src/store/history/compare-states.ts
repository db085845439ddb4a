// Compares two states of listings: what one source has in each, and whether the others differ.

import { type DirectoryEntry, without } from '../listing/directory.ts'
import { type HeadRow, type ListingTables, inBatches, type SegmentRow } from '../listing/tables.ts'
import { type OpenListing, leavesOf, keysOf } from '../listing/open-listings.ts'
import { addToCount, type ListingShape } from '../listing/shape.ts'
import { digestBytes, type SegmentIndex, valueAt, decodeEntries } from '../listing/segment.ts'

/** How a listing would change if a source's records were again as they were in a former state. */
export interface StateDifference {
  /** The ids of records that the listing gets, gets in their former state, and loses. */
  readonly restored: readonly number[]
  readonly updated: readonly number[]
  readonly removed: readonly number[]
  /** Those of them that other sources have now. */
  readonly taken: readonly number[]
  /** Whether the records of other sources differ, too. */
  readonly hasOthers: boolean
  /** How many of the records that are removed or updated have each type. */
  readonly goneTypes: ReadonlyMap<string, number>
}

/**
 * Makes a comparison of segments that only one of two states has: first all of the former state,
 * then all of the present one.
 */
function compareStates({ metaColumn }: ListingShape, source: number) {
  const former = createDigests()
  const restored = new Set<number>()
  const updated: number[] = []
  const removed: number[] = []
  const taken: number[] = []
  const goneTypes = new Map<string, number>()
  /** How many records of other sources the former state has that the present one has not. */
  let others = 0
  let hasOthers = false

  function drop(list: number[], index: SegmentIndex, n: number): void {
    list.push(index.ids[n] ?? 0)
    const column = metaColumn === undefined ? undefined : index.columns[metaColumn]
    if (column !== undefined) addToCount(goneTypes, valueAt(column, n), 1)
  }

  function notePresent(index: SegmentIndex, n: number): void {
    const id = index.ids[n] ?? 0
    const place = former.find(id)
    const isSame = place !== undefined && former.isSame(place, index.digests, n)
    const isOwn = index.sources[n] === source
    const wasOwn = restored.delete(id)
    if (place !== undefined && !wasOwn) others -= 1
    if (isOwn !== wasOwn) hasOthers ||= !isOwn || place !== undefined
    if (isOwn && !wasOwn) drop(removed, index, n)
    else if (wasOwn && !isSame) {
      drop(updated, index, n)
      if (!isOwn) taken.push(id)
    } else if (!isSame) hasOthers = true
  }

  return {
    addFormer(index: SegmentIndex): void {
      former.add(index)
      for (let n = 0; n < index.count; n++) {
        if (index.sources[n] === source) restored.add(index.ids[n] ?? 0)
        else others += 1
      }
    },
    addPresent(index: SegmentIndex): void {
      for (let n = 0; n < index.count; n++) notePresent(index, n)
    },
    finish(): StateDifference {
      hasOthers ||= others > 0
      return { restored: [...restored], updated, removed, taken, hasOthers, goneTypes }
    },
  }
}

/** The digests of records by their ids, in little memory. */
function createDigests() {
  const places = new Map<number, number>()
  let digests = Buffer.alloc(0)
  let end = 0
  return {
    add(index: SegmentIndex): void {
      const start = end
      end += index.count * digestBytes
      if (end > digests.length) {
        const larger = Buffer.allocUnsafe(Math.max(end, 2 * digests.length))
        digests.copy(larger, 0, 0, start)
        digests = larger
      }
      digests.set(index.digests, start)
      for (let n = 0; n < index.count; n++) places.set(index.ids[n] ?? 0, start + n * digestBytes)
    },
    find: (id: number) => places.get(id),
    /** Whether a record at a place has the same digest as the nth of some. */
    isSame(place: number, others: Uint8Array, n: number): boolean {
      for (let at = 0; at < digestBytes; at++) {
        if (digests[place + at] !== others[n * digestBytes + at]) return false
      }
      return true
    },
  }
}

/** How many segments are read at once. */
const segmentsAtOnce = 1_000

/** The present and the former state of a listing, which may not have been there. */
export interface Pair {
  readonly companyId: number
  readonly present: OpenListing
  readonly former: HeadRow | undefined
  /** The segments that only one of the two states has. */
  readonly presentOnly: readonly DirectoryEntry[]
  readonly formerOnly: readonly DirectoryEntry[]
}

export async function openPairs(
  tables: ListingTables,
  { listing }: ListingShape,
  companies: readonly number[],
  first: number,
): Promise<Pair[]> {
  const former = new Map(
    (await tables.heads(listing, companies, first - 1)).map((head) => [head.companyId, head]),
  )
  const pairs: Pair[] = []
  for (const head of await tables.heads(listing, companies, Number.MAX_SAFE_INTEGER)) {
    const { companyId } = head
    const before = former.get(companyId)
    const leaves = await leavesOf(tables, head)
    const formerLeaves = before === undefined ? [] : await leavesOf(tables, before)
    pairs.push({
      ...{ companyId, present: { head, leaves }, former: before },
      presentOnly: without(leaves, formerLeaves),
      formerOnly: without(formerLeaves, leaves),
    })
  }
  return pairs
}

/** Compares the states of listings, in their order, reading segments of many at once. */
export async function* findDifferences(
  tables: ListingTables,
  shape: ListingShape,
  pairs: readonly Pair[],
  source: number,
): AsyncGenerator<{ readonly pair: Pair; readonly difference: StateDifference }> {
  const weightOf = ({ formerOnly, presentOnly }: Pair) => formerOnly.length + presentOnly.length
  for (const some of inBatches(pairs, Infinity, weightOf, segmentsAtOnce)) {
    const keys = some.flatMap(({ companyId, formerOnly, presentOnly }) => [
      ...keysOf(companyId, formerOnly),
      ...keysOf(companyId, presentOnly),
    ])
    const read = indexReader(tables, shape, keys)
    for (const pair of some) {
      const states = compareStates(shape, source)
      for (let n = 0; n < pair.formerOnly.length; n++) {
        if (read.isAtEnd()) await read.more()
        states.addFormer(read.next())
      }
      for (let n = 0; n < pair.presentOnly.length; n++) {
        if (read.isAtEnd()) await read.more()
        states.addPresent(read.next())
      }
      yield { pair, difference: states.finish() }
    }
  }
}

/** Reads the indexes of segments, in their order, some at once. */
function indexReader(tables: ListingTables, shape: ListingShape, keys: ReturnType<typeof keysOf>) {
  const wanted = shape.metaColumn === undefined ? [] : [shape.metaColumn]
  let rows: readonly SegmentRow[] = []
  let [n, read] = [0, 0]
  return {
    isAtEnd: () => n === rows.length,
    async more(): Promise<void> {
      rows = await tables.segments(keys.slice(read, read + segmentsAtOnce), 'entries')
      read += rows.length
      n = 0
    },
    next(): SegmentIndex {
      const row = rows[n++]
      if (row === undefined) throw new Error('there are fewer segments than were asked for')
      return decodeEntries(shape, row.entries, wanted)
    },
  }
}
