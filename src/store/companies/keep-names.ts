// Keeps the names of companies and the index of their words up to date, in the transaction that
// changes what sources say.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { traceCompanies } from '../changes/trace.ts'
import { inBatches } from '../listing/in-batches.ts'
import type { ListedRecord } from '../listing/segment.ts'
import { attributesShape } from '../listing/shape.ts'
import type { NamingSource } from '../listing/tables.ts'
import { readNumbers, type RegistryDatabase } from '../sql/database.ts'
import type { Target } from '../sql/dialect.ts'
import { textIn } from '../record-texts.ts'
import { attributesInTurn, type Said, statementOf, wasRemoved } from './attributes.ts'
import { wordsOfName } from './name-words.ts'

/**
 * The name of a company: the one that a source gave last (contract 8.3). A source whose data
 * an operator has removed only counts if no other has a name.
 *
 * @param records what sources say about it.
 */
export const nameOf = (
  records: readonly NamingRecord[],
  sources: ReadonlyMap<number, NamingSource>,
): string | undefined => chooseName(records.flatMap((one) => givenName(one, sources) ?? []))

type NamingRecord = Pick<ListedRecord, 'source' | 'values' | 'text'>

/** A name that a source gives a company. */
export interface GivenName {
  readonly name: string
  readonly isRemoved: boolean
  readonly saidIn: number
}

/** The name in what a source says about a company. */
export function givenName(
  record: NamingRecord,
  sources: ReadonlyMap<number, NamingSource>,
): GivenName | undefined {
  const source = sources.get(record.source)
  if (source === undefined) return undefined
  const attributes = JSON.parse(textIn(record.text)) as Readonly<Record<string, unknown>>
  const { nameAttribute } = source
  // An attribute may have the name of a member that every object has.
  const name = Object.hasOwn(attributes, nameAttribute) ? attributes[nameAttribute] : undefined
  if (typeof name !== 'string') return undefined
  const { saidIn } = statementOf(record)
  return { name, isRemoved: wasRemoved(record), saidIn }
}

/** Chooses among the names that sources give a company, each of them in another version. */
export const chooseName = (given: readonly GivenName[]): string | undefined =>
  given.toSorted(byPrecedence)[0]?.name

const byPrecedence = (a: GivenName, b: GivenName) =>
  Number(a.isRemoved) - Number(b.isRemoved) || b.saidIn - a.saidIn

/** The former and the present name of a company; undefined if it had or has none. */
interface NameChange {
  readonly id: number
  readonly former: string | undefined
  readonly name: string | undefined
}

/** How many changed names are collected, so that their words are written in order. */
const changesMax = 100_000

/**
 * Creates what brings names up to date. The sources, and the attributes in which they name
 * companies, are the current ones.
 */
export async function createNameKeeper(db: RegistryDatabase) {
  const sources = await db.tables.sources()
  let changes: NameChange[] = []
  let count = 0

  async function finish(): Promise<number> {
    await writeWords(db, changes)
    changes = []
    return count
  }

  return {
    /**
     * Takes what sources say about companies now, of each company once; returns those whose names
     * have changed.
     *
     * @param made the companies that cannot have had a name before.
     */
    async change(said: Said, made: ReadonlySet<number> = new Set()): Promise<readonly number[]> {
      const ids = [...said.keys()].filter((id) => !made.has(id))
      const kept = await readNames(db, ids)
      const changed = [...said]
        .map(([id, records]) => ({ id, former: kept.get(id), name: nameOf(records, sources) }))
        .filter(({ former, name }) => former !== name)
      await writeNames(db, changed)
      changes.push(...changed)
      count += changed.length
      if (changes.length > changesMax) await finish()
      return changed.map(({ id }) => id)
    },
    /** Writes the rest, and returns the number of companies whose names have changed. */
    finish,
  }
}

const companiesAtOnce = 400

/** Names companies anew: from this version on, a source names them in another attribute. */
export async function renameAll(db: RegistryDatabase, version: number): Promise<void> {
  const names = await createNameKeeper(db)
  const { listing } = attributesShape
  const sql = `select distinct company_id from heads where listing = '${listing}' order by 1`
  for (const companies of inBatches(await readNumbers(db, sql), companiesAtOnce)) {
    for await (const said of attributesInTurn(db.tables, companies)) {
      await traceCompanies(db.tables, version, await names.change(said))
    }
    await nextTurn()
  }
  await names.finish()
}

/** The stored names of companies. */
async function readNames(
  db: RegistryDatabase,
  ids: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  if (ids.length === 0) return new Map()
  const isAsked = db.dialect.isOneOf('company_id', '$1', 'bigint')
  const sql = `select company_id, name from names where ${isAsked}`
  return new Map(await db.rows<readonly [number, string]>(sql, ids))
}

async function writeNames(db: RegistryDatabase, changes: readonly NameChange[]): Promise<void> {
  const gone = changes.filter(({ former }) => former !== undefined)
  const made = changes.flatMap(({ id, name }) => (name === undefined ? [] : [[id, name]]))
  await db.drop(
    { table: 'names', columns: ['company_id'] },
    gone.map(({ id }) => [id]),
  )
  await db.insert({ table: 'names', columns: ['company_id', 'name'] }, made)
}

const words: Target = { table: 'words', columns: ['word', 'company_id'] }
const rowsAtOnce = 10_000

/** Replaces the former words of companies in the index with the present ones. */
async function writeWords(db: RegistryDatabase, changes: readonly NameChange[]): Promise<void> {
  const [gone, made]: [IdsOfWords, IdsOfWords] = [new Map(), new Map()]
  for (const { id, former, name } of changes) {
    const before = former === undefined ? none : wordsOfName(former)
    const after = name === undefined ? none : wordsOfName(name)
    for (const word of before) if (!after.includes(word)) note(gone, word, id)
    for (const word of after) if (!before.includes(word)) note(made, word, id)
  }
  for (const rows of inBatches(rowsOf(gone), rowsAtOnce)) {
    await db.drop(words, rows)
    await nextTurn()
  }
  for (const rows of inBatches(rowsOf(made), rowsAtOnce)) {
    await db.insert(words, rows)
    await nextTurn()
  }
}

const none: readonly string[] = []

/** For each word, ids of companies. */
type IdsOfWords = Map<string, number[]>

function note(ids: IdsOfWords, word: string, id: number): void {
  const known = ids.get(word)
  if (known === undefined) ids.set(word, [id])
  else known.push(id)
}

/** The rows of words, in their order, so that neighbours are written together. */
function* rowsOf(ids: IdsOfWords): Generator<[word: string, id: number]> {
  for (const word of [...ids.keys()].sort()) for (const id of ids.get(word) ?? []) yield [word, id]
}
