// How deep JSON may go: what parses it minds no depth, but what writes it does.

/** Levels of lists and objects in a row that is read. */
export const nestingMax = 1_000

const [quote, backslash] = [0x22, 0x5c]

/** Whether a JSON text goes deeper than `nestingMax`. */
export function isNestedTooDeep(text: string): boolean {
  // Each level takes two characters; most rows are shorter.
  if (text.length < 2 * nestingMax) return false
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
