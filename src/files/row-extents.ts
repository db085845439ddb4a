// Finds where the rows of a text file end, and how long they are, while the file is read, so that a
// file with wide rows can be cut into pieces.

import { OperatorError } from '../config/operator-error.ts'
import { vectorRows, windowBytesMax } from './duckdb/tables.ts'
import { rowBytesMax } from './parse-row.ts'
import { type ArrayState, separators } from './read-json.ts'

/** The minimum length of a piece in bytes, except the last. */
const pieceBytes = 4 << 20

/** A range of a file's bytes that contains whole rows. */
interface Extent {
  readonly start: number
  readonly end: number
  /** Rows before it in the file, including the header. */
  readonly rowsBefore: number
}

/** What is known of a file's rows once it has been read. */
export interface RowExtents {
  readonly isWide: boolean
  readonly longestRow: number
  /** How many there are, without headers and blank lines. */
  readonly count: number
  /** The ranges into which the file can be cut. */
  readonly extents: readonly Extent[]
}

/** Finds the ends of rows in consecutive chunks. */
export interface RowFinder {
  readonly add: (chunk: Buffer) => void
  readonly end: () => RowExtents
}

/** The kind of rows that a file has. */
interface RowKind {
  readonly unit: 'line' | 'row'
  readonly bytesMax: number
  /** The number of header rows. */
  readonly headers: number
  /** The offset of the first row. */
  readonly firstRow: number
}

/** Tracks the longest row, the longest 2,048 consecutive rows, and where the file can be cut. */
export function trackRows(name: string, { unit, bytesMax, headers, firstRow }: RowKind) {
  const starts = new Float64Array(vectorRows)
  const extents: Extent[] = []
  let rows = 0
  let blank = 0
  let isWide = false
  let longestRow = 0
  let rowStart = firstRow
  let start = firstRow
  let rowsBefore = 0
  function cut(end: number): void {
    extents.push({ start, end, rowsBefore })
    rowsBefore = rows
  }
  return {
    /** A row ends before `end`; the next one begins at `next`. */
    add(end: number, next: number): void {
      starts[rows % vectorRows] = rowStart
      rows += 1
      if (end - rowStart <= 2) blank += 1
      this.check(end)
      longestRow = Math.max(longestRow, end - rowStart)
      // With fewer rows than that so far, all of them count.
      const first = starts[rows < vectorRows ? 0 : rows % vectorRows] ?? 0
      isWide ||= end - first > windowBytesMax
      rowStart = next
      // Pieces of a CSV file have no header.
      if (rows === headers) [start, rowsBefore] = [next, rows]
      else if (end - start >= pieceBytes) {
        cut(end)
        start = next
      }
    },
    /** The current row extends at least to `end`. @throws OperatorError if it is too long. */
    check(end: number): void {
      if (end - rowStart <= bytesMax) return
      const hint = headers > 0 ? '; is a quote before it not closed?' : ''
      throw new OperatorError(
        `${name}: ${unit} ${rows + 1} is longer than ${bytesMax >> 20} MiB${hint}`,
      )
    },
    end(length: number): RowExtents {
      if (length > rowStart) this.add(length, length)
      if (length > start) cut(length)
      return { isWide, longestRow, extents, count: Math.max(0, rows - blank - headers) }
    },
  }
}

const newline = 0x0a

const jsonLines: RowKind = { unit: 'line', bytesMax: rowBytesMax, headers: 0, firstRow: 0 }

/** The rows of NDJSON: lines. */
export function findLines(name: string): RowFinder {
  const tracker = trackRows(name, jsonLines)
  let offset = 0
  return {
    add(chunk) {
      for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, at + 1)) {
        tracker.add(offset + at + 1, offset + at + 1)
      }
      offset += chunk.length
      tracker.check(offset)
    },
    end: () => tracker.end(offset),
  }
}

/** The rows of a JSON array: its elements. The first chunk begins with the array's bracket. */
export function findElements(name: string, bracket: number): RowFinder {
  const tracker = trackRows(name, { ...jsonLines, unit: 'row', firstRow: bracket + 1 })
  const state: ArrayState = { depth: 0, isInString: false, isEscaped: false, hasEnded: false }
  let offset = bracket
  let end = 0
  return {
    add(chunk) {
      for (const { at, isEnd } of separators(name, chunk, state)) {
        if (isEnd) end = offset + at
        else tracker.add(offset + at, offset + at + 1)
      }
      offset += chunk.length
      if (!state.hasEnded) tracker.check(offset)
    },
    end() {
      if (!state.hasEnded) throw new OperatorError(`${name} ends in the middle of its JSON array`)
      return tracker.end(end)
    },
  }
}
