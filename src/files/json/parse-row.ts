// Parses the JSON texts of rows, or refuses those that cannot be read.

import { isUtf8 } from 'node:buffer'
import { randomBytes } from 'node:crypto'
import { writingOf } from './doubled-member.ts'
import { inEncodings } from '../encoding-guess.ts'
import { withLongNumbers } from './exact-number.ts'
import { isObject, Refusal, type SourceRow } from '../refusal.ts'
import { doubledMember } from '../../text/member-scan.ts'
import { isNestedTooDeep, mayNestTooDeep, nestingMax } from '../../text/nested-json.ts'

/** The longest accepted row, in bytes: a record with texts of full length is shorter. */
export const rowBytesMax = 8 << 20

/** The refusal of a row that is longer than `rowBytesMax`. */
export function tooLong(): Refusal {
  return new Refusal(`is longer than ${rowBytesMax >> 20} MiB`)
}

/** The refusal of a row that is nested too deep to be serialised again. */
export function tooDeep(text?: string): Refusal {
  return new Refusal(`is nested deeper than ${nestingMax} levels`, undefined, text)
}

function notUtf8(bytes: Buffer): Refusal {
  const reason = 'is not valid UTF-8; choose one of these encodings: --encoding NAME'
  return new Refusal(reason, undefined, inEncodings(bytes))
}

/** Parses a row; refuses anything but a JSON object. */
export function parseRow(bytes: Buffer): SourceRow | Refusal {
  if (bytes.length > rowBytesMax) return tooLong()
  if (!isUtf8(bytes)) return notUtf8(bytes)
  const text = bytes.toString()
  if (isNestedTooDeep(text)) return tooDeep(text)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    if (text.startsWith('\uFEFF')) return new Refusal(marked, undefined, text.slice(1))
    if (text.trim() === ',') return new Refusal('is not JSON: it has an extra comma')
    return notJson(text, error instanceof Error ? error.message : '')
  }
  if (!isObject(value))
    return new Refusal(Array.isArray(value) ? anArray : anyOther, undefined, value)
  if (writingOf([value], bytes) !== 'suspect') return value
  const doubled = doubledMember(bytes)
  if (doubled !== undefined) {
    return new Refusal('occurs twice in the JSON object', doubled, undefined, { row: text })
  }
  return withLongNumbers(text, value) as SourceRow
}

const marked =
  'is not valid JSON: it begins with a byte order mark; if files were joined, name them instead'
const anyOther = 'must be a JSON object'
const toCsv = "jq -r '.[] | @csv', for those in rows '.rows[] | @csv'"
const anArray = `${anyOther}; make CSV of arrays: ${toCsv}`

const shownBefore = 60

/** Rows with the same fault have the same reason; the text around a fault shows where it is. */
function notJson(text: string, message: string): Refusal {
  const why = message.replace(/(?: in JSON)? at position \d[^]*$|, (?:\.{3})?"[^]*$/, '')
  const at = Number(/ at position (\d+)/.exec(message)?.[1] ?? 0)
  const shown = at > shownBefore ? `…${text.slice(at - shownBefore)}` : text
  return new Refusal(`is not valid JSON (${why})`, undefined, shown, { row: text })
}

// What a line in the middle of a value cannot contain, as no file can know it.
const mark = randomBytes(6).toString('hex')
const betweenRows = `,"${mark}",`

/** Rows of lines. */
interface ParsedRows {
  readonly rows: readonly SourceRow[]
  /** Whether `JSON.stringify` would write the lines again. */
  readonly isPlain: boolean
}

/**
 * Parses lines as one text, which takes two thirds of the time of parsing them one by one.
 *
 * @param longest the length of the longest line in bytes.
 * @returns undefined if a line is not a plain JSON object and has to be looked at by itself.
 */
export function parseTogether(lines: Buffer, longest: number): ParsedRows | undefined {
  // A blank line would be no value at all.
  if (lines.length === 0 || mayNestTooDeep(longest) || !isUtf8(lines)) return undefined
  const text = lines.toString()
  let values: readonly unknown[]
  try {
    values = JSON.parse(`[${text.replaceAll('\n', betweenRows)}]`) as unknown[]
  } catch {
    return undefined
  }
  const rows: SourceRow[] = []
  for (let n = 0; n < values.length; n += 1) {
    const value = values[n]
    if (n % 2 === 0) {
      if (!isObject(value)) return undefined
      rows.push(value)
    } else if (value !== mark) return undefined
  }
  const writing = writingOf(rows, lines)
  return writing === 'suspect' ? undefined : { rows, isPlain: writing === 'plain' }
}
