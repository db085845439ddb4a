// Where orders of another registry find what they withhold in this one, which has assigned other
// ids: by hashes of natural keys and of the names of companies, as the gate of imports does.

import type { RegistryDatabase } from '../sql/database.ts'
import { hashStoredKey } from './hide-keys.ts'
import type { Hasher, Order } from './list.ts'
import type { Located } from './apply.ts'

/** Ids that get more, by the hash of what is looked for. */
type Wanted = Map<string, Set<number>[]>

/** Looks for what orders withhold, all of them at once; returns where it is, by their numbers. */
export async function locate(
  db: RegistryDatabase,
  orders: readonly Order[],
  hasher: Hasher,
): Promise<ReadonlyMap<number, Located>> {
  const located = new Map<number, Located>()
  const [byKey, byName]: [Wanted, Wanted] = [new Map(), new Map()]
  for (const { number, found } of orders) {
    const ids = new Set(found.ids)
    const companies = new Set(found.companies.map(({ id }) => id).filter((id) => id > 0))
    located.set(number, { ids, companies })
    for (const key of found.keys) want(byKey, key, ids)
    for (const { name } of found.companies) if (name !== null) want(byName, name, companies)
  }
  if (byKey.size > 0) await findKeys(db, byKey, hasher)
  if (byName.size > 0) await findCompanies(db, byName, hasher)
  return located
}

function want(wanted: Wanted, hash: string, ids: Set<number>): void {
  wanted.set(hash, [...(wanted.get(hash) ?? []), ids])
}

async function findKeys(db: RegistryDatabase, byKey: Wanted, hasher: Hasher): Promise<void> {
  const sources = await db.tables.sources()
  for await (const rows of db.batches('select listing, source_id, key, id from record_keys')) {
    for (const { listing, source_id: source, key, id } of rows) {
      const name = sources.get(Number(source))?.name ?? ''
      const hash = hashStoredKey(hasher, String(listing), name, String(key))
      for (const ids of byKey.get(hash) ?? []) ids.add(Number(id))
    }
  }
}

async function findCompanies(db: RegistryDatabase, byName: Wanted, hasher: Hasher): Promise<void> {
  const named = 'jurisdiction, identifier from'
  for (const sql of [
    `select id, ${named} companies where identifier is not null`,
    `select company_id as id, ${named} companies_past where identifier is not null`,
  ]) {
    for await (const rows of db.batches(sql)) {
      for (const { id, jurisdiction, identifier } of rows) {
        const hash = hasher('company', String(jurisdiction), String(identifier))
        for (const ids of byName.get(hash) ?? []) ids.add(Number(id))
      }
    }
  }
}
