// Verifies the names of companies, which are what their sources say, and the index of their words.

import { chooseName, type GivenName } from '../companies/keep-names.ts'
import { wordsOfName } from '../companies/name-words.ts'
import { numberIn } from '../sql/database.ts'
import type { VerifiedRegistry } from './verify-companies.ts'

/** The names that sources give companies; undefined where these cannot be read. */
export type NamesGiven = ReadonlyMap<number, readonly GivenName[] | undefined>

/**
 * Compares the names of some consecutive companies with what sources say about them, and with the
 * index of words, which has to have each of their words; returns how many these are.
 */
export async function checkNames(
  { db, report }: VerifiedRegistry,
  given: NamesGiven,
  names: ReadonlyMap<number, string>,
): Promise<number> {
  for (const id of new Set([...given.keys(), ...names.keys()])) {
    const own = given.has(id) ? given.get(id) : []
    // What cannot be read is reported as such.
    if (own === undefined || chooseName(own) === names.get(id)) continue
    report('names', `company ${id}: its name is not what its sources say`)
  }
  const words = [...names].flatMap(([id, name]) => {
    return wordsOfName(name).map((word) => [word, id] as const)
  })
  const rows = await db.rows<[word: string, id: number]>(
    `select word, company_id from words
     where ${db.dialect.isOneOf('word', '$1', 'text')} and company_id between $2 and $3`,
    [...new Set(words.map(([word]) => word))],
    words[0]?.[1] ?? 0,
    words.at(-1)?.[1] ?? 0,
  )
  const known = new Set(rows.map(([word, id]) => `${word} ${id}`))
  const missing = words.filter(([word, id]) => !known.has(`${word} ${id}`))
  for (const id of new Set(missing.map(([, id]) => id))) {
    report('words', `company ${id}: the index of words does not match its name`)
  }
  return words.length
}

/** Checks that the index of words has no more than the words of all names. */
export async function checkWords({ db, report }: VerifiedRegistry, words: number): Promise<void> {
  const others = (await numberIn(db, 'select count(*) from words')) - words
  if (others > 0) report('words', `the index of words has companies without the word: ${others}`)
}
