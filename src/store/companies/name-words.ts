// The words of names, by which companies are found (contract 8.3). They are extracted here and not
// in the database, so that every store has the same words. Stores keep an index of them, and lists
// of what is withheld have hashes of folded words, so changes of these rules must raise the formats
// of both.

/** Longer words count by their beginning only; in UTF-16 code units. */
const wordLengthMax = 40
/** How many different words of a name count. */
const wordsMax = 128

const ascii = /^[\0-\x7f]*$/
const asciiRuns = /[a-z0-9]+/g
const marks = /\p{M}+/gu
const runs = /[\p{L}\p{Nd}]+/gu

// Letters that Unicode does not decompose, but that people type without the stroke, or as two.
const plainLetters: Readonly<Record<string, string>> = {
  đ: 'd',
  ð: 'd',
  ħ: 'h',
  ł: 'l',
  ø: 'o',
  ŧ: 't',
  æ: 'ae',
  œ: 'oe',
  þ: 'th',
  ς: 'σ',
  // Only that of ẞ is left, which is its own upper case: that of ß is SS.
  ß: 'ss',
}
const plainLetter = /[đðħłøŧæœþςß]/g

/**
 * A run of scripts that are written without blanks between words, or, as Korean, often are. It
 * does not begin with a mark: Thai has the tilde, too, which Latin letters may have.
 */
const dense =
  /((?!\p{M})[\p{M}\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}]+)/u

/**
 * The words of a name, each once: of a text without blanks between words, such as Chinese or
 * Korean, every character and every pair of neighbours.
 */
export function wordsOfName(name: string): readonly string[] {
  return distinct(wordsOf(name, (characters) => [...characters, ...pairsOf(characters)]))
}

/**
 * The apostrophe that is a letter. It stands alone as a word, since Thai has it, too. Others, which
 * people type for it, separate words.
 */
const letterApostrophe = '\u02bc'

/**
 * The words of a query, each once; the last one may be the beginning of a word, so it may also be
 * among those before it. In a text without blanks, the pairs of neighbours, or the only character.
 * Any apostrophe finds every other one.
 */
export function wordsOfQuery(query: string): readonly string[] {
  const all = wordsOf(query, (characters) =>
    characters.length === 1 ? characters : pairsOf(characters),
  ).filter((word) => word !== letterApostrophe)
  const last = all.pop()
  const words = distinct(all)
  return last === undefined || words.length === wordsMax ? words : [...words, last]
}

/** Whether a name has all words of a query, the last one as the beginning of a word. */
export function hasWords(name: string, words: readonly string[]): boolean {
  if (name.length <= shortMax && ascii.test(name)) return hasPlainWords(name.toLowerCase(), words)
  const own = wordsOfName(name)
  const beginning = words.at(-1) ?? ''
  return (
    own.some((word) => word.startsWith(beginning)) &&
    words.every((word, at) => at === words.length - 1 || own.includes(word))
  )
}

/** A name of up to this many UTF-16 code units has at most `wordsMax` words. */
const shortMax = 2 * wordsMax - 1

/** As `hasWords`, for a short name in lowercase ASCII, without cutting it into words. */
function hasPlainWords(name: string, words: readonly string[]): boolean {
  return words.every((word, at) => {
    // A word of the maximum length may have been cut.
    const isBeginning = at === words.length - 1 || word.length === wordLengthMax
    for (let from = name.indexOf(word); from >= 0; from = name.indexOf(word, from + 1)) {
      const isWhole = isBeginning || !isWordCode(name.charCodeAt(from + word.length))
      if (isWhole && !isWordCode(name.charCodeAt(from - 1))) return true
    }
    return false
  })
}

/** Whether a UTF-16 code unit, or NaN past the end of a text, is one of a to z or 0 to 9. */
function isWordCode(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39)
}

type Cut = (dense: readonly string[]) => readonly string[]

function wordsOf(text: string, cut: Cut): string[] {
  const all = ascii.test(text) ? (text.toLowerCase().match(asciiRuns) ?? []) : cutFolded(text, cut)
  return all.map((word) =>
    word.length > wordLengthMax ? word.slice(0, wordLengthMax).toWellFormed() : word,
  )
}

/** The first words that count. */
function distinct(words: readonly string[]): string[] {
  // Most names have few words, and none of them twice.
  const found: string[] = []
  for (const word of words) {
    if (found.includes(word)) continue
    found.push(word)
    if (found.length === wordsMax) break
  }
  return found
}

function cutFolded(text: string, cut: Cut): string[] {
  const words = fold(text).match(runs) ?? []
  if (!words.some(isDense)) return words
  return words
    .flatMap(splitDense)
    .flatMap((part) => (isDense(part) ? cut(Array.from(part)) : [part]))
}

/** Whether a text has characters of scripts that are written without blanks between words. */
export const isDense = (text: string): boolean => dense.test(text)

/** A run of letters, cut where such scripts begin and end. */
export function splitDense(run: string): readonly string[] {
  // Between the other parts, `split` keeps what the group captures.
  return run.split(dense).filter((part) => part !== '')
}

/** Compatible letters without marks, in lower case. */
export function fold(text: string): string {
  const bare = text.normalize('NFKD').replace(marks, '')
  // Upper case first: it makes ß SS, and ı I. Then Korean syllables are put together again.
  const lower = bare.toUpperCase().toLowerCase()
  return lower.replace(plainLetter, (letter) => plainLetters[letter] ?? '').normalize('NFC')
}

function pairsOf(characters: readonly string[]): string[] {
  return characters.slice(1).map((character, at) => `${characters[at] ?? ''}${character}`)
}
