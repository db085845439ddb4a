// Keeps the names of companies and the index of their words, within the transaction that changes
// what sources say. Uses two temporary tables:
//
// spoken     the companies of which a source now says something else
// renamed    those of them whose name changes: the former one and the new one

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { LockWait } from '../lock-wait.ts'
import type { OnStep } from '../work-watch.ts'
import { wordRules, wordsOfName } from '../name-words.ts'
import { type Database, type Queries, readValue } from './database.ts'
import type { Dialect } from './dialect.ts'
import { dropTemporary } from './merge.ts'
import type { OnShare } from './merge-progress.ts'
import { type Chunk, changeChunks, type PostingChange } from './postings.ts'

/** The attribute with a company's name, unless its source has another one. */
export const usualNameAttribute = 'name'

/**
 * The name of a company `t.company_id`: of the sources that have it in their last snapshot, or else
 * of those that had it, the one that said it last (contract 8.3).
 */
export const nameOf = (d: Dialect) => `
  cast((
    select said.name from (
      select a.is_present, a.version, s.name as source,
        ${d.jsonText('a.attributes', `coalesce(s.name_attribute, '${usualNameAttribute}')`)} as name
      from company_attributes a join sources s on s.id = a.source_id
      where a.company_id = t.company_id
    ) said where said.name is not null
    order by said.is_present desc, said.version desc, said.source limit 1
  ) as text)`

/** The same where only one source has ever said anything, which takes a third of the time. */
const onlyNames = (d: Dialect) => `
  insert into names (company_id, name)
    select company_id, name from (
      select a.company_id,
        ${d.jsonText('a.attributes', `coalesce(s.name_attribute, '${usualNameAttribute}')`)} as name
      from company_attributes a ${d.orderedJoin} sources s on s.id = a.source_id
    ) said where name is not null
    order by company_id`

/** The statements that find, in `renamed`, whose names change of the companies in `spoken`. */
const findRenamed = (d: Dialect) => [
  ...dropTemporary(d, 'renamed'),
  `create temp table renamed as
    select t.company_id, n.name as former, ${nameOf(d)} as name
    from spoken t left join names n on n.company_id = t.company_id
    order by t.company_id`,
  'delete from renamed where name is not distinct from former',
  ...d.filled('renamed', 'company_id'),
]

const writeNames = [
  `delete from names where company_id in (
    select company_id from renamed where former is not null
  )`,
  `insert into names (company_id, name)
    select company_id, name from renamed where name is not null order by company_id`,
]

/**
 * Brings the names of the companies in `spoken` up to date, and the index of words.
 *
 * @param onShare receives the share of the names that are done.
 * @returns the number of companies whose names have changed.
 */
export async function keepNames(db: Database, onShare?: OnShare): Promise<number> {
  if (await isFirstSource(db)) {
    await db.run(onlyNames(db.dialect))
    return indexNames(db, 'select company_id, null as former, name from names', onShare)
  }
  for (const step of findRenamed(db.dialect)) await db.run(step)
  const renamed = 'select company_id, former, name from renamed'
  const changed = await indexNames(db, renamed, onShare)
  for (const step of writeNames) await db.run(step)
  return changed
}

/** Whether no company has a name yet, and one source has said all there is. */
async function isFirstSource(db: Database): Promise<boolean> {
  const [found] = await db.rows(
    `select (select count(*) from (select 1 from names limit 1) n) as names,
      (select count(*) from (select 1 from words limit 1) w) as words,
      (select count(distinct source_id) from imports where resource = 'companies') as sources`,
  )
  // The import that asks is not in the log yet.
  return Number(found?.['names']) + Number(found?.['words']) + Number(found?.['sources']) === 0
}

/** How many names are read at once. */
const namesAtOnce = 2_000

/** @param names SQL for `company_id`, `former` and `name`. */
async function indexNames(db: Database, names: string, onShare?: OnShare): Promise<number> {
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

const affectedChunks = (d: Dialect) => `
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

/**
 * Keeps the attribute with the names of a source's companies.
 *
 * @returns whether it differs from the former one, so that its companies get other names.
 */
export async function noteNameAttribute(
  db: Database,
  source: number,
  attribute: string | undefined,
): Promise<boolean> {
  if (attribute === undefined) return false
  const values = { source, attribute, usual: usualNameAttribute }
  const set = `
    update sources set name_attribute = $attribute
    where id = $source and coalesce(name_attribute, $usual) <> $attribute`
  return (await db.run(set, values)) > 0
}

/**
 * Fills the index of names of a store of an earlier format, or one that was made by other rules, in
 * one transaction.
 *
 * @returns the number of names; undefined if there was nothing to do.
 */
export async function fillNames(
  db: Database,
  wait: LockWait,
  onStep?: OnStep,
): Promise<number | undefined> {
  if (await isFilled(db)) return undefined
  return db.inTransaction('registry', wait, async () => {
    // Another process may have filled it while this one waited.
    if (await isFilled(db)) return undefined
    const steps = [
      'delete from words',
      'delete from names',
      ...dropTemporary(db.dialect, 'spoken'),
      'create temp table spoken as select distinct company_id from company_attributes',
      ...db.dialect.filled('spoken'),
    ]
    for (const step of steps) await db.run(step)
    const names = await keepNames(db, (share) => onStep?.('indexing names', share))
    for (const step of dropTemporary(db.dialect, 'spoken', 'renamed')) await db.run(step)
    await db.run('update store set words = $rules', { rules: wordRules })
    return names
  })
}

/** Why a store of an earlier format cannot be read yet. */
export const namesMissing = 'has no index of names yet; complete its upgrade with: dossier migrate'

/** What `fillNames` has done, for messages. */
export const describeFilled = (names: number) => `indexed the names of ${names} companies`

/** Whether the index of names was made, by the rules of this version. */
export async function isFilled(db: Queries): Promise<boolean> {
  return (await readValue(db, 'select words from store')) === wordRules
}
