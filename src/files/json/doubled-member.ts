// Finds a member that a JSON object has twice: parsing would silently keep the last one.
//
// Almost no row has one, and a scan of each would slow imports down. But a text with a doubled
// member is longer than its value needs, so only a text of another length is scanned. So is that of
// a number that was rounded, unless it is as long as the double itself.

import { createMemberScan } from '../../text/member-scan.ts'

const letterU = 0x75
// The greatest code of a blank; JSON has no other character up to it outside its strings.
const blankMax = 0x20

/**
 * The name of a member that one object in a JSON text has twice; undefined if there is none.
 *
 * @param value what the text was parsed as.
 */
export function doubledMember(text: string, value: object): string | undefined {
  const rules = { hasEscapes: true, lengthMax: Infinity }
  const line = text.includes('\t') ? withoutIndents(text) : text
  if (!isLonger(line, 0, line.length, value, rules)) return undefined
  return createMemberScan()(Buffer.from(text))?.name
}

/** A text without its line ends, which are tabs here (`createArrayWalk`); no string has one. */
function withoutIndents(text: string): string {
  return text.replaceAll(/,\r?\t[\t ]*/g, ', ').replaceAll(/\r?\t[\t ]*/g, '')
}

/**
 * Whether an object may have a member twice, or a number that parsing has rounded.
 *
 * @param text the JSON texts of the values, each on a line of its own.
 */
export function mayHaveLost(text: string, values: readonly object[]): boolean {
  const rules = { hasEscapes: text.includes('\\'), lengthMax: exactLengthMax }
  let from = 0
  // Line by line: what one is too long must not make up for what another one is too short.
  for (const value of values) {
    const end = text.indexOf('\n', from)
    const to = end < 0 ? text.length : end
    if (isLonger(text, from, to, value, rules)) return true
    from = to + 1
  }
  return from <= text.length
}

/** Whether the text of a value, from one place to another, is not as long as the value needs. */
function isLonger(
  text: string,
  from: number,
  to: number,
  value: object,
  { hasEscapes, lengthMax }: { readonly hasEscapes: boolean; readonly lengthMax: number },
): boolean {
  // Most programs write either no blanks, or one after each colon and comma.
  const gap = text.charCodeAt(text.indexOf(':', from) + 1) === blankMax ? 1 : 0
  const lineEnd = text.charCodeAt(to - 1) <= blankMax ? 1 : 0
  const escapes = hasEscapes ? escapesLength(text.slice(from, to)) : 0
  return lengthOf(value, gap, lengthMax) + escapes + lineEnd !== to - from
}

/** By how much escapes such as `\n` and `\u00e9` lengthen a JSON text. */
function escapesLength(text: string): number {
  let length = 0
  for (let at = text.indexOf('\\'); at >= 0; at = text.indexOf('\\', at + 2)) {
    length += text.charCodeAt(at + 1) === letterU ? 5 : 1
  }
  return length
}

/** No number of so many characters was rounded from a text of as many. */
const exactLengthMax = 15

/** The length of a value as JSON without escaped characters; NaN if it has a longer number. */
function lengthOf(value: unknown, gap: number, lengthMax: number): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value === 'number') {
    const { length } = String(value)
    return length > lengthMax ? NaN : length
  }
  if (typeof value !== 'object' || value === null) return String(value).length
  // Each bracket or comma, and the blank after a comma.
  let length = 1 - gap
  if (Array.isArray(value)) {
    for (const element of value) length += lengthOf(element, gap, lengthMax) + 1 + gap
    return value.length === 0 ? 2 : length
  }
  const members = value as Readonly<Record<string, unknown>>
  let isEmpty = true
  for (const name in members) {
    const inner = members[name]
    isEmpty = false
    // A name has quotes, a colon and a gap.
    length += name.length + 4 + 2 * gap
    length += typeof inner === 'string' ? inner.length + 2 : lengthOf(inner, gap, lengthMax)
  }
  return isEmpty ? 2 : length
}
