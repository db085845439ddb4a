// Verifies the names of companies, which are what their sources say, and the index of their words.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { nameOf, readNames } from '../companies/keep-names.ts'
import type { ListedRecord } from '../listing/segment.ts'
import { attributesShape } from '../listing/shape.ts'
import { wordsOfName } from '../name-words.ts'
import { type RegistryDatabase, type Database, readValue } from '../sql/database.ts'
import { idsOf } from '../sql/postings.ts'
import type { Report } from './verify.ts'
import { createSums, findDiffering, type Side } from './verify-sums.ts'

/** Compares the index of names with the names; returns the number of names. */
export async function verifyWords(
  db: Database,
  report: Report,
  onStep: () => void,
): Promise<number> {
  const sums = createSums()
  let count = 0
  const onName = () => void (count += 1)
  await eachWord(db, onStep, onName)((id, word) => sums.add(id, hashOf(id, word), 1))
  await eachPosting(db, onStep, report)((id, word) => sums.add(id, hashOf(id, word), -1))
  const isDiffering = sums.differing()
  if (isDiffering === undefined) return count
  const only = (side: Side): Side => {
    return (look) => side((id, word) => (isDiffering(id) ? look(id, word) : undefined))
  }
  const none = () => undefined
  const names = eachWord(db, onStep, none)
  for (const id of await findDiffering(only(names), only(eachPosting(db, onStep, none)))) {
    report('words', `company ${id}: the index of words does not match its name`)
  }
  return count
}

function hashOf(id: number, word: string): number {
  let hash = id % 2_147_483_629
  for (let at = 0; at < word.length; at++) hash = (hash * 31 + word.charCodeAt(at)) % 2_147_483_629
  return hash
}

/** The words of names. */
function eachWord(db: Database, onStep: () => void, onName: () => void): Side {
  return async (look) => {
    for await (const rows of db.batches('select company_id, name from names')) {
      for (const row of rows) {
        onName()
        for (const word of wordsOfName(String(row['name']))) look(Number(row['company_id']), word)
      }
      onStep()
      await nextTurn()
    }
  }
}

/** The words of the index. */
function eachPosting(db: Database, onStep: () => void, report: Report): Side {
  return async (look) => {
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
}

export type NameCheck = Awaited<ReturnType<typeof createNameCheck>>

/** Compares the names of companies with what their sources say. */
export async function createNameCheck(db: RegistryDatabase, report: Report) {
  const sources = await db.tables.sources()
  let pending = new Map<number, string | undefined>()
  let count = 0
  const wrong = (id: number) =>
    report('names', `company ${id}: its name is not what its sources say`)
  return {
    /** Notes what sources say about a company. */
    note(companyId: number, records: readonly ListedRecord[]): void {
      pending.set(companyId, nameIn(records))
    },
    /** Compares the companies that were noted since the last time. */
    async compare(): Promise<void> {
      const kept = await readNames(db, [...pending.keys()])
      for (const [id, name] of pending) if (kept.get(id) !== name) wrong(id)
      count += kept.size
      pending = new Map()
    },
    /** Finds the names of companies about which no source says anything. */
    async finish(): Promise<void> {
      if (Number(await readValue(db, 'select count(*) from names')) === count) return
      const others = `
        select company_id from names n where not exists (
          select 1 from heads h
          where h.company_id = n.company_id and h.listing = '${attributesShape.listing}'
        )`
      for await (const rows of db.batches(others)) {
        for (const row of rows) wrong(Number(row['company_id']))
      }
    },
  }

  function nameIn(records: readonly ListedRecord[]): string | undefined {
    try {
      return nameOf(records, sources)
    } catch {
      // Attributes that are not JSON are reported as such.
      return undefined
    }
  }
}
