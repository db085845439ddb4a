// Keeps the index of the words of names: which companies have a word, in chunks of ids.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { wordsOfName } from '../name-words.ts'
import { inBatches } from '../listing/tables.ts'
import type { RegistryDatabase } from '../sql/database.ts'
import { type Chunk, changeChunks } from '../sql/postings.ts'

/** The former and the present name of a company; undefined if it had or has none. */
export interface NameChange {
  readonly id: number
  readonly former: string | undefined
  readonly name: string | undefined
}

/** Makes what takes former words of companies out of the index, and puts present ones into it. */
export async function createWordIndex(db: RegistryDatabase) {
  let isEmpty = (await db.rows('select 1 from words limit 1')).length === 0
  const changes = collectChanges()
  const write = async () => {
    const some = changes.take()
    await writeChanges(db, some, isEmpty)
    isEmpty &&= some.added.size === 0
  }
  return {
    async change(names: readonly NameChange[]): Promise<void> {
      for (const { id, former, name } of names) changes.note(id, former, name)
      if (changes.size() > changesMax) await write()
    },
    /** Writes what is left. */
    finish: write,
  }
}

/** How many ids of words are collected before they are written: about 60 MB. */
const changesMax = 2_000_000

/** The ids of words: most words of a register are those of one name, and have one id. */
type Words = Map<string, number | number[]>

/** Which words companies get and lose. */
interface WordChanges {
  readonly added: Words
  readonly removed: Words
}

/** Collects changes. */
function collectChanges() {
  let changes: WordChanges = { added: new Map(), removed: new Map() }
  let size = 0
  function note(words: Words, word: string, id: number): void {
    size += 1
    const known = words.get(word)
    if (known === undefined) words.set(word, id)
    else if (typeof known === 'number') words.set(word, [known, id])
    else known.push(id)
  }
  return {
    note(id: number, former: string | undefined, name: string | undefined): void {
      const { added, removed } = changes
      const after = name === undefined ? none : wordsOfName(name)
      if (former === undefined) {
        for (const word of after) note(added, word, id)
        return
      }
      const before = wordsOfName(former)
      for (const word of before) if (!after.includes(word)) note(removed, word, id)
      for (const word of after) if (!before.includes(word)) note(added, word, id)
    },
    size: () => size,
    /** The changes since they were last taken. */
    take(): WordChanges {
      const taken = changes
      changes = { added: new Map(), removed: new Map() }
      size = 0
      return taken
    },
  }
}

const none: readonly string[] = []

function idsIn(words: Words, word: string): readonly number[] {
  const ids = words.get(word) ?? []
  return typeof ids === 'number' ? [ids] : ids
}

/** How many words are changed at once. */
const wordsAtOnce = 2_000

/** @param isEmpty whether the index has no word yet. */
async function writeChanges(
  db: RegistryDatabase,
  { added, removed }: WordChanges,
  isEmpty: boolean,
): Promise<void> {
  const words = [...added.keys()]
  for (const word of removed.keys()) if (!added.has(word)) words.push(word)
  words.sort()
  for (const some of inBatches(words, wordsAtOnce)) {
    const known = isEmpty ? new Map<string, Chunk[]>() : await readChunks(db, some)
    const gone: [word: string, first: number][] = []
    const made: [word: string, first: number, distances: Uint8Array][] = []
    for (const word of some) {
      const change = { added: idsIn(added, word), removed: idsIn(removed, word) }
      const replaced = changeChunks(known.get(word) ?? [], change)
      for (const { first } of replaced.gone) gone.push([word, first])
      for (const { first, distances } of replaced.made) made.push([word, first, distances])
    }
    await db.drop({ table: 'words', columns: ['word', 'first'] }, gone)
    await db.insert({ table: 'words', columns: ['word', 'first', 'distances'] }, made)
    await nextTurn()
  }
}

/** All chunks of words. */
export async function readChunks(
  db: RegistryDatabase,
  words: readonly string[],
): Promise<Map<string, Chunk[]>> {
  const rows = await db.rows(
    `select word, first, distances from words
     where ${db.dialect.isOneOf('word', '$words', 'text')} order by word, first`,
    { words },
  )
  const chunks = rows.map((row) => ({
    word: String(row['word']),
    first: Number(row['first']),
    distances: row['distances'] as Uint8Array,
  }))
  return Map.groupBy(chunks, ({ word }) => word)
}
