// Where the rows of a text file end, and so how long they are: found while the file is read
// through, so that one of wide rows can be cut into pieces.

import { OperatorError } from '../operator-error.ts'
import { vectorRows, windowBytesMax } from '../store/duckdb/tables.ts'
import { type ArrayState, rowBytesMax, separators } from './read-json.ts'

/** The longest record of a CSV or TSV file, in bytes. */
export const recordBytesMax = 16 << 20

/** A piece is at least so long, but for the last. */
const pieceBytes = 4 << 20

/** A range of a file's bytes that holds whole rows. */
export interface Extent {
  readonly start: number
  readonly end: number
  /** Rows before it in the file, the header included. */
  readonly rowsBefore: number
}

/** What is known of a file's rows at its end. */
export interface RowExtents {
  readonly isWide: boolean
  readonly longestRow: number
  /** The ranges that the file can be cut into. */
  readonly extents: readonly Extent[]
}

/** Finds the ends of rows in chunks that come one after another. */
export interface RowFinder {
  readonly add: (chunk: Buffer) => void
  readonly end: () => RowExtents
}

/** What the rows of a file are. */
interface RowKind {
  readonly unit: 'line' | 'row'
  readonly bytesMax: number
  /** Rows that are a header. */
  readonly headers: number
  /** Where the first row begins. */
  readonly firstRow: number
}

/** Notes rows: the longest, the longest 2,048 in a row, and where the file can be cut. */
function createNotes(name: string, { unit, bytesMax, headers, firstRow }: RowKind) {
  const starts = new Float64Array(vectorRows)
  const extents: Extent[] = []
  let rows = 0
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
      this.check(end)
      longestRow = Math.max(longestRow, end - rowStart)
      // Of fewer rows than these, all count.
      const first = starts[rows < vectorRows ? 0 : rows % vectorRows] ?? 0
      isWide ||= end - first > windowBytesMax
      rowStart = next
      // The pieces of a CSV file have no header.
      if (rows === headers) [start, rowsBefore] = [next, rows]
      else if (end - start >= pieceBytes) {
        cut(end)
        start = next
      }
    },
    /** The row that has begun goes on at least up to here. */
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
      return { isWide, longestRow, extents }
    },
  }
}

const [newline, carriageReturn, quote, blank] = [0x0a, 0x0d, 0x22, 0x20]

const jsonLines: RowKind = { unit: 'line', bytesMax: rowBytesMax, headers: 0, firstRow: 0 }
const records: RowKind = { unit: 'line', bytesMax: recordBytesMax, headers: 1, firstRow: 0 }

/** The rows of NDJSON: lines. */
export function findLines(name: string): RowFinder {
  const notes = createNotes(name, jsonLines)
  let offset = 0
  return {
    add(chunk) {
      for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, at + 1)) {
        notes.add(offset + at + 1, offset + at + 1)
      }
      offset += chunk.length
      notes.check(offset)
    },
    end: () => notes.end(offset),
  }
}

/** The rows of a JSON array: its elements. Its bracket is the first byte of the first chunk. */
export function findElements(name: string, bracket: number): RowFinder {
  const notes = createNotes(name, { ...jsonLines, unit: 'row', firstRow: bracket + 1 })
  const state: ArrayState = { depth: 0, isInString: false, isEscaped: false, isOver: false }
  let offset = bracket
  let end = 0
  return {
    add(chunk) {
      for (const { at, isEnd } of separators(name, chunk, state)) {
        if (isEnd) end = offset + at
        else notes.add(offset + at, offset + at + 1)
      }
      offset += chunk.length
      if (!state.isOver) notes.check(offset)
    },
    end() {
      if (!state.isOver) throw new OperatorError(`${name} ends in the middle of its JSON array`)
      return notes.end(end)
    },
  }
}

/**
 * The rows of a CSV file: records, which may span lines. A quote opens a field only at its start,
 * as it does for DuckDB.
 *
 * @param lineEnd ends a record outside of quotes: a line feed, or the carriage return of files that
 *   have no other.
 */
export function findRecords(name: string, delimiter: string, lineEnd: number): RowFinder {
  const notes = createNotes(name, records)
  const between = delimiter.charCodeAt(0)
  let offset = 0
  let isStart = true
  let isQuoted = false
  /** In a quoted field, the last byte was a quote: its end, or the first of two. */
  let isClosing = false
  function walk(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; at++) {
      if (isQuoted && !isClosing) {
        at = chunk.indexOf(quote, at)
        if (at < 0) return
        isClosing = true
        continue
      }
      const byte = chunk[at]
      if (isClosing) {
        isClosing = false
        if (byte === quote) continue
        isQuoted = false
        isStart = false
      }
      if (byte === lineEnd) {
        isStart = true
        notes.add(offset + at + 1, offset + at + 1)
      } else if (byte === between) isStart = true
      else if (byte === quote && isStart) isQuoted = true
      else if (byte !== blank) isStart = false
    }
  }
  return {
    add(chunk) {
      // Most files have no quotes, and most chunks of others end between two records.
      if (!isQuoted && !chunk.includes(quote)) {
        let end = -1
        for (let at = chunk.indexOf(lineEnd); at >= 0; at = chunk.indexOf(lineEnd, at + 1)) {
          notes.add(offset + at + 1, offset + at + 1)
          end = at
        }
        const rest = chunk.subarray(end + 1)
        const last = rest.lastIndexOf(between)
        const isBlank = rest.subarray(last + 1).every((byte) => byte === blank)
        isStart = isBlank && (last >= 0 || end >= 0 || isStart)
      } else walk(chunk)
      offset += chunk.length
      notes.check(offset)
    },
    end: () => notes.end(offset),
  }
}

/** The byte that ends the records of a file, by its first one. */
export function lineEndOf(start: Buffer): number {
  const end = start.indexOf(carriageReturn)
  const isOld = end >= 0 && !start.includes(newline)
  return isOld ? carriageReturn : newline
}
