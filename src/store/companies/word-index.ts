// Keeps the index of the words of names: a row for each word of a company's name.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { wordsOfName } from './name-words.ts'
import { inBatches } from '../listing/in-batches.ts'
import type { RegistryDatabase } from '../sql/database.ts'

/** The former and the present name of a company; undefined if it had or has none. */
export interface NameChange {
  readonly id: number
  readonly former: string | undefined
  readonly name: string | undefined
}

/** Creates what replaces the former words of companies in the index with the present ones. */
export function createWordIndex(db: RegistryDatabase) {
  let changes = new Map<number, NameChange>()

  async function write(): Promise<void> {
    const [gone, made]: [IdsOfWords, IdsOfWords] = [new Map(), new Map()]
    for (const { id, former, name } of changes.values()) {
      const before = former === undefined ? none : wordsOfName(former)
      const after = name === undefined ? none : wordsOfName(name)
      for (const word of before) if (!after.includes(word)) note(gone, word, id)
      for (const word of after) if (!before.includes(word)) note(made, word, id)
    }
    changes = new Map()
    for (const rows of inBatches(rowsOf(gone), rowsAtOnce)) {
      await db.drop(target, rows)
      await nextTurn()
    }
    for (const rows of inBatches(rowsOf(made), rowsAtOnce)) {
      await db.insert(target, rows)
      await nextTurn()
    }
  }

  return {
    async change(names: readonly NameChange[]): Promise<void> {
      for (const change of names) {
        const earlier = changes.get(change.id)
        changes.set(change.id, earlier ? { ...change, former: earlier.former } : change)
      }
      if (changes.size > changesMax) await write()
    },
    /** Writes the rest. */
    finish: write,
  }
}

const none: readonly string[] = []
const target = { table: 'words', columns: ['word', 'company_id'] }

/** How many changed names are collected, so that their words are written in order. */
const changesMax = 100_000

const rowsAtOnce = 10_000

/** For each word, ids of companies. Most words of a register occur in one name. */
type IdsOfWords = Map<string, number | number[]>

function note(ids: IdsOfWords, word: string, id: number): void {
  const known = ids.get(word)
  if (known === undefined) ids.set(word, id)
  else if (typeof known === 'number') ids.set(word, [known, id])
  else known.push(id)
}

/** The rows of words, in their order, so that neighbours are written together. */
function* rowsOf(ids: IdsOfWords): Generator<[word: string, id: number]> {
  for (const word of [...ids.keys()].sort()) {
    const own = ids.get(word) ?? []
    for (const id of typeof own === 'number' ? [own] : own) yield [word, id]
  }
}
