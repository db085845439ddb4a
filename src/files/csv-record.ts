// Splits CSV and TSV into records, and records into cells. A quote opens a cell only at the cell's
// start, and lines end with LF, CRLF or CR.

import type { SourceFile } from './source-file.ts'

/** Whether a file is CSV or TSV. */
export const isCsv = ({ format }: SourceFile) => format === 'csv' || format === 'tsv'

/** What is between cells and around them. */
export interface CsvForm {
  readonly delimiter: string
  /** Whether a quote opens a cell; else it is a character like any other. */
  readonly hasQuotes: boolean
}

/** A record of a text. */
export interface CsvRecord {
  readonly cells: readonly string[]
  readonly start: number
  /** Where it ends, without its line end. */
  readonly end: number
  /** Where the next one begins. */
  readonly next: number
  /** The index of the first cell with text after its closing quote. */
  readonly faultyCell?: number | undefined
  /** Whether nothing closes the quote of its last cell. */
  readonly isOpen?: boolean
}

/**
 * The records of a text.
 *
 * @param isWhole whether the text ends with its last record; if not, that record is left out if it
 *   may continue.
 */
export function* recordsOf(text: string, form: CsvForm, isWhole: boolean): Generator<CsvRecord> {
  let newline = -1
  let carriageReturn = -1
  for (let start = 0; start < text.length;) {
    if (newline < start) newline = find(text, '\n', start)
    if (carriageReturn < start) carriageReturn = find(text, '\r', start)
    const end = Math.min(newline, carriageReturn)
    const line = text.slice(start, end)
    // Most lines have no quotes, and this is faster.
    const mayBeQuoted = form.hasQuotes && line.includes('"')
    const record = mayBeQuoted
      ? splitRecord(text, start, form)
      : { cells: line.split(form.delimiter), start, end, next: nextLine(text, end) }
    const mayGoOn = record.isOpen || (record.next === text.length && !text.endsWith('\n'))
    if (mayGoOn && !isWhole) return
    yield record
    start = record.next
  }
}

/** The place of a character; the end of the text if it does not occur. */
function find(text: string, character: string, start: number): number {
  const at = text.indexOf(character, start)
  return at < 0 ? text.length : at
}

/** The record that begins at `start`; without a line end, it ends with the text. */
export function splitRecord(
  text: string,
  start: number,
  { delimiter, hasQuotes }: CsvForm,
): CsvRecord {
  const cells: string[] = []
  let faultyCell: number | undefined
  for (let at = start; ; at += 1) {
    const open = skipBlanks(text, at)
    let end: number
    if (hasQuotes && text[open] === '"') {
      const close = closingQuote(text, open)
      cells.push(withSingleQuotes(text.slice(open + 1, close)))
      const { length } = text
      if (close === undefined) return { cells, start, end: length, next: length, isOpen: true }
      const after = skipBlanks(text, close + 1)
      end = cellEnd(text, after, delimiter)
      if (end > after) faultyCell ??= cells.length - 1
    } else {
      end = cellEnd(text, open, delimiter)
      cells.push(text.slice(at, end))
    }
    at = end
    if (text[end] === delimiter) continue
    return { cells, start, end, next: nextLine(text, end), faultyCell }
  }
}

/** The text that a quoted cell has between its quotes. */
function withSingleQuotes(text: string): string {
  return replaceInParts(text, /(?:[^"]|""){1,4096}/g, '""', '"')
}

/** A text for a quoted cell. */
export function withDoubleQuotes(text: string): string {
  return replaceInParts(text, /[^]{1,4096}/g, '"', '""')
}

/** `replaceAll` holds dozens of bytes for each place: too much for millions of them. */
function replaceInParts(text: string, part: RegExp, from: string, to: string): string {
  // Searching alone takes less time, and most texts have none.
  if (!text.includes(from)) return text
  if (text.length < 65_536) return text.replaceAll(from, to)
  return (text.match(part) ?? []).map((some) => some.split(from).join(to)).join('')
}

/** How many lines a text has, whatever ends them. */
export function linesIn(text: string): number {
  let lines = 1
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines += 1
  for (let at = text.indexOf('\r'); at >= 0; at = text.indexOf('\r', at + 1)) {
    if (text[at + 1] !== '\n') lines += 1
  }
  return lines
}

function skipBlanks(text: string, start: number): number {
  let at = start
  while (text[at] === ' ') at += 1
  return at
}

/** The place of the quote that closes a cell opened at `open`; doubled quotes are part of it. */
function closingQuote(text: string, open: number): number | undefined {
  for (let at = text.indexOf('"', open + 1); at >= 0; at = text.indexOf('"', at + 2)) {
    if (text[at + 1] !== '"') return at
  }
  return undefined
}

function cellEnd(text: string, start: number, delimiter: string): number {
  for (let at = start; at < text.length; at += 1) {
    const character = text[at]
    if (character === delimiter || character === '\n' || character === '\r') return at
  }
  return text.length
}

function nextLine(text: string, end: number): number {
  if (end === text.length) return end
  return text[end] === '\r' && text[end + 1] === '\n' ? end + 2 : end + 1
}
