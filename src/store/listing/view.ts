// Views: where the records of a selection are, in its order.

import { after, type Awaitable } from '../awaitable.ts'
import { greatestLimit, type PageRoom } from '../page-size.ts'
import type { PageRange, PageTexts } from './read-page.ts'
import type { ListingReads } from './tables.ts'

/** Places of records in segments of one state of a listing; eight bytes for each record. */
export interface View {
  /** The segments that hold them: their numbers, and the bytes of their texts. */
  readonly segments: Float64Array
  readonly sizes: Uint32Array
  /** Of each record, the place of its segment in `segments`. */
  readonly segmentOf: Uint32Array
  /**
   * Of each record, where its text begins and ends in those of its segment; it ends where that does
   * if the end is 0, as in a segment of one large record.
   */
  readonly starts: Uint16Array
  readonly ends: Uint16Array
}

/** The memory of a view, in bytes. */
export function bytesOf({ segments, sizes, segmentOf, starts, ends }: View): number {
  const lists = [segments, sizes, segmentOf, starts, ends]
  return lists.reduce((sum, { byteLength }) => sum + byteLength, 0)
}

/** A view whose nth record is the `order[n]`th of another one. */
export function reorder({ segmentOf, starts, ends, ...segments }: View, order: Uint32Array): View {
  return {
    ...segments,
    segmentOf: segmentOf.map((_, n) => segmentOf[order[n] ?? 0] ?? 0),
    starts: starts.map((_, n) => starts[order[n] ?? 0] ?? 0),
    ends: ends.map((_, n) => ends[order[n] ?? 0] ?? 0),
  }
}

/** A view from its last record to its first. */
export function reverse({ segmentOf, starts, ends, ...segments }: View): View {
  return {
    ...segments,
    segmentOf: segmentOf.toReversed(),
    starts: starts.toReversed(),
    ends: ends.toReversed(),
  }
}

function slice({ segmentOf, starts, ends, ...segments }: View, range: PageRange): View {
  const [from, to] = [range.offset, range.offset + range.limit]
  return {
    ...segments,
    segmentOf: segmentOf.subarray(from, to),
    starts: starts.subarray(from, to),
    ends: ends.subarray(from, to),
  }
}

/** Reads up to `limit` records of a view after the first `offset`, if they fit into a page. */
export function readViewTexts(
  reads: ListingReads,
  companyId: number,
  view: View,
  range: PageRange,
  room: PageRoom,
): Awaitable<PageTexts> {
  const page = slice(view, range)
  const { limit } = range
  if (limit * room.widest > room.room && textBytes(page) > room.room) {
    return { records: [], greatestLimit: greatestLimit(room, limit) }
  }
  const segmentOf = [...new Set(page.segmentOf)].sort((a, b) => a - b)
  const numbers = segmentOf.map((holder) => view.segments[holder] ?? 0)
  return after(reads.texts(companyId, numbers), (texts) => {
    const textOf = new Map(segmentOf.map((holder, n) => [holder, texts[n]]))
    return { records: cut(page, textOf), greatestLimit: undefined }
  })
}

/** The bytes of a view's records, and a comma for each. */
function textBytes(view: View): number {
  let bytes = 0
  for (let n = 0; n < view.starts.length; n++) bytes += endOf(view, n) - (view.starts[n] ?? 0) + 1
  return bytes
}

function endOf({ segmentOf, ends, sizes }: View, n: number): number {
  const end = ends[n] ?? 0
  return end === 0 ? (sizes[segmentOf[n] ?? 0] ?? 0) : end
}

/** The texts of records; those that follow one another in a segment stay together. */
function cut(view: View, textOf: ReadonlyMap<number, Uint8Array | undefined>): Uint8Array[] {
  const { segmentOf, starts } = view
  const pieces: Uint8Array[] = []
  for (let at = 0; at < segmentOf.length;) {
    const holder = segmentOf[at]
    const start = starts[at]
    let end = endOf(view, at)
    for (at += 1; segmentOf[at] === holder && starts[at] === end + 1; at += 1) end = endOf(view, at)
    const text = textOf.get(holder ?? 0)
    if (text === undefined || end > text.length) throw new Error('a view is of another listing')
    pieces.push(text.subarray(start, end))
  }
  return pieces
}
