// Finds a member that a JSON object has twice: parsing would silently keep the last one.
//
// Almost no row has one, and a scan of each would slow imports down. But a text with a doubled
// member is longer than its value needs, so only a text of another length is scanned.

const quote = 0x22
const backslash = 0x5c
const colon = 0x3a
const letterU = 0x75
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d
// The greatest code of a blank; JSON has no other character up to it outside its strings.
const blankMax = 0x20

/**
 * The name of a member that one object in a JSON text has twice; undefined if there is none.
 *
 * @param value what the text was parsed as.
 */
export function doubledMember(text: string, value: object): string | undefined {
  // Most programs write either no blanks, or one after each colon and comma.
  const gap = text.charCodeAt(text.indexOf(':') + 1) === blankMax ? 1 : 0
  const lineEnd = text.charCodeAt(text.length - 1) <= blankMax ? 1 : 0
  const needed = lengthOf(value, gap) + escapesLength(text) + lineEnd
  return needed === text.length ? undefined : scan(text)
}

/** By how much escapes such as `\n` and `\u00e9` lengthen a JSON text. */
function escapesLength(text: string): number {
  let length = 0
  for (let at = text.indexOf('\\'); at >= 0; at = text.indexOf('\\', at + 2)) {
    length += text.charCodeAt(at + 1) === letterU ? 5 : 1
  }
  return length
}

/** The length of a value as JSON without escaped characters. */
function lengthOf(value: unknown, gap: number): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null) return String(value).length
  // Each bracket or comma, and the blank after a comma.
  let length = 1 - gap
  if (Array.isArray(value)) {
    for (const element of value) length += lengthOf(element, gap) + 1 + gap
    return value.length === 0 ? 2 : length
  }
  const members = value as Readonly<Record<string, unknown>>
  let isEmpty = true
  for (const name in members) {
    const inner = members[name]
    isEmpty = false
    // A name has quotes, a colon and a gap.
    length += name.length + 4 + 2 * gap
    length += typeof inner === 'string' ? inner.length + 2 : lengthOf(inner, gap)
  }
  return isEmpty ? 2 : length
}

/** Scans a valid JSON text. */
function scan(text: string): string | undefined {
  // The names of each object around the current place; undefined for an array.
  const around: (Set<string> | undefined)[] = []
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === openBrace) around.push(new Set())
    else if (code === openBracket) around.push(undefined)
    else if (code === closeBrace || code === closeBracket) around.pop()
    else if (code === quote) {
      const end = stringEnd(text, at)
      const names = around.at(-1)
      let next = end + 1
      while (text.charCodeAt(next) <= blankMax) next += 1
      if (names !== undefined && text.charCodeAt(next) === colon) {
        const name = parseName(text.slice(at, end + 1))
        if (names.has(name)) return name
        names.add(name)
      }
      at = end
    }
  }
  return undefined
}

/** The place of the quote that ends the string which begins at `start`. */
function stringEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); ; end = text.indexOf('"', end + 1)) {
    let first = end
    while (text.charCodeAt(first - 1) === backslash) first -= 1
    if ((end - first) % 2 === 0) return end
  }
}

function parseName(quoted: string): string {
  return quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1)
}
