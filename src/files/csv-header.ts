// Parses the header of a CSV or TSV file: its column names and delimiter.

import { OperatorError } from '../config/operator-error.ts'
import { countOf } from '../text/format-count.ts'
import { likeNames, refuseColumns } from './check-columns.ts'
import { type CsvForm, type CsvRecord, linesIn, splitRecord } from './csv-record.ts'
import { diagnoseHeader } from './diagnose-header.ts'

/** The form of a file, the names of its columns, and where its rows begin. */
export interface CsvHeader extends CsvForm {
  readonly columns: readonly string[]
  /** The lines of the header. */
  readonly lines: number
  /** The text after it, as far as it is known. */
  readonly rest: string
}

/** What else to do about a faulty quote. */
export const ifQuotes = 'if quotes are ordinary characters in this file, add --no-quotes'

/** The longest header, in characters. */
export const headerLengthMax = 1 << 20

/**
 * Parses the header of a file.
 *
 * @param candidates the forms that the file may have.
 * @param text the start of the file, including the whole header.
 * @param skipped the lines before it that were skipped.
 * @throws OperatorError if the header is missing, too long or not text, leaves a quote open, has a
 *   column without a name, or has the same name twice.
 */
export function parseHeader(
  name: string,
  candidates: readonly CsvForm[],
  text: string,
  skipped: number,
): CsvHeader {
  const { record, form } = splitFirst(candidates, text)
  if (text.trim() === '') {
    const lack =
      skipped > 0
        ? `has no lines after the ${skipped} that --skip-lines skips; look at it: head ${name}`
        : 'is empty; it needs a header line: get the file again'
    throw new OperatorError(`${name} ${lack}`)
  }
  if (record.cells.every((cell) => cell.trim() === '') && !record.isOpen) {
    throw new OperatorError(`${name}: its first line is blank; add --skip-lines ${skipped + 1}`)
  }
  refuseText(name, record, text.slice(0, record.end))
  const cells = record.cells.map(columnName)
  diagnoseHeader(name, text, cells.length, { candidates, skipped })
  const columns = withoutExtra(cells)
  refuseColumns(name, columns.length)
  refuseNames(name, columns, skipped)
  const lines = linesIn(text.slice(0, record.end))
  return { ...form, columns, lines, rest: text.slice(record.next) }
}

/** Its line breaks are LF, since an editor may not write others in a mapping. */
export function columnName(cell: string): string {
  return cell.trim().replaceAll(/\r\n?/g, '\n')
}

/** The names of columns. Delimiters at the end of each line make surplus empty cells. */
function withoutExtra(cells: readonly string[]): readonly string[] {
  const named = cells.findLastIndex((cell) => cell !== '') + 1
  // A name before several blank cells may be a title.
  return named > 1 || named === cells.length - 1 ? cells.slice(0, named) : cells
}

/**
 * The header of a file without one; the operator has named its columns.
 *
 * @param text the start of the file.
 * @throws OperatorError if its first record has more cells or fewer.
 */
export function nameColumns(
  name: string,
  candidates: readonly CsvForm[],
  text: string,
  columns: readonly string[],
): CsvHeader {
  const first = text.replace(/^[\r\n]+/, '')
  const { record, form } = splitFirst(candidates, first)
  const { length } = record.cells
  const isEnded = record.cells.slice(columns.length).join('') === ''
  if (length === columns.length || (length > columns.length && isEnded) || first === '') {
    return { ...form, columns, lines: 0, rest: text }
  }
  const shown = JSON.stringify(first.slice(0, Math.min(record.end, 60)))
  throw new OperatorError(
    `${name} begins with ${shown}, which has ${countOf(length, 'cell')}, but --columns names ` +
      `${columns.length}; name each column once`,
  )
}

/** The first record of a text, in the form whose delimiter is outside quotes most often. */
function splitFirst(candidates: readonly CsvForm[], text: string) {
  return candidates
    .map((form) => ({ form, record: splitRecord(text, 0, form) }))
    .reduce((a, b) => (soundCells(b.record) > soundCells(a.record) ? b : a))
}

/** The number of cells, up to one with a fault. */
function soundCells({ cells, faultyCell }: CsvRecord): number {
  return faultyCell === undefined ? cells.length : faultyCell + 1
}

function refuseText(name: string, record: CsvRecord, text: string): void {
  if (text.includes('\0')) {
    throw new OperatorError(`${name}: the header contains a NUL character; is this a text file?`)
  }
  const { cells, isOpen } = record
  const faultyCell = isOpen ? cells.length - 1 : record.faultyCell
  if (faultyCell !== undefined) {
    const fault = isOpen ? 'a quote is not closed' : 'text follows a closing quote'
    const cell = (cells[faultyCell] ?? '').trim().slice(0, 40)
    throw new OperatorError(
      `${name}: in the header, ${fault} in column ${faultyCell + 1}, ${JSON.stringify(cell)}; ` +
        `correct it in the file; ${ifQuotes}`,
    )
  }
  if (text.length >= headerLengthMax) {
    throw new OperatorError(`${name}: the header is longer than ${headerLengthMax >> 20} MiB`)
  }
}

function refuseNames(name: string, columns: readonly string[], skipped: number): void {
  const [title = '', ...others] = columns
  if (others.length > 1 && title !== '' && others.every((column) => column === '')) {
    throw new OperatorError(
      `${name}: of ${columns.length} columns, only the first has a name, ` +
        `${JSON.stringify(title.slice(0, 40))}; if that is a title, ` +
        `add --skip-lines ${skipped + 1}`,
    )
  }
  const orName = `or name all columns: --skip-lines ${skipped + 1} --columns NAMES`
  const nameless = columns.indexOf('')
  const like = likeNames(nameless < 0 ? columns : columns.slice(0, nameless))
  if (like !== undefined) {
    const [other, column] = like
    const fault =
      other === column
        ? `has the column ${column} twice`
        : `has ${other} and ${column}, which differ only in case`
    const advice = /^[\d.,-]+$/.test(column)
      ? 'it looks like data: name the columns with --columns'
      : `rename one of the two in the file, ${orName}`
    throw new OperatorError(`${name}: the header ${fault}; ${advice}`)
  }
  if (nameless < 0) return
  const before = columns[nameless - 1]
  const place = before === undefined ? '' : `, after ${before},`
  throw new OperatorError(
    `${name}: column ${nameless + 1} of the header${place} has no name; give each column one in ` +
      `the file, ${orName}`,
  )
}
