// Finds where a registry has what orders of the list mean. It may have assigned other ids, in a
// branch that a restore has left or as another registry: so by hashes of natural keys and of the
// names of companies, as the gate of imports does. An import has the keys and names themselves.

import type { IdentifyingName } from '../inspecting.ts'
import { inTurns } from '../listing/in-batches.ts'
import { namesIn } from '../sql/company-tables.ts'
import type { RegistryDatabase } from '../sql/database.ts'
import type { Here, Registry, Wanted } from './apply-order.ts'
import type { Finds, FindingImport } from './finds.ts'
import { hashStoredKey, keyOfHash } from './hide-keys.ts'
import { type Hasher, hashNames, idsHere, listCompanies } from './list/hashes.ts'
import { type Found, nothingFound, type Order, withoutAssigned } from './list/entries.ts'
import { companiesHaving, companiesTraced } from './withhold-records.ts'

/** Adds to orders of the list what they mean here, found in one pass for all of them. */
export async function locate<O extends Order>(
  db: RegistryDatabase,
  orders: readonly O[],
  hasher: Hasher,
): Promise<(O & Here)[]> {
  const all = orders.map(({ found }) => found)
  const keys = all.flatMap((found) => found.keys)
  const names = all.flatMap(({ companies }) => companies.flatMap(({ name }) => name ?? []))
  const byKey = await idsByHash(keys, hashedKeys(db, hasher))
  const byName = await idsByHash(names, hashedNames(db, hasher))
  return orders.map((order) => {
    const { found } = order
    const given = withoutAssigned(found)
    const ids = new Set(given.ids)
    const companies = new Set(given.companies.map(({ id }) => id).filter((id) => id > 0))
    for (const key of found.keys) for (const id of byKey.get(key) ?? []) ids.add(id)
    for (const { name } of found.companies) {
      for (const id of byName.get(name ?? '') ?? []) companies.add(id)
    }
    return { ...order, ids, companies }
  })
}

/** The ids of which hashes are stored, by those that are asked for. */
async function idsByHash(
  asked: readonly string[],
  stored: AsyncIterable<readonly [hash: string, id: number]>,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const ids = new Map(asked.map((hash) => [hash, [] as number[]]))
  if (ids.size === 0) return ids
  for await (const [hash, id] of stored) ids.get(hash)?.push(id)
  return ids
}

async function* hashedKeys(db: RegistryDatabase, hasher: Hasher) {
  const sources = await db.tables.sources()
  type Columns = readonly [listing: string, source: number, key: string, id: number]
  const sql = 'select listing, source_id, key, id from record_keys'
  for await (const rows of db.batches<Columns>(sql)) {
    for (const [listing, source, key, id] of rows) {
      const hash = hashStoredKey(hasher, listing, sources.get(source)?.name ?? '', key)
      yield [hash, id] as const
    }
  }
}

async function* hashedNames(db: RegistryDatabase, hasher: Hasher) {
  const sql = `
    select company_id, jurisdiction, identifier from company_states where identifier is not null`
  for await (const rows of db.batches<[id: number, ...name: [string, string]]>(sql)) {
    for (const [id, ...name] of rows) yield [hasher('company', ...name), id] as const
  }
}

const idsAtOnce = 1_000

/** What an order means where an import has found it, and what the rows of the import tell. */
export async function wantedLater(
  { db, hasher }: Registry,
  { kind, subject, found }: Order,
  finds: Finds,
  { plan, source }: FindingImport,
): Promise<{ readonly wanted: Wanted; readonly told: Found }> {
  const { tables } = db
  const listing = plan.target.name
  const ids = new Set(finds.ids)
  const stored = [...finds.keys].flatMap(([hash, key]) => [key, keyOfHash(hash)])
  for await (const some of inTurns(stored, idsAtOnce)) {
    for (const id of (await tables.keyIds(listing, source, some)).values()) ids.add(id)
  }
  const rows = [...finds.companies.values()]
  const given = new Set(rows.flatMap(({ id }) => id ?? []))
  for (const id of await idsOfNames(db, namesIn(rows))) given.add(id)
  const having = await companiesHaving(tables, listing, ids)
  const left = given.union(await companiesTraced(tables, listing, ids))
  const phrases = [...finds.phrases.values()]
  // New phrases may be in the texts of all companies of the order.
  const known = phrases.length === 0 ? [] : found.companies
  const names = await hashNames(tables, hasher, new Set(known.map(({ id }) => id)))
  const listed = await listCompanies(tables, hasher, left)
  // A company that is not here may come later.
  const here = new Set(listed.map(({ name }) => name))
  const absent = [...finds.companies.keys()].flatMap((name) =>
    typeof name === 'string' && !here.has(name) ? [{ id: 0, name }] : [],
  )
  return {
    wanted: {
      kind,
      subject,
      found: { ...nothingFound, phrases: [...found.phrases, ...phrases] },
      ids,
      companies: left.union(new Set(idsHere(known, names))),
      isByIds: 'id' in subject,
      candidates: given.union(having),
    },
    told: {
      ids: [...ids],
      keys: [...finds.keys.keys()],
      companies: [...listed, ...absent],
      phrases,
    },
  }
}

/** The ids of companies that have or had names. */
export async function idsOfNames(
  { tables }: RegistryDatabase,
  names: readonly IdentifyingName[],
): Promise<number[]> {
  const named = [...(await tables.companiesByName(names)), ...(await tables.forgottenByName(names))]
  return named.map(({ id }) => id)
}
