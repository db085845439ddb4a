// Finds what parsing JSON loses silently: all but the last of members with one name, and digits of
// long numbers.

import { stringEnd } from '../../text/member-scan.ts'

const [quote, colon, openBrace] = [0x22, 0x3a, 0x7b]
const [dot, zero, nine, smallE] = [0x2e, 0x30, 0x39, 0x65]
/** Shorter numbers without an exponent are exact, with their point. */
const digitsMax = 15

/**
 * Whether an object has a member twice, or a number may have been rounded.
 *
 * @param bytes the JSON texts of the values, with a character between them, as UTF-8.
 */
export function mayHaveLost(values: readonly object[], bytes: Uint8Array): boolean {
  let members = 0
  let objects = 0
  // Of the number at the current place, with its point.
  let digits = 0
  for (let at = 0; at < bytes.length; at += 1) {
    const code = bytes[at] ?? 0
    if ((code >= zero && code <= nine) || code === dot) {
      digits += 1
      if (digits > digitsMax) return true
      continue
    }
    // An exponent: `true` and `false` have no digit before their e.
    if (digits > 0 && (code | 0x20) === smallE) return true
    digits = 0
    if (code === quote) at = stringEnd(bytes, at + 1)
    else if (code === colon) members += 1
    else if (code === openBrace) objects += 1
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
