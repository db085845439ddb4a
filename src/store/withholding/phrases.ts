// Finds people in texts that are about something else, by hashes of the words of their names: so
// the list of what is withheld recognises people without naming them.

import { fold, isDense, splitDense } from '../companies/name-words.ts'
import type { PhraseHash } from './list/entries.ts'
import type { Hasher } from './list/hashes.ts'

/** What takes the place of withheld text (contract 13). */
export const withheldText = '[withheld]'

/** The forms of a value in which its accents may be encoded. */
export const formsOf = (value: string): ReadonlySet<string> =>
  new Set([value, value.normalize('NFC'), value.normalize('NFD')])

/** With soft hyphens, which no reader sees. */
const runs = /[\p{L}\p{N}\p{M}\u00ad]+/gu

/** As JSON has them: changes of attributes that are objects are recorded as JSON. */
const escapes =
  /\\(?:["\\/bfnrt]|u(?:[Dd][89ABab][\dA-Fa-f]{2}\\u[Dd][C-Fc-f][\dA-Fa-f]{2}|[\dA-Fa-f]{4}))/g
/** The same in JSON within JSON, where more backslashes are before each escape. */
const innerEscapes =
  /\\+(?:["\\/bfnrt]|u(?:[Dd][89ABab][\dA-Fa-f]{2}\\+u[Dd][C-Fc-f][\dA-Fa-f]{2}|[\dA-Fa-f]{4}))/g
const wordCharacter = /[\p{L}\p{N}\p{M}\u00ad]/u
/** A mark that no reader sees. */
const filler = '\u034f'

/** A text with the characters of its escapes, each as long as the escape. */
function readEscapes(text: string, escapes: RegExp): string {
  return text.replace(escapes, (escape) => {
    const character = JSON.parse(`"${escape.replace(/\\+(?=.)/g, '\\')}"`) as string
    const isInWord = wordCharacter.test(character)
    return isInWord ? character.padEnd(escape.length, filler) : ' '.repeat(escape.length)
  })
}

/** Shorter phrases would occur in too many other texts. */
const lettersMin = 3
/** The most words of a phrase; a longer value is hidden by its parts. */
const wordsMax = 32

interface Word {
  /** Folded as the words of names are. */
  readonly plain: string
  readonly start: number
  end: number
}

function wordsIn(text: string): Word[] {
  const words: Word[] = []
  for (const { 0: run, index } of text.matchAll(runs)) {
    let start = index
    for (const part of partsOf(run)) {
      const end = start + part.length
      const plain = fold(part.replaceAll('\u00ad', ''))
      const last = words.at(-1)
      // Marks that stand apart from scripts without blanks.
      if (plain !== '') words.push({ plain, start, end })
      else if (last?.end === start) last.end = end
      start = end
    }
  }
  return words
}

/** A character with its marks; a Korean syllable may be decomposed. */
const characters = /(?:[\u1100-\u115f][\u1160-\u11ff]+|.)\p{M}*/gsu

/** A run; where words are not separated, as in Chinese, every character is one. */
function partsOf(run: string): readonly string[] {
  return splitDense(run).flatMap((part) =>
    isDense(part) ? (part.match(characters) ?? []) : [part],
  )
}

const hashOf = (hasher: Hasher, words: readonly Word[]) =>
  hasher('phrase', ...words.map(({ plain }) => plain))

/** A character of a script that does not separate words says as much as two letters. */
const lettersOf = (plain: string) => (isDense(plain) ? 2 : plain.length)

/** The distinct phrases of the values of personal fields. */
export function phrasesOf(values: Iterable<string>, hasher: Hasher): PhraseHash[] {
  const phrases = new Map<string, PhraseHash>()
  for (const value of values) {
    const words = wordsIn(value)
    const letters = words.reduce((sum, { plain }) => sum + lettersOf(plain), 0)
    if (letters < lettersMin) continue
    // Parts of about one length have so many words that they occur in no other text.
    const parts = Math.ceil(words.length / wordsMax)
    const start = (n: number) => Math.floor((n * words.length) / parts)
    for (let n = 0; n < parts; n += 1) {
      const part = words.slice(start(n), start(n + 1))
      const hash = hashOf(hasher, part)
      phrases.set(hash, { words: part.length, hash })
    }
  }
  return [...phrases.values()]
}

/** Replaces phrases by `[withheld]`; returns the same text if it has none. */
export type HidePhrases = (text: string) => string

export function createHidePhrases(phrases: readonly PhraseHash[], hasher: Hasher): HidePhrases {
  const hashes = new Set(phrases.map(({ hash }) => hash))
  // Of two phrases that begin at one word, the longer one is hidden.
  const lengths = [...new Set(phrases.map(({ words }) => words))].sort((a, b) => b - a)
  const hide = (text: string, words: readonly Word[]) => {
    let written = ''
    let from = 0
    for (let at = 0; at < words.length;) {
      const length = lengths.find((n) => {
        const some = words.slice(at, at + n)
        return some.length === n && hashes.has(hashOf(hasher, some))
      })
      if (length === undefined) {
        at += 1
        continue
      }
      written += text.slice(from, words[at]?.start) + withheldText
      from = words[at + length - 1]?.end ?? text.length
      at += length
    }
    return written + text.slice(from)
  }
  return (text) => {
    if (!text.includes('\\')) return hide(text, wordsIn(text))
    // What follows a backslash may also be the first letter of a word, as in a path.
    let hidden = text
    for (const some of [innerEscapes, escapes]) {
      hidden = hide(hidden, wordsIn(readEscapes(hidden, some)))
    }
    return hide(hidden, wordsIn(hidden))
  }
}
