// Reads CSV and TSV: the header, then the rows, each with its number.
//
// Memory is bounded by the longest record that is accepted.

import { OperatorError } from '../config/operator-error.ts'
import { countOf } from '../text/format-count.ts'
import {
  columnName,
  type CsvHeader,
  headerLengthMax,
  ifQuotes,
  nameColumns,
  parseHeader,
} from './csv-header.ts'
import { type CsvForm, type CsvRecord, linesIn, recordsOf } from './csv-record.ts'
import { type PlacedRow, Refusal, type Rows, type SourceRow } from './refusal.ts'
import type { SourceFile } from './source-file.ts'
import { decodeUtf8 } from './encoding.ts'
import { startingWith } from './file-content.ts'

/** The longest record, in bytes. */
export const recordBytesMax = 16 << 20

/**
 * Reads the rows of a file. Their numbers count from 1 on; blank lines and repeated headers do not
 * count.
 *
 * @param at the index of the file.
 * @param onColumns receives the names of the columns; throws if they are wrong.
 * @throws OperatorError for a faulty header, text that is not UTF-8, a record that is too long, or
 *   a quote that is not closed.
 */
export async function* readCsv(
  file: SourceFile,
  chunks: AsyncIterable<Buffer>,
  at: number,
  onColumns: (columns: readonly string[]) => void,
): AsyncGenerator<Rows> {
  const { name, options } = file
  const { skippedLines = 0, columns } = options
  const texts = decodeUtf8(name, skippedLines + 1, withoutLines(chunks, skippedLines))
  try {
    const start = await startOf(texts)
    const forms = formsOf(file)
    const header =
      columns === undefined
        ? parseHeader(name, forms, start, skippedLines)
        : nameColumns(name, forms, start, columns)
    onColumns(header.columns)
    const read = rowReader(name, header, skippedLines + header.lines + 1)
    let held = ''
    // To look at a long record again after each chunk would take quadratic time.
    let lengthNext = 0
    for await (const text of inParts(startingWith(header.rest, texts))) {
      held += text
      if (held.length < lengthNext) continue
      const { rows, end } = read(held, at, false)
      held = held.slice(end)
      lengthNext = Math.min(2 * held.length, recordBytesMax)
      if (rows.length > 0) yield rows
    }
    yield read(held, at, true).rows
  } finally {
    // An open pipe would hold up the process.
    await texts.return(undefined)
  }
}

const [newline, carriageReturn] = [0x0a, 0x0d]

/** Chunks without the first lines, which end with LF, CRLF or CR. */
async function* withoutLines(chunks: AsyncIterable<Buffer>, lines: number): AsyncGenerator<Buffer> {
  let left = lines
  let isAfterReturn = false
  for await (const chunk of chunks) {
    let at = 0
    for (; at < chunk.length && (left > 0 || isAfterReturn); at++) {
      const byte = chunk[at]
      if (isAfterReturn && byte === newline) {
        isAfterReturn = false
        continue
      }
      isAfterReturn = byte === carriageReturn && left > 0
      if (left === 0) break
      if (byte === newline || byte === carriageReturn) left -= 1
    }
    if (at < chunk.length) yield at === 0 ? chunk : chunk.subarray(at)
  }
}

/** The start of a file, with the whole header, and without a byte order mark. */
async function startOf(texts: AsyncGenerator<string>): Promise<string> {
  let start = ''
  while (start.length < headerLengthMax) {
    const step = await texts.next()
    if (step.done === true) break
    start += step.value
  }
  return start.replace(/^\uFEFF/, '')
}

function formsOf({ format, options }: SourceFile): readonly CsvForm[] {
  const usual = format === 'tsv' ? ['\t'] : [',', ';', '\t', '|']
  const delimiters = options.delimiter === undefined ? usual : [options.delimiter]
  return delimiters.map((delimiter) => ({ delimiter, hasQuotes: options.hasQuotes !== false }))
}

/** Most rows of a part are unused before the next garbage collection. */
const partLength = 16 << 10

async function* inParts(texts: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const text of texts) {
    for (let at = 0; at < text.length; at += partLength) yield text.slice(at, at + partLength)
  }
}

/** Makes a function that reads the rows of consecutive texts, and returns where the rest begins. */
function rowReader(name: string, header: CsvHeader, firstLine: number) {
  const { columns } = header
  const rowOf = rowMaker(columns)
  let line = firstLine
  let number = 0
  function refuseLong(text: string): void {
    // Most texts are so short that their bytes need not be counted.
    if (text.length * 3 <= recordBytesMax || Buffer.byteLength(text) <= recordBytesMax) return
    throw new OperatorError(
      `${name}: line ${line} is longer than ${recordBytesMax >> 20} MiB; ` +
        'is a quote before it not closed?',
    )
  }
  return (texts: string, file: number, isWhole: boolean) => {
    const rows: PlacedRow[] = []
    let end = 0
    for (const record of recordsOf(texts, header, isWhole)) {
      const text = texts.slice(record.start, record.end)
      refuseLong(text)
      if (record.isOpen) throw openQuote(name, line)
      // In a file of one column, a blank line is a row without a value.
      const isBlank = columns.length > 1 && record.cells.every((cell) => cell.trim() === '')
      if (!isBlank && !repeatsHeader(record.cells, columns)) {
        number += 1
        const cells = fit(record, text, header, line)
        rows.push({ file, number, row: cells instanceof Refusal ? cells : rowOf(cells) })
      }
      line += linesIn(text)
      end = record.next
    }
    refuseLong(texts.slice(end))
    return { rows, end }
  }
}

function openQuote(name: string, line: number): OperatorError {
  return new OperatorError(
    `${name}: line ${line}: a quote is not closed; close it, or double it if it is part of a ` +
      `text; ${ifQuotes}`,
  )
}

/** Whether a record is the header again, as where files were joined, a byte order mark included. */
function repeatsHeader(cells: readonly string[], columns: readonly string[]): boolean {
  const isLike = columns.every((name, at) => columnName(cells[at] ?? '') === name)
  return isLike && columns.length > 1 && cells.slice(columns.length).join('') === ''
}

/** The cells of a record, or why they do not fit the header. */
function fit(
  { cells, faultyCell }: CsvRecord,
  text: string,
  { columns, delimiter }: CsvHeader,
  line: number,
): readonly string[] | Refusal {
  const { length } = cells
  const refuse = (reason: string) => new Refusal(reason, undefined, text, { line })
  if (faultyCell !== undefined) return refuse(`has text after a closing quote; ${ifQuotes}`)
  if (length === columns.length) {
    const isOther = length > 1 && cells.every((cell) => columns.includes(columnName(cell)))
    const reason = 'has the column names in another order; split the file before this line'
    return isOther ? refuse(reason) : cells
  }
  // Delimiters at the end of each line make surplus empty cells.
  const extra = length - columns.length
  if (extra > 0 && text.endsWith(delimiter.repeat(extra))) return cells.slice(0, -extra)
  const found = countOf(length, 'cell')
  return refuse(`has ${found}, but there are ${columns.length} columns`)
}

/** Makes a function that makes a row of cells, by the names of the columns; empty ones are null. */
function rowMaker(columns: readonly string[]): (cells: readonly string[]) => SourceRow {
  // In a copy of this, a column `__proto__` is one like the others.
  const empty = Object.fromEntries(columns.map((name) => [name, null as string | null]))
  return (cells) => {
    const row = { ...empty }
    for (let at = 0; at < columns.length; at += 1) {
      const cell = cells[at]
      if (cell !== '' && cell !== undefined) row[columns[at] ?? ''] = cell
    }
    return row
  }
}
