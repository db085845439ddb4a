// Keeps the names of companies, and with them the index of their words, within the transaction that
// changes what sources say.

import type { Awaitable } from '../awaitable.ts'
import type { ListedRecord } from '../listing/segment.ts'
import type { NamingSource } from '../listing/tables.ts'
import type { RegistryDatabase, Database } from '../sql/database.ts'
import { textIn } from '../record-texts.ts'
import { statementOf } from './attributes.ts'
import { createWordIndex, type NameChange } from './word-index.ts'

/**
 * The name of a company: of the sources that have it in their last snapshot, or else of those that
 * had it, the one that said it last (contract 8.3).
 *
 * @param records what sources say about it.
 */
export function nameOf(
  records: readonly Pick<ListedRecord, 'source' | 'values' | 'text'>[],
  sources: ReadonlyMap<number, NamingSource>,
): string | undefined {
  let best: { readonly name: string; readonly rank: Rank } | undefined
  for (const record of records) {
    const source = sources.get(record.source)
    if (source === undefined) continue
    const name = nameIn(record, source)
    if (name === undefined) continue
    if (records.length === 1) return name
    const { isPresent, version } = statementOf(record)
    const rank = { isPresent, version, source: source.name }
    if (best === undefined || isBefore(rank, best.rank)) best = { name, rank }
  }
  return best?.name
}

interface Rank {
  readonly isPresent: boolean
  readonly version: number
  readonly source: string
}

function isBefore(one: Rank, other: Rank): boolean {
  if (one.isPresent !== other.isPresent) return one.isPresent
  if (one.version !== other.version) return one.version > other.version
  return one.source < other.source
}

function nameIn(
  { text }: Pick<ListedRecord, 'text'>,
  { nameAttribute }: NamingSource,
): string | undefined {
  const attributes = JSON.parse(textIn(text)) as Readonly<Record<string, unknown>>
  // An attribute may be called as a member of every object is.
  const name = Object.hasOwn(attributes, nameAttribute) ? attributes[nameAttribute] : undefined
  return typeof name === 'string' ? name : undefined
}

export type NameKeeper = Awaited<ReturnType<typeof createNameKeeper>>

/** How many companies are compared and written at once. */
const companiesAtOnce = 2_000

/**
 * Makes what brings names up to date. The sources, and the attributes in which they name companies,
 * are those of now.
 */
export async function createNameKeeper(db: RegistryDatabase) {
  const sources = await db.tables.sources()
  const words = await createWordIndex(db)
  const hasNames = (await db.rows('select 1 from names limit 1')).length > 0
  let count = 0
  let pending = new Map<number, Pending>()
  async function write(): Promise<void> {
    const some = pending
    pending = new Map()
    const changes = await compare(db, some, hasNames || count > 0)
    count += changes.length
    await writeNames(db, changes)
    await words.change(changes)
  }
  return {
    /**
     * Notes what sources say of a company now; the last time counts.
     *
     * @param isNew whether the company can have had no name before.
     */
    change(companyId: number, said: readonly ListedRecord[], isNew = false): Awaitable<void> {
      const known = pending.get(companyId) ?? { isNew }
      pending.set(companyId, { isNew: known.isNew, name: nameOf(said, sources) })
      if (pending.size >= companiesAtOnce) return write()
    },
    /** Writes what is left, and returns the number of companies whose names have changed. */
    async finish(): Promise<number> {
      await write()
      await words.finish()
      return count
    },
  }
}

interface Pending {
  /** Whether it can have had no name. */
  readonly isNew: boolean
  readonly name: string | undefined
}

/** The names that differ from those that are kept. */
async function compare(
  db: Database,
  pending: ReadonlyMap<number, Pending>,
  hasNames: boolean,
): Promise<NameChange[]> {
  const known = [...pending].filter(([, { isNew }]) => !isNew).map(([id]) => id)
  const kept = hasNames ? await readNames(db, known) : new Map<number, string>()
  const changes: NameChange[] = []
  for (const [id, { name }] of pending) {
    const former = kept.get(id)
    if (former !== name) changes.push({ id, former, name })
  }
  return changes
}

/** The names that are kept of companies. */
async function readNames(db: Database, ids: readonly number[]): Promise<Map<number, string>> {
  if (ids.length === 0) return new Map()
  const isAsked = db.dialect.isOneOf('company_id', '$ids', 'bigint')
  const rows = await db.rows(`select company_id, name from names where ${isAsked}`, { ids })
  return new Map(rows.map((row) => [Number(row['company_id']), String(row['name'])]))
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
