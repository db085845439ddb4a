// Cutting records into segments of some kilobytes.

import { type EncodedSegment, encodeSegment, type ListedRecord } from './segment.ts'
import type { ListingShape } from './shape.ts'

/**
 * The bytes of a segment, index and texts together: three fill a page of 32 KiB of SQLite. A larger
 * record has a segment of its own.
 */
export const segmentBytesMax = 10_400
/** How full evenly cut segments are: the rest is space for further records. */
const evenShare = 0.95

/**
 * Where a listing grows. At one of its ends, all segments but the last cut are full; `within`, all
 * are of about the same size.
 */
export type Growth = 'front' | 'end' | 'within'

export const growthOfNew = ({ direction }: ListingShape): Growth =>
  direction === 'descending' ? 'front' : 'end'

export interface CutSegment extends EncodedSegment {
  readonly count: number
  /** The bytes of the largest record. */
  readonly largest: number
}

/** Cuts records into segments, in their order. */
export function cutSegments(
  shape: ListingShape,
  records: readonly ListedRecord[],
  growth: Growth,
): CutSegment[] {
  const segments: CutSegment[] = []
  const isBackwards = growth === 'front'
  const line = {
    records: isBackwards ? records.toReversed() : records,
    isBackwards,
    entryBytes: 16 + 3 * shape.columns.length,
  }
  let rest = growth === 'within' ? bytesOf(records, line.entryBytes) : 0
  for (let from = 0; from < records.length;) {
    const segment = cutOne(shape, line, from, growth === 'within' ? evenSize(rest) : undefined)
    segments.push(segment)
    rest -= segment.texts.length + segment.entries.length
    from += segment.count
  }
  return isBackwards ? segments.reverse() : segments
}

/** Records in the order in which they are cut. */
interface Line {
  readonly records: readonly ListedRecord[]
  readonly isBackwards: boolean
  /** The bytes of a record in an index: an estimate, then the average of the last segment. */
  entryBytes: number
}

function bytesOf(records: readonly ListedRecord[], entryBytes: number): number {
  let bytes = 0
  for (const { text } of records) bytes += text.length + 1 + entryBytes
  return bytes
}

/** The size of the next segment, if all that are left get the same size. */
function evenSize(rest: number): number {
  if (rest <= segmentBytesMax) return segmentBytesMax
  return rest / Math.ceil(rest / (segmentBytesMax * evenShare))
}

/** Cuts the segment that begins `from` records from the end at which the line is cut. */
function cutOne(
  shape: ListingShape,
  line: Line,
  from: number,
  evenly: number | undefined,
): CutSegment {
  for (let max = line.records.length; ;) {
    const to = Math.min(max, findEnd(line, from, evenly))
    const cut = line.records.slice(from, to)
    const part = line.isBackwards ? cut.reverse() : cut
    const encoded = encodeSegment(shape, part)
    const bytes = encoded.entries.length + encoded.texts.length
    line.entryBytes = encoded.entries.length / part.length
    if (bytes <= segmentBytesMax || part.length === 1) {
      let largest = 0
      for (const { text } of part) largest = Math.max(largest, text.length)
      return { ...encoded, count: part.length, largest }
    }
    max = to - 1
  }
}

/** Where a segment ends: at its maximum size, or nearest to an even one; with at least a record. */
function findEnd({ records, entryBytes }: Line, from: number, evenly?: number): number {
  let bytes = 0
  let to = from
  for (; to < records.length; to++) {
    const more = (records[to]?.text.length ?? 0) + 1 + entryBytes
    if (to > from) {
      if (bytes + more > segmentBytesMax) break
      if (evenly !== undefined && bytes + more / 2 > evenly) break
    }
    bytes += more
  }
  return to
}
