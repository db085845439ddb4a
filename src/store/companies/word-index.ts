// Keeps the index of the words of names: which companies have a word, in chunks of ids.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { wordsOfName } from '../name-words.ts'
import type { Database } from '../sql/database.ts'
import type { Dialect } from '../sql/dialect.ts'
import { type Chunk, changeChunks, type PostingChange } from '../sql/postings.ts'

/** The former and the present name of a company; undefined if it had or has none. */
export interface NameChange {
  readonly id: number
  readonly former: string | undefined
  readonly name: string | undefined
}

/** Makes what takes former words of companies out of the index, and puts present ones into it. */
export async function createWordIndex(db: Database) {
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

/** How many words are changed by one statement. */
const wordsAtOnce = 2_000

/** @param isEmpty whether the index has no word yet. */
async function writeChanges(
  db: Database,
  { added, removed }: WordChanges,
  isEmpty: boolean,
): Promise<void> {
  const words = [...added.keys()]
  for (const word of removed.keys()) if (!added.has(word)) words.push(word)
  words.sort()
  for (let at = 0; at < words.length; at += wordsAtOnce) {
    const some = words.slice(at, at + wordsAtOnce)
    const changes = some.map((word) => {
      return { word, added: idsIn(added, word), removed: idsIn(removed, word) }
    })
    const known = isEmpty ? new Map<string, Chunk[]>() : await readAffected(db, changes)
    await writeSome(db, changes, known)
    await nextTurn()
  }
}

interface WordChange extends PostingChange {
  readonly word: string
}

async function writeSome(
  db: Database,
  changes: readonly WordChange[],
  known: ReadonlyMap<string, readonly Chunk[]>,
): Promise<void> {
  const gone: [string, number][] = []
  const made: [string, number, string][] = []
  const alone: string[] = []
  for (const change of changes) {
    const { word, added } = change
    const chunks = known.get(word) ?? []
    if (chunks.length === 0 && added.length === 1) {
      alone.push(`${JSON.stringify(word)}:${added[0] ?? 0}`)
      continue
    }
    const replaced = changeChunks(chunks, change)
    for (const { first } of replaced.gone) gone.push([word, first])
    for (const { first, distances } of replaced.made) {
      made.push([word, first, Buffer.from(distances).toString('hex')])
    }
  }
  if (gone.length > 0) await db.run(deleteChunks(db.dialect), { chunks: JSON.stringify(gone) })
  if (alone.length > 0) await db.run(insertIds(db.dialect), { ids: `{${alone.join(',')}}` })
  if (made.length > 0) await db.run(insertChunks(db.dialect), { chunks: JSON.stringify(made) })
}

/** The chunks that changes may affect: from that of the least id to that of the greatest. */
async function readAffected(
  db: Database,
  changes: readonly WordChange[],
): Promise<Map<string, Chunk[]>> {
  const ranges = changes.map(({ word, added, removed }) => {
    let [least, greatest] = [Infinity, 0]
    for (const ids of [added, removed]) {
      for (const id of ids) {
        if (id < least) least = id
        if (id > greatest) greatest = id
      }
    }
    return [word, least, greatest]
  })
  const rows = await db.rows(affectedChunks(db.dialect), { ranges: JSON.stringify(ranges) })
  const chunks = new Map<string, Chunk[]>()
  for (const row of rows) {
    const word = String(row['word'])
    const chunk = { first: Number(row['first']), distances: row['distances'] as Uint8Array }
    const known = chunks.get(word)
    if (known === undefined) chunks.set(word, [chunk])
    else known.push(chunk)
  }
  return chunks
}

const member = (d: Dialect, at: number) => d.jsonItem('e.value', at)
const numberMember = (d: Dialect, at: number) => `cast(${member(d, at)} as bigint)`

const affectedChunks = (d: Dialect) =>
  d.affectedChunks ??
  `
  select w.word, w.first, w.distances
  from ${d.jsonElements('$ranges', 'e')}
  ${d.orderedJoin} words w on w.word = ${member(d, 0)} and w.first <= ${numberMember(d, 2)}
    and w.first >= coalesce((
      select max(b.first) from words b
      where b.word = ${member(d, 0)} and b.first <= ${numberMember(d, 1)}
    ), 0)
  order by w.word, w.first`

const deleteChunks = (d: Dialect) => `
  delete from words where (word, first) in (
    select ${member(d, 0)}, ${numberMember(d, 1)} from ${d.jsonElements('$chunks', 'e')}
  )`

const insertChunks = (d: Dialect) => `
  insert into words (word, first, distances)
    select ${member(d, 0)}, ${numberMember(d, 1)}, ${d.bytesOfHex(member(d, 2))}
    from ${d.jsonElements('$chunks', 'e')}`

/** Inserts words that have one id each, in less than half the time that chunks take. */
const insertIds = (d: Dialect) => `
  insert into words (word, first, distances)
    select e.key, cast(e.value as bigint), ${d.bytesOfHex("''")}
    from ${d.jsonMembers('$ids', 'e')}`
