// How many columns of a terminal a text takes: one for most characters, two for those of East Asian
// scripts and for emoji, none for marks that are drawn onto the character before them.

/** The columns that a text takes; it has no control characters. */
export function displayWidth(text: string): number {
  if (ascii.test(text)) return text.length
  let width = 0
  for (const { segment } of graphemes.segment(text)) width += widthOfGrapheme(segment)
  return width
}

/** The text with blanks after it, up to a width in columns. */
export function padToWidth(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - displayWidth(text)))
}

const ascii = /^[\x20-\x7e]*$/
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

function widthOfGrapheme(grapheme: string): number {
  // However many characters an emoji is put together from, such as a family or a flag.
  if (emoji.test(grapheme)) return 2
  let width = 0
  for (const character of grapheme) {
    if (!zeroWidth.test(character)) width += wide.test(character) ? 2 : 1
  }
  return width
}

// U+FE0F asks for the picture of a character that has a plain form, too.
const emoji = /\p{Emoji_Presentation}|\p{Emoji}\uFE0F/u

// Marks and format characters, but for the soft hyphen and the signs that stand before digits in
// Arabic and Syriac; the vowels and final consonants of a Hangul syllable that is spelled out.
const zeroWidth =
  /(?![\xad\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2])[\p{Mn}\p{Me}\p{Cf}\u1160-\u11ff\ud7b0-\ud7ff]/u

// East_Asian_Width W and F of Unicode 17 (UAX 11), but for emoji; unassigned characters between
// them count as their neighbours do.
const wide = new RegExp(
  '[\u1100-\u115f\u2329\u232a\u2630-\u2637\u268a-\u268f\u2e80-\u303e\u3041-\u3247\u3250-\ua4cf' +
    '\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6' +
    '\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{1d300}-\u{1d37f}\u{1f200}-\u{1f265}' +
    '\u{20000}-\u{3fffd}]',
  'u',
)
