// Parses the header of a CSV or TSV file: its column names and delimiter.

import { OperatorError } from '../operator-error.ts'
import type { CsvHeader } from '../store/duckdb/tables.ts'
import { refuseColumns } from '../store/duckdb/tables.ts'

/** The longest header, in bytes. */
export const headerBytesMax = 1 << 20

/**
 * Parses the header of a file.
 *
 * @param isTabbed whether tabs are the only possible delimiter.
 * @param text the start of the file, including the whole header.
 * @throws OperatorError if the header is missing, too long or not text, or repeats a column.
 */
export function parseHeader(name: string, isTabbed: boolean, text: string): CsvHeader {
  const record = firstRecord(text.replace(/^\uFEFF/, ''))
  if (record.trim() === '') throw new OperatorError(`${name} is empty; it needs a header line`)
  if (record.includes('\0')) {
    throw new OperatorError(`${name}: the header contains a NUL character; is this a text file?`)
  }
  if (record.length >= headerBytesMax) {
    throw new OperatorError(`${name}: the header is longer than ${headerBytesMax >> 20} MiB`)
  }
  const candidates = isTabbed ? ['\t'] : [',', ';', '\t', '|']
  // The delimiter is the candidate that occurs most often outside quotes.
  const split = candidates.map((delimiter) => ({
    delimiter,
    columns: splitRecord(record, delimiter),
  }))
  const header = split.reduce((a, b) => (b.columns.length > a.columns.length ? b : a))
  refuseColumns(name, header.columns.length)
  const columns = header.columns.map((column, index) => column || `column_${index + 1}`)
  const seen = new Set<string>()
  for (const column of columns) {
    const word = column.toLowerCase()
    if (seen.has(word)) {
      throw new OperatorError(`${name}: the header has the column ${column} twice`)
    }
    seen.add(word)
  }
  return { ...header, columns }
}

function firstRecord(text: string): string {
  let isQuoted = false
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '"') isQuoted = !isQuoted
    else if (!isQuoted && (text[at] === '\n' || text[at] === '\r')) return text.slice(0, at)
  }
  return text
}

function splitRecord(record: string, delimiter: string): string[] {
  const fields: string[] = []
  let isQuoted = false
  let start = 0
  for (let at = 0; at <= record.length; at++) {
    if (record[at] === '"') isQuoted = !isQuoted
    else if (at === record.length || (!isQuoted && record[at] === delimiter)) {
      fields.push(unquote(record.slice(start, at).trim()))
      start = at + 1
    }
  }
  return fields
}

function unquote(field: string): string {
  return /^".*"$/s.test(field) ? field.slice(1, -1).replaceAll('""', '"').trim() : field
}
