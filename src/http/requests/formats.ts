// The formats of a listing: JSON with its counters, or the records alone (contract section 11).

import Negotiator from 'negotiator'
import type { Resource } from '../../resources/resource.ts'
import { findSeparator } from '../../store/record-texts.ts'
import { createCsvWriter } from '../../resources/csv.ts'
import { invalid } from '../errors.ts'
import { borrow } from '../wire/body-memory.ts'
import { type Given, readValue } from './members.ts'

/** The formats, by the word that names them, with their media types. */
export const mediaTypes = {
  json: 'application/json',
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
} as const

export type Format = keyof typeof mediaTypes

export const formats = Object.keys(mediaTypes) as readonly Format[]
/** The formats without counters, of which a whole listing can be asked. */
export const recordFormats = formats.filter((format) => format !== 'json')
export const formatName = 'format'

/**
 * The format that a request asks for: by its parameter, else by its Accept field.
 *
 * @param offered the formats of the answer, of which JSON is one.
 * @throws ApiError 400 for any other format.
 */
export function chooseFormat<Offered extends Format>(
  given: Given,
  accept: string | undefined,
  offered: readonly Offered[],
): Offered | 'json' {
  const takes = () => `it takes ${offered.slice(0, -1).join(', ')} or ${offered.at(-1)}`
  const parse = (written: unknown) => {
    const found = offered.find((one) => one === written)
    if (found === undefined) throw invalid(formatName, written, takes())
    return found
  }
  return readValue(formatName, given, parse, takes) ?? acceptedFormat(accept, offered)
}

/** Any other Accept than those for CSV and NDJSON gives JSON (contract 11.1). */
function acceptedFormat<Offered extends Format>(
  accept: string | undefined,
  offered: readonly Offered[],
): Offered | 'json' {
  if (accept === undefined || !/csv|ndjson/i.test(accept)) return 'json'
  // With their parameters, which a client may name: `text/csv; charset=utf-8`.
  const types = offered.map((format) => contentTypes[format])
  const best = new Negotiator({ headers: { accept } }).mediaType(types)
  return offered.find((format) => contentTypes[format] === best) ?? 'json'
}

export const contentTypes = {
  json: `${mediaTypes.json}; charset=utf-8`,
  csv: `${mediaTypes.csv}; charset=utf-8; header=present`,
  ndjson: `${mediaTypes.ndjson}; charset=utf-8`,
} as const

/** How records are written in a format. */
interface RecordWriter {
  /** What precedes the first record. */
  readonly header: string
  /**
   * @param texts JSON texts of records, joined by commas; several in each.
   * @returns memory to give back (`body-memory.ts`).
   */
  readonly bytes: (texts: readonly Uint8Array[]) => Buffer
}

const ndjson: RecordWriter = { header: '', bytes: writeLines }

/** Made once: the code of a new one is slow until it has run for a while. */
const csvWriters = new WeakMap<Resource, RecordWriter>()

/** @throws Error for JSON, which has counters around its records. */
export function recordWriter(format: Format, resource: Resource): RecordWriter {
  if (format === 'json') throw new Error('JSON has counters around its records')
  return format === 'ndjson' ? ndjson : csvWriters.getOrInsertComputed(resource, csvWriterOf)
}

function csvWriterOf({ fields }: Resource): RecordWriter {
  const csv = createCsvWriter(Object.keys(fields))
  return {
    header: csv.header,
    bytes: (texts) => {
      const lines = borrow(texts.reduce((sum, one) => sum + csv.bytesMaxOf(one), 0))
      return lines.subarray(
        0,
        texts.reduce((end, one) => csv.write(one, lines, end), 0),
      )
    },
  }
}

const lineEnd = 0x0a

/** Records as lines: each ends where the comma before the next one is. */
function writeLines(texts: readonly Uint8Array[]): Buffer {
  const lines = borrow(texts.reduce((sum, { length }) => sum + length + 1, 0))
  let end = 0
  for (const one of texts) {
    const piece = lines.subarray(end, end + one.length)
    piece.set(one)
    for (let at = 0; (at = findSeparator(piece, at)) !== -1; at += 1) piece[at] = lineEnd
    end += one.length
    lines[end++] = lineEnd
  }
  return lines
}
