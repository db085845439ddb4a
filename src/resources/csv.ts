// Records as CSV (RFC 4180), made from their JSON texts without parsing them (contract 11.2).
//
// A JSON string without a backslash is a quoted cell of CSV as it stands, and every record has its
// fields in one order, so most of the work is to find where values end.

import type { Resource } from './resource.ts'

/** Makes CSV of the records of a resource. */
interface CsvWriter {
  /** The names of the fields, as the first line. */
  readonly header: string
  /**
   * @param texts JSON texts of records, joined by commas.
   * @param before the beginning of each line.
   */
  rows(texts: string, before?: string): string
}

const quote = 0x22
const bracket = 0x5b
const letterN = 0x6e
const lineEnd = '\r\n'

export function createCsvWriter({ fields }: Resource): CsvWriter {
  const names = Object.keys(fields)
  /** The length of what precedes each value: a brace or a comma, the name, and a colon. */
  const skips = names.map((name) => name.length + 4)
  return {
    header: names.join(',') + lineEnd,
    rows(texts, before = '') {
      const hasEscapes = texts.includes('\\')
      let lines = ''
      let at = 0
      while (at < texts.length) {
        let comma = before
        for (const skip of skips) {
          at += skip
          const end = endOfValue(texts, at, hasEscapes)
          lines += comma + cellOf(texts, at, end, hasEscapes)
          comma = ','
          at = end
        }
        lines += lineEnd
        // The closing brace, and the comma before the next record.
        at += 2
      }
      return lines
    },
  }
}

function cellOf(texts: string, at: number, end: number, hasEscapes: boolean): string {
  const first = texts.charCodeAt(at)
  const text = texts.slice(at, end)
  if (first === quote) {
    return hasEscapes && text.includes('\\') ? quoted(JSON.parse(text) as string) : text
  }
  if (first === bracket) return quoted(text)
  return text === 'null' ? '' : text
}

function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`
}

/** Where the value that begins at `at` ends. */
function endOfValue(texts: string, at: number, hasEscapes: boolean): number {
  const first = texts.charCodeAt(at)
  if (first === quote) return endOfString(texts, at, hasEscapes)
  if (first === bracket) return endOfList(texts, at, hasEscapes)
  if (first === letterN) return at + 'null'.length
  let end = at + 1
  while (isDigit(texts.charCodeAt(end))) end += 1
  return end
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

function endOfString(texts: string, at: number, hasEscapes: boolean): number {
  let end = texts.indexOf('"', at + 1)
  while (hasEscapes && isEscaped(texts, end)) end = texts.indexOf('"', end + 1)
  return end + 1
}

/** Whether an odd number of backslashes precedes a character. */
function isEscaped(texts: string, at: number): boolean {
  let first = at
  while (texts.charAt(first - 1) === '\\') first -= 1
  return (at - first) % 2 === 1
}

/** Lists have strings only. */
function endOfList(texts: string, at: number, hasEscapes: boolean): number {
  let end = at + 1
  while (texts.charAt(end) !== ']') {
    end = texts.charCodeAt(end) === quote ? endOfString(texts, end, hasEscapes) : end + 1
  }
  return end + 1
}
