// Verifies the names of companies, which are what their sources say, and the index of their words.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { chooseName } from '../companies/keep-names.ts'
import { inBatches } from '../listing/in-batches.ts'
import { wordsOfName } from '../companies/name-words.ts'
import { numberIn, type RegistryDatabase } from '../sql/database.ts'
import type { VerifiedRegistry } from './verify-companies.ts'
import type { NamesGiven } from './verify-listings.ts'

type Names = ReadonlyMap<number, string>

/** Compares names of companies with what sources say about them. */
export function checkNames({ report }: VerifiedRegistry, given: NamesGiven, names: Names): void {
  for (const id of new Set([...given.keys(), ...names.keys()])) {
    const own = given.has(id) ? given.get(id) : []
    // What cannot be read is reported as such.
    if (own === undefined || chooseName(own) === names.get(id)) continue
    report('names', `company ${id}: its name is not what its sources say`)
  }
}

/** So many words are compared at once. */
const wordsAtOnce = 100_000
/** So many different words are looked up at once. */
const lookedUpAtOnce = 2_000

/** Compares the index of words with names: each word is in it, and nothing else. */
export function createWordCheck({ db, report, onStep }: VerifiedRegistry) {
  let words = new Map<string, number[]>()
  let [size, all] = [0, 0]

  async function compare(): Promise<void> {
    onStep('words')
    const wrong = new Set<number>()
    for (const some of inBatches(words, lookedUpAtOnce)) {
      for (const id of await findMissing(db, some)) wrong.add(id)
      await nextTurn()
    }
    for (const id of wrong) {
      report('words', `company ${id}: the index of words does not match its name`)
    }
    all += size
    size = 0
    words = new Map()
  }

  return {
    /** @param names in the order of their companies. */
    async check(names: Names): Promise<void> {
      for (const [id, name] of names) {
        for (const word of wordsOfName(name)) {
          const own = words.get(word)
          if (own === undefined) words.set(word, [id])
          else own.push(id)
          size += 1
        }
      }
      if (size > wordsAtOnce) await compare()
    },
    async finish(): Promise<void> {
      await compare()
      const count = await numberIn(db, 'select count(*) from words')
      if (count <= all) return
      report('words', `the index of words has companies without the word: ${count - all}`)
    },
  }
}

/** The companies that the index lacks at one of some words. */
async function findMissing(
  db: RegistryDatabase,
  words: readonly (readonly [word: string, ids: readonly number[]])[],
): Promise<number[]> {
  const firsts = words.map(([, ids]) => ids[0] ?? 0)
  const lasts = words.map(([, ids]) => ids.at(-1) ?? 0)
  const rows = await db.rows<[word: string, id: number]>(
    `select word, company_id from words
     where ${db.dialect.isOneOf('word', '$1', 'text')} and company_id >= $2 and company_id <= $3`,
    words.map(([word]) => word),
    ...[Math.min(...firsts), Math.max(...lasts)],
  )
  const known = new Set(rows.map(([word, id]) => `${word} ${id}`))
  return words.flatMap(([word, ids]) => ids.filter((id) => !known.has(`${word} ${id}`)))
}
