// Names that occur nowhere else, and the forms in which people write them.

import assert from 'node:assert/strict'
import type { Random } from '../src/demo/random.ts'

/** A name, and the parts of it that tell whose it is: no other text has them. */
export interface Name {
  readonly text: string
  readonly words: readonly string[]
}

const [consonants, vowels] = ['bcdfghjklmnpqrstvwxz', 'aeiou'].map((all) => all.split(''))

/** A word that occurs nowhere else. */
export function makeWord(random: Random): string {
  const letters = [consonants, vowels, consonants, vowels, consonants, vowels, consonants, vowels]
  return letters.map((some = []) => random.pick(some)).join('')
}

const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)

/** A name of two words, or of more than a phrase has. */
export function makeName(random: Random, isLong = false): Name {
  const [first, last] = [makeWord(random), makeWord(random)]
  const between = isLong ? 'van der '.repeat(random.integer(16, 20)).trim().split(' ') : []
  const accent = random.pick(['', '', 'éx', 'üx', 'łx', 'ñx', 'ãx', 'ịx'])
  const parts = [capital(first), ...between, capital(last) + accent]
  return { text: parts.join(' '), words: [first, last] }
}

type Form = (name: string, random: Random) => string

const separators = ['_', '\n', ' - ', '\u00a0', '\u200b', '.']
const forms: readonly Form[] = [
  (name) => name,
  (name) => name.toUpperCase(),
  (name) => name.normalize('NFD'),
  (name) => `${name.toUpperCase().normalize('NFD')}, 1980`,
  (name) => `c/o "${name}"; ${name.toLowerCase()}`,
  (name) => `=${name}`,
  (name) => `\u202e${name}`,
  (name) => `C:\\${name}\\doc`,
  (name) => `${name.slice(0, 3)}\u00ad${name.slice(3)}`,
  (name, random) => name.replaceAll(' ', random.pick(separators)),
  (name) => name.replace(/[a-z]/g, (one) => String.fromCodePoint(one.charCodeAt(0) + 0xfee0)),
  // JSON, which is within JSON in the change of an attribute that is an object.
  (name) => JSON.stringify({ [name]: [name, 'a\tb'] }),
  (name) => JSON.stringify(`x\n${name}`),
  (name) =>
    name.replace(/[^ -~]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`),
  // Long texts, in which the name is cut or far behind.
  (name, random) => `${'lorem ipsum '.repeat(random.integer(1, 300))}${name}`,
  (name, random) => `${name} ${'dolor '.repeat(random.integer(1, 40))}`,
  (name, random) => `${'y'.repeat(random.integer(180, 205))} ${name}`,
]

/** Writes a name as somebody might. */
export function write(random: Random, { text }: Name): string {
  return random.pick(forms)(text, random)
}

/** The beginning of a word, since a text may be cut within it; numbers are long enough. */
const beginning = (word: string) => (/^\d/.test(word) ? word : word.slice(0, 6))

/** Looks for words in a text that is somewhere. */
export type Search = (where: string, text: string) => void

/** Creates a search for words in whatever form; it throws if it finds one. */
export function createSearch(words: readonly string[]): Search {
  if (words.length === 0) return () => undefined
  const any = new RegExp(words.map(beginning).join('|'))
  return (where, text) => {
    const plain = text
      .normalize('NFKD')
      .replace(/[\u00ad\p{M}]/gu, '')
      .toLowerCase()
    const found = any.exec(plain)
    if (found === null) return
    const around = plain.slice(Math.max(0, found.index - 150), found.index + 150)
    assert.fail(`${where} has ${found[0]}: …${around}…`)
  }
}
