// Escapes characters that a terminal would interpret, or that reorder the text it shows.

/**
 * Escapes control characters (C0, DEL, C1), bidirectional controls, line and paragraph separators
 * and lone surrogates as `\x1b` or `\u202e`. Text that is already escaped is unchanged.
 */
export function printable(text: string): string {
  return text.replace(unsafe, escaped)
}

/** The same for text of several lines: line feeds are kept. */
export function printableLines(text: string): string {
  return text.replace(unsafeInLine, escaped)
}

/** JSON text with the same meaning, with each such character written as `\u009b`. */
export function printableJson(json: string): string {
  return json.replace(unsafe, (character) => `\\u${hex(character, 4)}`)
}

const unsafe = /[\p{Cc}\p{Cs}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu
const unsafeInLine = /(?!\n)[\p{Cc}\p{Cs}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu

const short: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

function escaped(character: string): string {
  const isByte = character.charCodeAt(0) <= 0xff
  return short[character] ?? (isByte ? `\\x${hex(character, 2)}` : `\\u${hex(character, 4)}`)
}

function hex(character: string, digits: number): string {
  return character.charCodeAt(0).toString(16).padStart(digits, '0')
}
