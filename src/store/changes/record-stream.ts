// The records of some segments of a listing, one after another, from a place in its order on.

import type { Awaitable } from '../awaitable.ts'
import type { DirectoryEntry } from '../listing/directory.ts'
import { compareOrder } from '../listing/merge.ts'
import { keysOf } from '../listing/open-listings.ts'
import { decodeEntries, type ListedRecord, recordsOf } from '../listing/segment.ts'
import type { ListingShape } from '../listing/shape.ts'
import type { SegmentParts, SegmentSource } from './segment-source.ts'

/** A place in the order of a listing: that of a record. */
export type Place = Pick<ListedRecord, 'id' | 'sort'>

/** Segments of a listing, in its order. */
export interface Leaves {
  readonly companyId: number
  readonly leaves: readonly DirectoryEntry[]
}

export interface RecordStream {
  /** The next record; undefined at the end. */
  peek(): Awaitable<ListedRecord | undefined>
  /** Goes on to the one after it. */
  next(): void
}

/** How many segments are read at once: more, the longer a stream is read. */
const [windowMin, windowMax] = [4, 64]

/**
 * @param what of records without texts, the texts are empty.
 * @param after only the records after this place.
 */
export function streamRecords(
  source: SegmentSource,
  shape: ListingShape,
  { companyId, leaves }: Leaves,
  { what, after }: { readonly what: SegmentParts; readonly after: Place | undefined },
): RecordStream {
  let at: number | undefined
  let window = windowMin
  let records: ListedRecord[] = []
  let n = 0

  async function load(): Promise<ListedRecord | undefined> {
    at ??= await findLeaf(source, shape, { companyId, leaves }, after)
    for (; n === records.length && at < leaves.length; at += window) {
      window = Math.min(windowMax, 2 * window)
      const rows = await source.read(keysOf(companyId, leaves.slice(at, at + window)), what)
      records = rows.flatMap(({ entries, texts }) => [
        ...recordsOf(decodeEntries(shape, entries, noColumns), texts ?? noText),
      ])
      n = 0
      if (after !== undefined) {
        records = records.filter((record) => compareOrder(shape, record, after) > 0)
      }
    }
    return records[n]
  }

  return {
    peek: () => (n < records.length ? records[n] : load()),
    next: () => void (n += 1),
  }
}

const noColumns: readonly number[] = []
const noText = new Uint8Array()

/** The first segment with a record after a place, by halving. */
export async function findLeaf(
  source: SegmentSource,
  shape: ListingShape,
  { companyId, leaves }: Leaves,
  after: Place | undefined,
): Promise<number> {
  if (after === undefined) return 0
  let [low, high] = [0, leaves.length]
  while (low < high) {
    const middle = (low + high) >> 1
    const [row] = await source.read(keysOf(companyId, leaves.slice(middle, middle + 1)), 'entries')
    const { count, ids, sorts } = decodeEntries(shape, row?.entries ?? noText, noColumns)
    const last = { id: ids[count - 1] ?? 0, sort: sorts[count - 1] ?? 0 }
    if (compareOrder(shape, last, after) > 0) high = middle
    else low = middle + 1
  }
  return low
}
