// Keeps the index of the words of names: for each word, the ids of its companies, in chunks.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { wordsOfName } from './name-words.ts'
import { inBatches } from '../listing/in-batches.ts'
import type { RegistryDatabase } from '../sql/database.ts'
import { type Chunk, changeChunks, type PostingChange } from '../sql/postings.ts'

/** The former and the present name of a company; undefined if it had or has none. */
export interface NameChange {
  readonly id: number
  readonly former: string | undefined
  readonly name: string | undefined
}

/** Creates what replaces the former words of companies in the index with the present ones. */
export async function createWordIndex(db: RegistryDatabase) {
  let isEmpty = (await db.rows('select 1 from words limit 1')).length === 0
  let changes: Changes = new Map()
  let size = 0

  function note(word: string, change: number): void {
    size += 1
    const known = changes.get(word)
    if (known === undefined) changes.set(word, change)
    else if (typeof known === 'number') changes.set(word, [known, change])
    else known.push(change)
  }

  async function write(): Promise<void> {
    const some = changes
    changes = new Map()
    size = 0
    await writeChanges(db, some, isEmpty)
    isEmpty &&= some.size === 0
  }

  return {
    async change(names: readonly NameChange[]): Promise<void> {
      for (const { id, former, name } of names) {
        const before = former === undefined ? none : wordsOfName(former)
        const after = name === undefined ? none : wordsOfName(name)
        for (const word of before) if (!after.includes(word)) note(word, lost(id))
        for (const word of after) if (!before.includes(word)) note(word, id)
      }
      if (size > changesMax) await write()
    },
    /** Writes the rest. */
    finish: write,
  }
}

const none: readonly string[] = []

/** How many changes are collected before they are written: about 15 MB. */
const changesMax = 500_000

/**
 * For each word, the ids that it gets and, as negative numbers, those that it loses, in the order
 * of these changes. Most words of a register occur in one name, so most have one change.
 */
type Changes = Map<string, number | number[]>

/** Marks an id, which may be 0, as lost; its own inverse. */
const lost = (id: number) => -1 - id

/** The outcome of changes: of several changes of one id, the last one counts. */
function changeOf(changes: number | readonly number[] = []): PostingChange {
  const all = typeof changes === 'number' ? [changes] : changes
  if (all.every((id) => id >= 0)) return { added: all, removed: [] }
  const last = new Map(all.map((id) => [id < 0 ? lost(id) : id, id >= 0]))
  const ids = [...last.keys()]
  return {
    added: ids.filter((id) => last.get(id)),
    removed: ids.filter((id) => !last.get(id)),
  }
}

/** How many words are changed at a time. */
const wordsAtOnce = 2_000

/** @param isEmpty whether the index has no word yet. */
async function writeChanges(
  db: RegistryDatabase,
  changes: Changes,
  isEmpty: boolean,
): Promise<void> {
  for (const words of inBatches([...changes.keys()].sort(), wordsAtOnce)) {
    const known = isEmpty ? new Map<string, Chunk[]>() : await readChunks(db, words)
    const gone: [word: string, first: number][] = []
    const made: [word: string, first: number, distances: Uint8Array][] = []
    for (const word of words) {
      const replaced = changeChunks(known.get(word) ?? [], changeOf(changes.get(word)))
      for (const { first } of replaced.gone) gone.push([word, first])
      for (const { first, distances } of replaced.made) made.push([word, first, distances])
    }
    await db.drop({ table: 'words', columns: ['word', 'first'] }, gone)
    await db.insert({ table: 'words', columns: ['word', 'first', 'distances'] }, made)
    await nextTurn()
  }
}

export async function readChunks(
  db: RegistryDatabase,
  words: readonly string[],
): Promise<Map<string, Chunk[]>> {
  const rows = await db.rows<[word: string, first: number, distances: Uint8Array]>(
    `select word, first, distances from words
     where ${db.dialect.isOneOf('word', '$1', 'text')} order by word, first`,
    words,
  )
  const chunks = rows.map(([word, first, distances]) => ({ word, first, distances }))
  return Map.groupBy(chunks, ({ word }) => word)
}
