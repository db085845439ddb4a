// Whether texts are Unicode.

/**
 * Whether no text in a value has half of a surrogate pair, which an escape such as `\ud800` makes:
 * it has no UTF-8, so no store has it and no URL can. A value may be too deep for recursion.
 */
export function isWellFormed(value: unknown): boolean {
  const open: unknown[] = [value]
  while (open.length > 0) {
    const one = open.pop()
    if (typeof one === 'string' && !one.isWellFormed()) return false
    if (typeof one !== 'object' || one === null) continue
    for (const name of Array.isArray(one) ? [] : Object.keys(one)) open.push(name)
    for (const inner of Object.values(one)) open.push(inner)
  }
  return true
}
