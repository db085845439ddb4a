// Verifies the index of the words of names.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { wordsOfName } from '../name-words.ts'
import type { Database } from '../sql/database.ts'
import { idsOf } from '../sql/postings.ts'
import type { Report } from './faults.ts'

/**
 * How many sums there are: each adds up the words of some companies, once as their names have them
 * and once as the index has them. Only companies whose sums differ are looked at one by one.
 */
const sumsLength = 65_536

/** Compares the index of names with the names; returns the number of names. */
export async function verifyNames(
  db: Database,
  report: Report,
  onStep: () => void,
): Promise<number> {
  const sums = new Float64Array(sumsLength)
  let count = 0
  await eachName(db, onStep, (id, name) => {
    count += 1
    for (const word of wordsOfName(name)) add(sums, id, word, 1)
  })
  await eachPosting(db, onStep, report, (id, word) => add(sums, id, word, -1))
  if (sums.some((sum) => sum !== 0)) await findWrong(db, onStep, report, sums)
  return count
}

/** Finds the companies whose words differ, among those whose sums do. */
async function findWrong(
  db: Database,
  onStep: () => void,
  report: Report,
  sums: Float64Array,
): Promise<void> {
  const isWrong = (id: number) => sums[id % sumsLength] !== 0
  const words = new Map<number, Set<string>>()
  await eachName(db, onStep, (id, name) => {
    if (isWrong(id)) words.set(id, new Set(wordsOfName(name)))
  })
  const faulty = new Set<number>()
  await eachPosting(
    db,
    onStep,
    () => undefined,
    (id, word) => {
      if (isWrong(id) && words.get(id)?.delete(word) !== true) faulty.add(id)
    },
  )
  for (const [id, missing] of words) if (missing.size > 0) faulty.add(id)
  for (const id of [...faulty].sort((a, b) => a - b)) {
    report('words', `company ${id}: the index of words does not match its name`)
  }
}

/** Adds a number that depends on the word; sums of some thousand stay exact. */
function add(sums: Float64Array, id: number, word: string, sign: number): void {
  let hash = id % 2_147_483_629
  for (let at = 0; at < word.length; at++) hash = (hash * 31 + word.charCodeAt(at)) % 2_147_483_629
  const at = id % sumsLength
  sums[at] = (sums[at] ?? 0) + sign * (hash + 1)
}

async function eachName(
  db: Database,
  onStep: () => void,
  look: (id: number, name: string) => void,
): Promise<void> {
  for await (const rows of db.batches('select company_id, name from names')) {
    for (const row of rows) look(Number(row['company_id']), String(row['name']))
    onStep()
    await nextTurn()
  }
}

async function eachPosting(
  db: Database,
  onStep: () => void,
  report: Report,
  look: (id: number, word: string) => void,
): Promise<void> {
  let [lastWord, lastId] = ['', 0]
  const sql = 'select word, first, distances from words order by word, first'
  for await (const rows of db.batches(sql)) {
    for (const row of rows) {
      const word = String(row['word'])
      if (word !== lastWord) lastId = 0
      lastWord = word
      const distances = row['distances'] as Uint8Array
      for (const id of idsOf([{ first: Number(row['first']), distances }])) {
        if (id <= lastId) report('words', `word ${word}: its companies are out of order`)
        lastId = id
        look(id, word)
      }
    }
    onStep()
    await nextTurn()
  }
}
