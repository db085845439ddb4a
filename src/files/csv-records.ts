// Finds the records of CSV and TSV files, and those that do not fit their header.

import { OperatorError } from '../config/operator-error.ts'
import { type RowExtents, type RowFinder, trackRows } from './row-extents.ts'

/** The longest record of a CSV or TSV file, in bytes. */
export const recordBytesMax = 16 << 20

const [newline, carriageReturn, quote, blank] = [0x0a, 0x0d, 0x22, 0x20]

/**
 * Receives each record.
 *
 * @param end the offset after its line end.
 * @param lineEnd the length of its line end.
 * @param isSound whether its quotes are where they may be.
 */
type OnRecord = (end: number, lineEnd: number, cells: number, isSound: boolean) => void

/** What is known of a file once it has been read. */
interface RecordsEnd {
  readonly length: number
  /** Whether all records end alike. */
  readonly isUniform: boolean
  /** Whether the last quote is not closed. */
  readonly isOpen: boolean
}

/**
 * Walks through the records of consecutive chunks, which may span lines, and end with LF, CRLF or
 * CR. As in DuckDB, a quote opens a cell only at its start.
 */
export class RecordWalk {
  readonly #between: number
  readonly #onRecord: OnRecord
  #offset = 0
  #start = 0
  #cells = 1
  /** Only blanks have been in this cell. */
  #isStart = true
  #isQuoted = false
  /** The last byte in a quoted cell was a quote: the closing one, or the first of two. */
  #isClosing = false
  /** Only blanks may follow in this cell. */
  #hasClosed = false
  #isSound = true
  #isAfterReturn = false
  #hasLf = false
  #hasCrlf = false
  #hasCr = false

  constructor(delimiter: string, onRecord: OnRecord) {
    this.#between = delimiter.charCodeAt(0)
    this.#onRecord = onRecord
  }

  add(chunk: Buffer): void {
    const isInside = this.#isQuoted || this.#hasClosed || this.#isAfterReturn
    if (isInside || chunk.includes(quote) || chunk.includes(carriageReturn)) this.#addAny(chunk)
    else this.#addUnquoted(chunk)
    this.#offset += chunk.length
  }

  /** Reports the last record. */
  end(): RecordsEnd {
    if (this.#isAfterReturn) this.#atLineEnd(0, 0)
    const length = this.#offset
    if (length > this.#start) this.#endRecord(length, 0)
    const isUniform = [this.#hasLf, this.#hasCrlf, this.#hasCr].filter(Boolean).length <= 1
    return { length, isUniform, isOpen: this.#isQuoted && !this.#isClosing }
  }

  #endRecord(end: number, lineEnd: number): void {
    this.#onRecord(end, lineEnd, this.#cells, this.#isSound)
    this.#start = end
    this.#cells = 1
    this.#isStart = true
    this.#hasClosed = false
    this.#isSound = true
  }

  /** Passes a byte that is a line end, or follows a carriage return. */
  #atLineEnd(byte: number, at: number): void {
    const offset = this.#offset + at
    if (this.#isAfterReturn) {
      this.#isAfterReturn = false
      if (byte === newline) {
        this.#hasCrlf = true
        return this.#endRecord(offset + 1, 2)
      }
      this.#hasCr = true
      this.#endRecord(offset, 1)
    }
    if (byte === carriageReturn) this.#isAfterReturn = true
    if (byte !== newline) return
    this.#hasLf = true
    this.#endRecord(offset + 1, 1)
  }

  /** Chunks without quotes and carriage returns take this faster path; most files have none. */
  #addUnquoted(chunk: Buffer): void {
    const between = this.#between
    let start = 0
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      this.#cells += count(chunk, between, start, end)
      this.#atLineEnd(newline, end)
      start = end + 1
    }
    this.#cells += count(chunk, between, start, chunk.length)
    const last = Math.max(start, chunk.lastIndexOf(between) + 1)
    this.#isStart ||= last > 0
    this.#isStart &&= chunk.subarray(last).every((byte) => byte === blank)
  }

  #addAny(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; at++) {
      if (this.#isQuoted && !this.#isClosing) {
        at = chunk.indexOf(quote, at)
        if (at < 0) return
        this.#isClosing = true
        continue
      }
      const byte = chunk[at] ?? 0
      if (this.#isClosing) {
        this.#isClosing = false
        if (byte === quote) continue
        this.#isQuoted = false
        this.#isStart = false
        this.#hasClosed = true
      }
      const isLineEnd = byte === newline || byte === carriageReturn
      if (isLineEnd || this.#isAfterReturn) this.#atLineEnd(byte, at)
      if (!isLineEnd) this.#addByte(byte)
    }
  }

  /** Passes a byte that is neither in quotes nor a line end. */
  #addByte(byte: number): void {
    if (byte === this.#between) {
      this.#cells += 1
      this.#isStart = true
      this.#hasClosed = false
    } else if (byte === quote && this.#isStart) this.#isQuoted = true
    else if (byte !== blank) {
      this.#isStart = false
      if (this.#hasClosed) this.#isSound = false
    }
  }
}

/** How often a byte occurs in a range. */
function count(chunk: Buffer, wanted: number, start: number, end: number): number {
  let found = 0
  for (let at = start; at < end; at++) if (chunk[at] === wanted) found += 1
  return found
}

/** Finds records, and tells whether DuckDB can read them all. */
export interface RecordFinder extends RowFinder {
  /** Whether all records fit the header and end alike. */
  readonly isRegular: () => boolean
}

/**
 * Finds the records of a CSV file.
 *
 * @param columns the number of columns of its header, which is the first record.
 */
export function findRecords(name: string, delimiter: string, columns: number): RecordFinder {
  const kind = { unit: 'line', bytesMax: recordBytesMax, headers: 1, firstRow: 0 } as const
  const tracker = trackRows(name, kind)
  let isRegular = true
  let records = 0
  let offset = 0
  let last = 0
  const walk = new RecordWalk(delimiter, (end, lineEnd, cells, isSound) => {
    if (!isSound || (cells !== columns && end - last > lineEnd && records > 0)) isRegular = false
    records += 1
    last = end
    tracker.add(end, end)
  })
  return {
    add(chunk) {
      walk.add(chunk)
      offset += chunk.length
      tracker.check(offset)
    },
    end(): RowExtents {
      const { length, isUniform, isOpen } = walk.end()
      isRegular &&= isUniform && !isOpen
      return tracker.end(length)
    },
    isRegular: () => isRegular,
  }
}

/** @throws OperatorError for a quote that nothing closes. */
export function refuseOpenQuote(name: string, line: number): never {
  throw new OperatorError(
    `${name}: line ${line}: a quote is not closed; close it, or double it if it is part of a text`,
  )
}
