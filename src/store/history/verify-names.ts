// Verifies the names of companies, which are what their sources say, and the index of their words.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { chooseName } from '../companies/keep-names.ts'
import { readChunks } from '../companies/word-index.ts'
import { inBatches } from '../listing/in-batches.ts'
import { wordsOfName } from '../companies/name-words.ts'
import type { RegistryDatabase } from '../sql/database.ts'
import { idsOf } from '../sql/postings.ts'
import type { VerifiedRegistry } from './verify-companies.ts'
import type { NamesGiven } from './verify-listings.ts'
import type { Report } from './verify.ts'

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

/** So many words are compared at once, since each time all companies of a word are read. */
const wordsAtOnce = 500_000
const chunksAtOnce = 2_000

/** Compares the index of words with names: each word is in it, and nothing else. */
export function createWordCheck({ db, report, onStep }: VerifiedRegistry) {
  let words = new Map<string, number[]>()
  let [size, all] = [0, 0]

  async function compare(): Promise<void> {
    const wrong = new Set<number>()
    for (const some of inBatches(words.keys(), chunksAtOnce)) {
      const chunks = await readChunks(db, some)
      for (const word of some) {
        const indexed = new Set(idsOf(chunks.get(word) ?? []))
        for (const id of words.get(word) ?? []) if (!indexed.has(id)) wrong.add(id)
      }
    }
    for (const id of wrong) {
      report('words', `company ${id}: the index of words does not match its name`)
    }
    all += size
    size = 0
    words = new Map()
  }

  return {
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
      const count = await countIndexed(db, report, onStep)
      if (count <= all) return
      report('words', `the index of words has companies without the word: ${count - all}`)
    },
  }
}

/** Counts the companies of all words; those of each are in ascending order. */
async function countIndexed(
  db: RegistryDatabase,
  report: Report,
  onStep: (step: string) => void,
): Promise<number> {
  let [count, lastWord, lastId] = [0, '', 0]
  const sql = 'select word, first, distances from words order by word, first'
  type Columns = readonly [word: string, first: number, distances: Uint8Array]
  for await (const rows of db.batches<Columns>(sql)) {
    onStep('words')
    for (const [word, first, distances] of rows) {
      if (word !== lastWord) lastId = 0
      lastWord = word
      for (const id of idsOf([{ first, distances }])) {
        if (id <= lastId) report('words', `word ${word}: its companies are out of order`)
        lastId = id
        count += 1
      }
    }
    await nextTurn()
  }
  return count
}
