// Limits the nesting of JSON: parsing copes with any depth, but serialising does not.

/** The maximum nesting of arrays and objects in a row. */
export const nestingMax = 1_000

const [quote, backslash] = [0x22, 0x5c]

/** Whether a text of this length may be: each level takes two characters, and most are shorter. */
export const mayNestTooDeep = (length: number): boolean => length >= 2 * nestingMax

/** Whether a JSON text is nested deeper than `nestingMax`. */
export function isNestedTooDeep(text: string): boolean {
  if (!mayNestTooDeep(text.length)) return false
  let depth = 0
  let isInString = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) isInString = !isInString
    else if (isInString) {
      if (code === backslash) at += 1
    } else if (code === 0x5b || code === 0x7b) {
      depth += 1
      if (depth > nestingMax) return true
    } else if (code === 0x5d || code === 0x7d) depth -= 1
  }
  return false
}
