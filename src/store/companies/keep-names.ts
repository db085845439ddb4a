// Keeps the names of companies and the index of their words up to date, in the transaction that
// changes what sources say.

import type { ListedRecord } from '../listing/segment.ts'
import type { NamingSource } from '../listing/tables.ts'
import type { RegistryDatabase } from '../sql/database.ts'
import { textIn } from '../record-texts.ts'
import { type Said, statementOf, wasRemoved } from './attributes.ts'
import { createWordIndex, type NameChange } from './word-index.ts'

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

export type NameKeeper = Awaited<ReturnType<typeof createNameKeeper>>

/**
 * Creates what brings names up to date. The sources, and the attributes in which they name
 * companies, are the current ones.
 */
export async function createNameKeeper(db: RegistryDatabase) {
  const sources = await db.tables.sources()
  const words = createWordIndex(db)
  let count = 0
  return {
    /**
     * Takes what sources say about companies now.
     *
     * @param made the companies that cannot have had a name before.
     */
    async change(said: Said, made: ReadonlySet<number> = new Set()): Promise<void> {
      const kept = await readNames(
        db,
        [...said.keys()].filter((id) => !made.has(id)),
      )
      const changes: NameChange[] = []
      for (const [id, records] of said) {
        const [former, name] = [kept.get(id), nameOf(records, sources)]
        if (former !== name) changes.push({ id, former, name })
      }
      await writeNames(db, changes)
      await words.change(changes)
      count += changes.length
    },
    /** Writes the rest, and returns the number of companies whose names have changed. */
    async finish(): Promise<number> {
      await words.finish()
      return count
    },
  }
}

/** The stored names of companies. */
async function readNames(
  db: RegistryDatabase,
  ids: readonly number[],
): Promise<Map<number, string>> {
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
