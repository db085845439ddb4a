// Formats tables, texts of a register, and times for people.

import { formatCount } from '../text/format-count.ts'
import { printable } from '../text/printable.ts'

/** Formats rows of cells as lines, with columns aligned on a terminal. */
export function tableLines(rows: readonly (readonly string[])[]): string[] {
  const shown = rows.map((row) => row.map(printable))
  const widths = shown.reduce<number[]>(
    (max, row) => row.map((cell, index) => Math.max(max[index] ?? 0, displayWidth(cell))),
    [],
  )
  return shown.map((row) =>
    row
      .map((cell, index) => padToWidth(cell, widths[index] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

/** Formats counts by their names. */
export function countLines(counts: readonly (readonly [name: string, count: number])[]): string[] {
  return tableLines(counts.map(([name, count]) => [`  ${name}`, formatCount(count).padStart(14)]))
}

/** Puts text from a register on one line: line breaks and tabs become spaces. */
export function oneLine(text: string): string {
  return text.replace(/[\t-\r\x85\u2028\u2029]+/g, ' ')
}

/** The day of a moment in milliseconds since 1970, UTC. */
export function formatDay(moment: number): string {
  return new Date(moment).toISOString().slice(0, 10)
}

/** A moment in milliseconds since 1970, to the second, UTC. */
export function formatMoment(moment: number): string {
  return new Date(moment).toISOString().slice(0, 19).replace('T', ' ')
}

/**
 * The width of a text without control characters in columns of a terminal: one for most characters,
 * two for those of East Asian scripts and for emoji, none for combining marks.
 */
export function displayWidth(text: string): number {
  if (ascii.test(text)) return text.length
  return Array.from(text.replace(zeroWidth, '').replace(wide, '  ')).length
}

/** Pads a text with spaces to a width in columns. */
function padToWidth(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - displayWidth(text)))
}

const ascii = /^[\x20-\x7e]*$/

// Marks and format characters, except the soft hyphen; also the vowels and final consonants of
// decomposed Hangul syllables.
const zeroWidth = /(?!\xad)[\p{Mn}\p{Me}\p{Cf}\u1160-\u11ff]/gu

// Halfwidth forms are as narrow as letters.
const wide =
  /(?![\uff61-\uffdc])[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\u3000-\u303f\uff01-\uffe6\p{Emoji_Presentation}]/gu
