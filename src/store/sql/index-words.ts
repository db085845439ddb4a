// Keeps the index of the words of names: which companies have a word, in chunks of ids.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { wordsOfName } from '../name-words.ts'
import { type Database, readValue } from './database.ts'
import type { Dialect } from './dialect.ts'
import type { OnShare } from './merge-progress.ts'
import { type Chunk, changeChunks, type PostingChange } from './postings.ts'

/** How many names are read at once. */
const namesAtOnce = 2_000

/**
 * Takes the former words of companies out of the index, and puts their words into it.
 *
 * @param names SQL for `company_id`, `former` and `name`.
 * @param onShare receives the share of the names that are done.
 * @returns the number of companies.
 */
export async function indexNames(db: Database, names: string, onShare?: OnShare): Promise<number> {
  const { dialect: d } = db
  const total = Number(await readValue(db, `select count(*) from (${names}) n`))
  const isFirst = (await db.rows('select 1 from words limit 1')).length === 0
  // As lists in JSON, which takes a fraction of the time that rows take.
  const read = `
    select ${d.jsonArray('company_id')} as ids, ${d.jsonArray('former')} as former,
      ${d.jsonArray('name')} as names
    from (
      select company_id, former, name from (${names}) n
      where company_id > $after order by company_id limit ${namesAtOnce}
    ) part`
  const changes = collectChanges()
  let hasWritten = false
  const write = async () => {
    await writeChanges(db, changes.take(), isFirst && !hasWritten)
    hasWritten = true
  }
  let count = 0
  for (let after = 0; count < total;) {
    const [row] = await db.rows(read, { after })
    const ids = JSON.parse(String(row?.['ids'])) as number[]
    const former = JSON.parse(String(row?.['former'])) as (string | null)[]
    const now = JSON.parse(String(row?.['names'])) as (string | null)[]
    for (const [at, id] of ids.entries()) changes.note(id, former[at], now[at])
    after = ids.at(-1) ?? Infinity
    count += ids.length
    if (changes.size() > changesMax) await write()
    onShare?.(count / total)
    await nextTurn()
  }
  await write()
  return total
}

/** How many ids of words are collected before they are written: about 60 MB. */
const changesMax = 2_000_000

/** Collects which words companies get and lose. */
function collectChanges() {
  let added = new Map<string, number[]>()
  let removed = new Map<string, number[]>()
  let size = 0
  function note(words: Map<string, number[]>, word: string, id: number): void {
    size += 1
    const known = words.get(word)
    if (known === undefined) words.set(word, [id])
    else known.push(id)
  }
  return {
    note(id: number, former: string | null | undefined, name: string | null | undefined): void {
      const after = typeof name === 'string' ? wordsOfName(name) : none
      if (typeof former !== 'string') {
        for (const word of after) note(added, word, id)
        return
      }
      const before = wordsOfName(former)
      for (const word of before) if (!after.includes(word)) note(removed, word, id)
      for (const word of after) if (!before.includes(word)) note(added, word, id)
    },
    size: () => size,
    /** The changes so far, in the order of their words. */
    take(): readonly WordChange[] {
      const words = [...new Set([...added.keys(), ...removed.keys()])].sort()
      const taken = words.map((word) => ({
        word,
        added: added.get(word) ?? [],
        removed: removed.get(word) ?? [],
      }))
      added = new Map()
      removed = new Map()
      size = 0
      return taken
    },
  }
}

const none: readonly string[] = []

interface WordChange extends PostingChange {
  readonly word: string
}

/** How many words are changed by one statement. */
const wordsAtOnce = 500

/** @param isFirst whether the index has no word yet. */
async function writeChanges(
  db: Database,
  changes: readonly WordChange[],
  isFirst: boolean,
): Promise<void> {
  for (let at = 0; at < changes.length; at += wordsAtOnce) {
    const some = changes.slice(at, at + wordsAtOnce)
    const known = isFirst ? new Map<string, Chunk[]>() : await readAffected(db, some)
    const gone: [string, number][] = []
    const made: [string, number, string][] = []
    for (const change of some) {
      const { word } = change
      const replaced = changeChunks(known.get(word) ?? [], change)
      for (const { first } of replaced.gone) gone.push([word, first])
      for (const { first, distances } of replaced.made) {
        made.push([word, first, Buffer.from(distances).toString('hex')])
      }
    }
    if (gone.length > 0) await db.run(deleteChunks(db.dialect), { chunks: JSON.stringify(gone) })
    if (made.length > 0) await db.run(insertChunks(db.dialect), { chunks: JSON.stringify(made) })
    await nextTurn()
  }
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
