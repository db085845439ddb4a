// Views: where the records of a selection are, in its order.

import { after, type Awaitable } from '../awaitable.ts'
import type { PageBudget } from '../page-size.ts'
import { createFree, leaveOut, type PageRange, type PageTexts } from './read-page.ts'
import type { ListingReads } from './tables.ts'

/**
 * Places of records in segments of one state of a listing: eight bytes a record. There are only two
 * lists, since each takes 500 bytes besides its numbers.
 */
export interface View {
  /** The segments that hold them, two numbers for each: its own, and the bytes of its texts. */
  readonly segments: Float64Array
  /**
   * Two words for each record: the place of its segment among `segments`, and where its text begins
   * (the lower half) and ends (the upper half) in those of its segment. An end of 0 means that
   * the text ends with its segment, as in a segment of one large record.
   */
  readonly places: Uint32Array
}

/** The second word of a record in `View.places`. */
export function extentOf(start: number, end: number): number {
  return ((end << 16) | start) >>> 0
}

/** The number of a view's records. */
export function countOf({ places }: View): number {
  return places.length / 2
}

/** The memory of a view's numbers, in bytes. */
export function bytesOf({ segments, places }: View): number {
  return segments.byteLength + places.byteLength
}

/** A view whose nth record is the one at `order(n)` in another one. */
export function reorder({ segments, places }: View, order: (n: number) => number): View {
  const ordered = new Uint32Array(places.length)
  for (let n = 0; n < places.length / 2; n++) {
    const from = 2 * order(n)
    ordered[2 * n] = places[from] ?? 0
    ordered[2 * n + 1] = places[from + 1] ?? 0
  }
  return { segments, places: ordered }
}

/** A view from its last record to its first. */
export function reverse(view: View): View {
  const last = countOf(view) - 1
  return reorder(view, (n) => last - n)
}

/** Reads up to `limit` records of a view after the first `offset`, if they fit into a page. */
export function readViewTexts(
  reads: ListingReads,
  companyId: number,
  { segments, places }: View,
  { offset, limit }: PageRange,
  budget: PageBudget,
): Awaitable<PageTexts> {
  const page = { segments, places: places.subarray(2 * offset, 2 * (offset + limit)) }
  if (limit * budget.recordBytesMax > budget.bytesMax && textBytes(page) > budget.bytesMax) {
    return leaveOut({ offset, limit }, budget)
  }
  const wanted = holdersOf(page)
  const numbers = wanted.map((holder) => segments[2 * holder] ?? 0)
  return after(reads.texts(companyId, numbers), (texts) => {
    const textOf = new Map(wanted.map((holder, n) => [holder, texts[n]]))
    const records = cutTexts(page, textOf)
    return { records, free: createFree(reads, texts), greatestLimit: undefined }
  })
}

/** The places among a view's segments of those that hold records, in ascending order. */
function holdersOf(view: View): number[] {
  const found = new Set<number>()
  let last: number | undefined
  for (let n = 0; n < countOf(view); n++) {
    const holder = holderOf(view, n)
    // Consecutive records are usually in one segment.
    if (holder !== last) found.add(holder)
    last = holder
  }
  return [...found].sort((a, b) => a - b)
}

/** The bytes of a view's records, and a comma for each. */
function textBytes(view: View): number {
  let bytes = 0
  for (let n = 0; n < countOf(view); n++) bytes += endOf(view, n) - startOf(view, n) + 1
  return bytes
}

const holderOf = ({ places }: View, n: number) => places[2 * n] ?? 0

const startOf = ({ places }: View, n: number) => (places[2 * n + 1] ?? 0) & 0xffff

function endOf(view: View, n: number): number {
  const end = (view.places[2 * n + 1] ?? 0) >>> 16
  return end === 0 ? (view.segments[2 * holderOf(view, n) + 1] ?? 0) : end
}

/** The texts of records; consecutive ones of a segment are one text. */
function cutTexts(view: View, textOf: ReadonlyMap<number, Uint8Array | undefined>): Uint8Array[] {
  const count = countOf(view)
  const texts: Uint8Array[] = []
  for (let n = 0; n < count;) {
    const holder = holderOf(view, n)
    const start = startOf(view, n)
    let end = endOf(view, n)
    const follows = () => n < count && holderOf(view, n) === holder && startOf(view, n) === end + 1
    for (n += 1; follows(); n += 1) end = endOf(view, n)
    const text = textOf.get(holder)
    if (text === undefined || end > text.length) throw new Error('a view is of another listing')
    texts.push(text.subarray(start, end))
  }
  return texts
}
