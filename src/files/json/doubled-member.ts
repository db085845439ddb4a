// Finds what parsing JSON loses silently: all but the last of members with one name, and digits of
// long numbers; and texts that `JSON.stringify` would write again, which need not be written.

const [quote, backslash, colon, openBrace] = [0x22, 0x5c, 0x3a, 0x7b]
const [dot, minus, zero, nine, smallE] = [0x2e, 0x2d, 0x30, 0x39, 0x65]
const [newline, blankMax] = [0x0a, 0x20]
/** Shorter numbers without an exponent are exact, with their point. */
const digitsMax = 15

/**
 * How JSON texts are written: `suspect` if an object may have a member twice, or a number may have
 * been rounded; `plain` if `JSON.stringify` writes their values in the same way, except for members
 * that are named by numbers, which it puts first.
 */
export type Writing = 'suspect' | 'plain' | 'other'

/** @param bytes the JSON texts of the values, with a newline between them, as UTF-8. */
export function writingOf(values: readonly object[], bytes: Uint8Array): Writing {
  let members = 0
  let objects = 0
  let isPlain = true
  // Of the number at the current place, with its point.
  let digits = 0
  for (let at = 0; at < bytes.length; at += 1) {
    const code = bytes[at] ?? 0
    if ((code >= zero && code <= nine) || code === dot) {
      digits += 1
      if (digits > digitsMax) return 'suspect'
      if (code === dot) isPlain = false
      continue
    }
    // An exponent: `true` and `false` have no digit before their e.
    if (digits > 0 && (code | 0x20) === smallE) return 'suspect'
    digits = 0
    if (code === quote) {
      // Strings are short, so that this is faster than a search.
      for (at += 1; at < bytes.length; at += 1) {
        const inner = bytes[at]
        if (inner === quote) break
        if (inner === backslash) {
          isPlain = false
          at += 1
        }
      }
    } else if (code === colon) members += 1
    else if (code === openBrace) objects += 1
    // There is a zero with a minus, which is written without it.
    else if (code === minus || (code <= blankMax && code !== newline)) isPlain = false
  }
  // Reading each value takes several times as long as counting the names.
  const membersOf = objects === values.length ? namesOf : membersWithin
  for (const value of values) members -= membersOf(value)
  if (members !== 0) return 'suspect'
  return isPlain ? 'plain' : 'other'
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
