// The width of a text in terminal columns: one for most characters, two for those of East Asian
// scripts and for emoji, none for combining marks.

/** The width of a text without control characters, in columns. */
export function displayWidth(text: string): number {
  if (ascii.test(text)) return text.length
  return Array.from(text.replace(zeroWidth, '').replace(wide, '  ')).length
}

/** Pads a text with spaces to a width in columns. */
export function padToWidth(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - displayWidth(text)))
}

const ascii = /^[\x20-\x7e]*$/

// Marks and format characters, except the soft hyphen; also the vowels and final consonants of
// decomposed Hangul syllables.
const zeroWidth = /(?!\xad)[\p{Mn}\p{Me}\p{Cf}\u1160-\u11ff]/gu

// Halfwidth forms are as narrow as letters.
const wide =
  /(?![\uff61-\uffdc])[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\u3000-\u303f\uff01-\uffe6\p{Emoji_Presentation}]/gu
