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
  const runs = runsOf({ segments, places: places.subarray(2 * offset, 2 * (offset + limit)) })
  const bytes = () => runs.reduce((sum, { start, end }) => sum + end - start + 1, 0)
  if (limit * budget.recordBytesMax > budget.bytesMax && bytes() > budget.bytesMax) {
    return leaveOut({ offset, limit }, budget)
  }
  const wanted = [...new Set(runs.map(({ holder }) => holder))].sort((a, b) => a - b)
  const numbers = wanted.map((holder) => segments[2 * holder] ?? 0)
  return after(reads.texts(companyId, numbers), (texts) => {
    const textOf = new Map(wanted.map((holder, n) => [holder, texts[n]]))
    const records = runs.map(({ holder, start, end }) => {
      const text = textOf.get(holder)
      if (text === undefined || end > text.length) throw new Error('a view is of another listing')
      return text.subarray(start, end)
    })
    return { records, free: createFree(reads, texts), greatestLimit: undefined }
  })
}

/** Records that follow each other in a segment, which are one text. */
interface Run {
  /** The place of the segment among those of the view. */
  readonly holder: number
  readonly start: number
  end: number
}

function runsOf({ segments, places }: View): Run[] {
  const runs: Run[] = []
  let last: Run | undefined
  for (let n = 0; n < places.length; n += 2) {
    const [holder, extent] = [places[n] ?? 0, places[n + 1] ?? 0]
    const start = extent & 0xffff
    const end = extent >>> 16 || (segments[2 * holder + 1] ?? 0)
    if (last?.holder === holder && start === last.end + 1) last.end = end
    else runs.push((last = { holder, start, end }))
  }
  return runs
}
