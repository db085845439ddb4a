// Finds what parsing JSON loses silently: all but the last of members with one name, and digits of
// long numbers.

import { stringEnd } from '../../text/member-scan.ts'
import { isBeyond } from './exact-number.ts'

const [quote, colon, openBrace] = [0x22, 0x3a, 0x7b]
// The greatest code of a blank; JSON has no other character up to it outside its strings.
const blankMax = 0x20
const [dot, zero, nine, letterE, upperE] = [0x2e, 0x30, 0x39, 0x65, 0x45]
/** The length of the shortest lost member, `"":1,`. */
const lostLengthMin = 5
/** A longer text that is rounded to a number of at most this length loses as much. */
const shortLengthMax = 11
/** A number with at most this many digits and no exponent is exact. */
const exactDigitsMax = 15

/**
 * Whether an object has a member twice, or a number may have been rounded.
 *
 * @param text the JSON texts of the values, with a character between them.
 * @param bytes the text as UTF-8.
 */
export function mayHaveLost(text: string, values: readonly object[], bytes: Uint8Array): boolean {
  // Where blanks follow colons, the length of a text says nothing.
  const isSpaced = text.charCodeAt(text.indexOf(':') + 1) <= blankMax
  return (isSpaced || isLonger(text, values)) && mayDiffer(bytes, values)
}

/** Whether a text is longer than its values need; this is faster to find than its members. */
function isLonger(text: string, values: readonly object[]): boolean {
  // In the brackets of an array, the text would have two characters more.
  const spare = text.length + 2 - shortestLength(values)
  return !(spare < lostLengthMin)
}

/** The length of the shortest JSON text of a value; NaN if it has a number that may be rounded. */
function shortestLength(value: unknown): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value === 'number') return shortestNumber(value)
  if (typeof value !== 'object' || value === null) return String(value).length
  // Each bracket or comma.
  let length = 1
  if (Array.isArray(value)) {
    for (const element of value) length += shortestLength(element) + 1
    return Math.max(length, 2)
  }
  const members = value as Readonly<Record<string, unknown>>
  for (const name in members) {
    const inner = members[name]
    // A name has quotes and a colon.
    length += name.length + 4
    length += typeof inner === 'string' ? inner.length + 2 : shortestLength(inner)
  }
  return Math.max(length, 2)
}

/** The same for a number. */
function shortestNumber(value: number): number {
  // Texts that are rounded to zero have at least six characters.
  if (value === 0) return 1
  const text = String(value)
  const size = Math.abs(value)
  if (size < 0.01 || isBeyond(size) || text.length > shortLengthMax) return NaN
  // `1.23e+5` may be written as `123e3`.
  return text.endsWith('000') ? value.toExponential().length - 2 : text.length
}

/** Whether a text has other members than its values, or a number that may have been rounded. */
function mayDiffer(bytes: Uint8Array, values: readonly object[]): boolean {
  let members = 0
  let objects = 0
  let digits = 0
  for (let at = 0; at < bytes.length; at += 1) {
    const code = bytes[at] as number
    if (code === quote) {
      at = stringEnd(bytes, at + 1)
    } else if ((code >= zero && code <= nine) || code === dot) {
      digits += 1
      if (digits > exactDigitsMax) return true
    } else {
      if (digits > 0 && (code === letterE || code === upperE)) return true
      digits = 0
      if (code === colon) members += 1
      else if (code === openBrace) objects += 1
    }
  }
  // Reading each value takes several times as long as counting the names.
  const membersOf = objects === values.length ? namesOf : membersWithin
  for (const value of values) members -= membersOf(value)
  return members !== 0
}

function namesOf(value: object): number {
  let names = 0
  for (const _ in value) names += 1
  return names
}

/** The members of all objects in a value. */
function membersWithin(value: object): number {
  let members = Array.isArray(value) ? 0 : namesOf(value)
  for (const inner of Object.values(value)) {
    if (typeof inner === 'object' && inner !== null) members += membersWithin(inner as object)
  }
  return members
}
