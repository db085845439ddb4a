// The checked rows of an import, in a temporary file, in the order in which they were read. A row
// is written and read as bytes, so that only what is needed is decoded:
//
// its length and that of its text; company, id and number as doubles, NaN for null; the index of
// its file; the digest; the text; then its other texts, separated by NUL, which none has.

import { openTemporaryBytes } from '../../../files/temporary-folder.ts'
import type { Place, RefusedRow, StagedRow } from '../../importing.ts'
import { inBatches } from '../../listing/in-batches.ts'

export interface SpooledRow {
  /** Its number among the rows, from 1. */
  readonly seq: number
  /** Where it begins in the file. */
  readonly at: number
  readonly bytes: Buffer
}

interface SpoolPlace {
  readonly at: number
  readonly length: number
}

// Where the parts of a row begin.
const textLengthAt = 4
const companyAt = 8
const idAt = 16
const numberAt = 24
const fileAt = 32
export const digestAt = 36
const headBytes = 48

const noBytes = Buffer.alloc(0)
/** How many bytes are read at a time. */
const chunkBytes = 262_144
/** Rows with no greater gap between them are read together. */
const gapBytes = 8_192
/** How many rows are read at a time, and how many bytes of them. */
const portionRows = 1_000
const portionBytes = 4_194_304

/** Makes an empty file, which is deleted when the process ends, if not before. */
export function createSpool() {
  const file = openTemporaryBytes()
  let count = 0
  return {
    /** Appends a row; the bytes of the result do not change. A refused row has no text. */
    write(place: Place, row: RefusedRow & Partial<StagedRow>): SpooledRow {
      const { id, digest, content = '' } = row
      const others = joinOthers(row)
      const { buffer, from } = file.reserve(headBytes + textBytesMax(content) + 3 * others.length)
      const textAt = from + headBytes
      const textLength = writeText(buffer, textAt, content === '' ? null : id, content)
      const othersAt = textAt + textLength
      // Most rows have no others, and finding out that a text is empty takes time.
      const othersLength = others === '' ? 0 : buffer.write(others, othersAt)
      const length = othersAt + othersLength - from
      buffer.writeUInt32LE(length, from)
      buffer.writeUInt32LE(textLength, from + textLengthAt)
      buffer.writeDoubleLE(row.companyId ?? NaN, from + companyAt)
      buffer.writeDoubleLE(id ?? NaN, from + idAt)
      buffer.writeDoubleLE(place.number, from + numberAt)
      buffer.writeUInt32LE(place.file, from + fileAt)
      if (digest !== undefined) writeDigest(buffer, digest, from + digestAt)
      count += 1
      return { seq: count, at: file.take(length), bytes: buffer.subarray(from, from + length) }
    },
    /** The rows up to one, by its number; the bytes of each are valid until the next one. */
    *rows(last: number): Generator<SpooledRow> {
      let seq = 0
      for (const { at, bytes } of file.parts()) {
        for (let from = 0; from < bytes.length && seq < last;) {
          const end = from + bytes.readUInt32LE(from)
          seq += 1
          yield { seq, at: at + from, bytes: bytes.subarray(from, end) }
          from = end
        }
        if (seq === last) return
      }
    },
    /** Reads rows in the order asked for; returns each with its place. */
    *read<T extends SpoolPlace>(places: Iterable<T>): Generator<readonly [place: T, row: Buffer]> {
      for (const portion of inBatches(places, portionRows, ({ length }) => length, portionBytes)) {
        const rows = readPlaces(portion, file.read)
        let n = 0
        for (const place of portion) yield [place, rows[n++] ?? noBytes]
      }
    },
    close: file.close,
  }
}

/** The most bytes that the text of a row takes, with its id. */
export const textBytesMax = (content: StagedRow['content']): number =>
  3 * content.length + '{"id":9007199254740991,'.length

/** Writes the text of a record, with its id if it has one; returns its length. */
export function writeText(
  buffer: Buffer,
  at: number,
  id: number | null,
  content: StagedRow['content'],
): number {
  const start = id === null ? '' : `{"id":${id},`
  // The start of a record takes the place of the brace that opens its content.
  const contentAt = at + Math.max(0, start.length - 1)
  const length =
    typeof content === 'string' ? buffer.write(content, contentAt) : content.copy(buffer, contentAt)
  buffer.write(start, at, 'latin1')
  return contentAt + length - at
}

/** For so few characters, a loop takes half the time of `write`. */
export function writeDigest(buffer: Buffer, digest: string, from: number): void {
  for (let n = 0; n < digest.length; n++) buffer[from + n] = digest.charCodeAt(n)
}

/** Reads rows; rows that are near each other are read at once. */
function readPlaces(
  places: readonly SpoolPlace[],
  readBytes: (at: number, length: number) => Buffer,
): Buffer[] {
  const found: Buffer[] = []
  const sorted = places.map(({ at, length }, place) => ({ at, length, place }))
  sorted.sort((a, b) => a.at - b.at)
  for (let n = 0; n < sorted.length;) {
    const first = sorted[n]?.at ?? 0
    let end = first
    let m = n
    for (let next = sorted[m]; next !== undefined; next = sorted[++m]) {
      const to = next.at + next.length
      if (m > n && (next.at - end > gapBytes || to - first > chunkBytes)) break
      end = Math.max(end, to)
    }
    const chunk = readBytes(first, end - first)
    for (const { at, length, place } of sorted.slice(n, m)) {
      found[place] = chunk.subarray(at - first, at - first + length)
    }
    n = m
  }
  return found
}

export const companyIdIn = (row: Buffer): number => row.readDoubleLE(companyAt)
export const idIn = (row: Buffer): number => row.readDoubleLE(idAt)
export const placeIn = (row: Buffer): Place => ({
  file: row.readUInt32LE(fileAt),
  number: row.readDoubleLE(numberAt),
})

export const digestIn = (row: Buffer): Buffer => row.subarray(digestAt, headBytes)

/** The text of a record, with its id if the row has one, or of a company's attributes. */
export function textIn(row: Buffer): Buffer {
  return row.subarray(headBytes, headBytes + row.readUInt32LE(textLengthAt))
}

/** The fields of a record, by their names on the wire. */
export const parseFields = (text: Buffer) =>
  JSON.parse(text.toString()) as Readonly<Record<string, unknown>>

/** The text of a record with its id, which the store may have assigned. */
export function recordText(id: number, row: Buffer): Buffer {
  const text = textIn(row)
  if (!Number.isNaN(idIn(row))) return text
  return Buffer.concat([Buffer.from(`{"id":${id},`), text.subarray(1)])
}

/** Joins the other texts of a row; most rows, which have ids, only have an order value. */
function joinOthers(row: RefusedRow & Partial<StagedRow>): string {
  const { companyJurisdiction, companyIdentifier, key, sort = '', asOf } = row
  if (companyIdentifier === null && key === null && !asOf) return sort
  return [sort, companyJurisdiction, companyIdentifier, key, asOf].join('\0')
}

/** What identifies a row, and orders its record. */
export function textsIn(row: Buffer) {
  const from = headBytes + row.readUInt32LE(textLengthAt)
  const texts = row.toString('utf8', from).split('\0')
  const [sort = null, jurisdiction = null, identifier = null, key = null, asOf = null] = texts.map(
    (text) => (text === '' ? null : text),
  )
  return { sort, jurisdiction, identifier, key, asOf }
}

/** The row as it was staged, without its digest. */
export function stagedRowIn(row: Buffer): StagedRow {
  const { jurisdiction, identifier, key, sort, asOf } = textsIn(row)
  return {
    companyId: orNull(companyIdIn(row)),
    companyJurisdiction: jurisdiction,
    companyIdentifier: identifier,
    id: orNull(idIn(row)),
    key,
    sort: sort ?? '',
    digest: '',
    content: textIn(row).toString(),
    asOf,
  }
}

export const orNull = (number: number): number | null => (Number.isNaN(number) ? null : number)
