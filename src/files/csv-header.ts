// Parses the header of a CSV or TSV file: its column names and delimiter.

import { OperatorError } from '../config/operator-error.ts'
import type { CsvHeader } from './duckdb/tables.ts'
import { refuseColumns } from './duckdb/tables.ts'
import { diagnoseHeader } from './diagnose-header.ts'

/** The longest header, in bytes. */
export const headerBytesMax = 1 << 20

/**
 * Parses the header of a file.
 *
 * @param candidates the characters that may separate the columns.
 * @param text the start of the file, including the whole header.
 * @param skipped the lines before it that were skipped.
 * @throws OperatorError if the header is missing, too long or not text, leaves a quote open, or has
 *   a column without a name or two of one name.
 */
export function parseHeader(
  name: string,
  candidates: readonly string[],
  text: string,
  skipped = 0,
): CsvHeader {
  const start = text.replace(/^\uFEFF/, '')
  // The delimiter is the candidate that occurs most often outside quotes.
  const header = candidates
    .map((delimiter) => splitRecord(start, delimiter))
    .reduce((a, b) => (b.columns.length > a.columns.length ? b : a))
  if (start.trim() !== '' && start.slice(0, header.length).trim() === '') {
    const advice = `say --skip-lines ${skipped + 1}`
    throw new OperatorError(`${name}: its first line is blank; ${advice}`)
  }
  if (skipped > 0 && start.trim() === '') {
    throw new OperatorError(
      `${name} has no lines after the ${skipped} that --skip-lines skips; look at it: head ${name}`,
    )
  }
  refuseText(name, header, start.slice(0, header.length))
  const { columns, delimiter } = header
  diagnoseHeader(name, start, columns.length, { candidates, skipped })
  refuseColumns(name, columns.length)
  refuseNames(name, columns, skipped)
  return { columns, delimiter }
}

/** The first record of a text, as one of the possible delimiters splits it. */
interface SplitRecord {
  readonly delimiter: string
  /** Up to the cell with a fault, if there is one. */
  readonly columns: readonly string[]
  /** The length of the record in characters. */
  readonly length: number
  /** What is wrong with the quotes of the last cell. */
  readonly fault?: string
}

function refuseText(name: string, { columns, length, fault }: SplitRecord, record: string): void {
  if (record.trim() === '')
    throw new OperatorError(`${name} is empty; it needs a header line: get the file again`)
  if (record.includes('\0')) {
    throw new OperatorError(`${name}: the header contains a NUL character; is this a text file?`)
  }
  if (fault !== undefined) {
    throw new OperatorError(
      `${name}: in the header, ${fault} in column ${columns.length}, ` +
        `${JSON.stringify(columns.at(-1)?.slice(0, 40))}; correct it in the file`,
    )
  }
  if (length >= headerBytesMax) {
    throw new OperatorError(`${name}: the header is longer than ${headerBytesMax >> 20} MiB`)
  }
}

function refuseNames(name: string, columns: readonly string[], skipped: number): void {
  const [title = '', ...others] = columns
  if (others.length > 1 && title !== '' && others.every((column) => column === '')) {
    throw new OperatorError(
      `${name}: of ${columns.length} columns, only the first has a name, ` +
        `${JSON.stringify(title.slice(0, 40))}; if that is a title, ` +
        `say --skip-lines ${skipped + 1}`,
    )
  }
  const seen = new Map<string, string>()
  for (const [index, column] of columns.entries()) {
    if (column === '') {
      const before = columns[index - 1]
      const place = before === undefined ? '' : `, after ${before},`
      throw new OperatorError(
        `${name}: column ${index + 1} of the header${place} has no name; give each column one in ` +
          'the file',
      )
    }
    const word = column.toLowerCase()
    const other = seen.get(word)
    if (other !== undefined) {
      const fault =
        other === column
          ? `has the column ${column} twice`
          : `has ${other} and ${column}, which are one name whatever their case`
      const advice = /^[\d.,-]+$/.test(column)
        ? 'it looks like data: the file needs a line with the names of the columns'
        : 'rename one of the two in the file'
      throw new OperatorError(`${name}: the header ${fault}; ${advice}`)
    }
    seen.set(word, column)
  }
}

/** Splits as DuckDB does: a quote opens a quoted cell only at the cell's start. */
function splitRecord(text: string, delimiter: string): SplitRecord {
  const columns: string[] = []
  for (let at = 0; ; at += 1) {
    const start = at
    while (text[at] === ' ') at += 1
    if (text[at] === '"') {
      const end = closingQuote(text, at)
      const fault = end === undefined ? 'a quote is not closed' : undefined
      columns.push(
        text
          .slice(at + 1, end)
          .replaceAll('""', '"')
          .trim(),
      )
      at = (end ?? text.length) + 1
      while (text[at] === ' ') at += 1
      if (fault !== undefined) return { delimiter, columns, length: text.length, fault }
      if (!isCellEnd(text[at], delimiter)) {
        return { delimiter, columns, length: at, fault: 'text follows a closing quote' }
      }
    } else {
      while (!isCellEnd(text[at], delimiter)) at += 1
      columns.push(text.slice(start, at).trim())
    }
    if (text[at] !== delimiter) return { delimiter, columns, length: at }
  }
}

function isCellEnd(character: string | undefined, delimiter: string): boolean {
  return (
    character === undefined || character === delimiter || character === '\n' || character === '\r'
  )
}

/** The place of the quote that closes a cell opened at `open`; doubled quotes are part of it. */
function closingQuote(text: string, open: number): number | undefined {
  for (let at = text.indexOf('"', open + 1); at >= 0; at = text.indexOf('"', at + 2)) {
    if (text[at + 1] !== '"') return at
  }
  return undefined
}
