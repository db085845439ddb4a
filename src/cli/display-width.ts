// The width of a text in terminal columns: one for most characters, two for those of East Asian
// scripts and for emoji, none for combining marks.

/** The width of a text without control characters, in columns. */
export function displayWidth(text: string): number {
  if (ascii.test(text)) return text.length
  let width = 0
  // Created when needed: it loads tables for 20 ms, and most commands print ASCII.
  graphemes ??= new Intl.Segmenter('en', { granularity: 'grapheme' })
  for (const { segment } of graphemes.segment(text)) width += widthOfGrapheme(segment)
  return width
}

/** Pads a text with spaces to a width in columns. */
export function padToWidth(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - displayWidth(text)))
}

const ascii = /^[\x20-\x7e]*$/
let graphemes: Intl.Segmenter | undefined

function widthOfGrapheme(grapheme: string): number {
  // An emoji may consist of several characters, such as a family or a flag.
  if (emoji.test(grapheme)) return 2
  let width = 0
  for (const character of grapheme) {
    if (!zeroWidth.test(character)) width += wide.test(character) ? 2 : 1
  }
  return width
}

// U+FE0F selects the emoji form of a character that also has a text form.
const emoji = /\p{Emoji_Presentation}|\p{Emoji}\uFE0F/u

// Marks and format characters, except the soft hyphen and the signs that precede digits in Arabic
// and Syriac; also the vowels and final consonants of decomposed Hangul syllables.
const zeroWidth =
  /(?![\xad\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2])[\p{Mn}\p{Me}\p{Cf}\u1160-\u11ff\ud7b0-\ud7ff]/u

// East_Asian_Width W and F of Unicode 17 (UAX 11), except emoji; unassigned characters between them
// count like their neighbours.
const wide = new RegExp(
  '[\u1100-\u115f\u2329\u232a\u2630-\u2637\u268a-\u268f\u2e80-\u303e\u3041-\u3247\u3250-\ua4cf' +
    '\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6' +
    '\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{1d300}-\u{1d37f}\u{1f200}-\u{1f265}' +
    '\u{20000}-\u{3fffd}]',
  'u',
)
