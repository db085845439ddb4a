// Finds what orders mean in a registry: those of an operator by names and values, and those of
// another registry, which has assigned other ids, by hashes of natural keys and of names of
// companies, as the gate of imports does.

import { namesOf } from '../companies/register-names.ts'
import type { CompanyName, IdentifyingName } from '../inspecting.ts'
import type { CompanyRow } from '../listing/tables.ts'
import type { ImportConnection, RegistryDatabase } from '../sql/database.ts'
import type { Located, Wanted } from './apply.ts'
import { hashStoredKey } from './hide-keys.ts'
import {
  foundBy,
  type Hasher,
  type IdSubject,
  type List,
  type Order,
  ordersOf,
  type PhraseHash,
  type ValueSubject,
} from './list.ts'
import { hashValue } from './personal.ts'
import { phrasesOf } from './phrases.ts'
import type { WithholdRequest } from './withhold.ts'

/** Turns an operator's request into an order: hashes a value, and looks up names. */
export async function wantedOf(
  db: ImportConnection,
  list: List,
  { kind, subject }: WithholdRequest,
  hasher: Hasher,
): Promise<Wanted> {
  if ('id' in subject) {
    // A record that is already withheld may have moved to another company, where texts name whom
    // only its earlier orders know.
    const inForce = new Set(ordersOf(list).inForce.map(({ number }) => number))
    const isEarlier = (one: Order) => inForce.has(one.number) && hasFound(one, subject)
    return { kind, subject, found: foundBy(list, isEarlier) }
  }
  if ('field' in subject) {
    const { resource, field, value } = subject
    const hashed = { resource, field, value: hashValue(hasher, resource, field, value) }
    const [phrase] = phrasesOf([value], hasher)
    const found = foundBy(list, (order) => hasMasked(order, hashed, phrase))
    return { kind, subject: hashed, value, ...(kind === 'erase' ? { found } : {}) }
  }
  const companies = new Set(await companyIdsOf(db, subject.company))
  const [id = 0] = companies
  const located = { ids: new Set<number>(), companies }
  return subject.text === undefined
    ? { kind, subject: { company: id }, located }
    : { kind, subject: { textOf: id }, value: subject.text, located }
}

/** Whether an order has found a record. */
const hasFound = ({ subject, found }: Order, { resource, id }: IdSubject) =>
  'resource' in subject && subject.resource === resource && found.ids.includes(id)

/** Whether an order has masked a value in all that it has found. */
function hasMasked(
  { subject, found }: Order,
  { resource, field, value }: ValueSubject,
  phrase: PhraseHash | undefined,
): boolean {
  if (!('resource' in subject) || subject.resource !== resource) return false
  if ('field' in subject && subject.field === field && subject.value === value) return true
  return found.ids.length === 1 && found.phrases.some(({ hash }) => hash === phrase?.hash)
}

/** The ids of a company, and of others that have or had its name. */
async function companyIdsOf(
  { tables }: ImportConnection,
  company: CompanyName,
): Promise<readonly number[]> {
  const [known, names] =
    typeof company === 'number'
      ? [[company], (await namesOf(tables, [company])).flatMap(identifyingName)]
      : [[], [company]]
  const now = await tables.companiesByName(names)
  const past = await tables.forgottenByName(names)
  return [...known, ...[...now, ...past].map(({ id }) => id)]
}

function identifyingName({ jurisdiction, identifier }: CompanyRow): IdentifyingName[] {
  return jurisdiction === null || identifier === null ? [] : [[jurisdiction, identifier]]
}

/** Sets that receive the ids found, by the hash of what is looked for. */
type Sought = Map<string, Set<number>[]>

/** Finds what orders withhold, in one pass for all of them; returns it by their numbers. */
export async function locate(
  db: RegistryDatabase,
  orders: readonly Order[],
  hasher: Hasher,
): Promise<ReadonlyMap<number, Located>> {
  const located = new Map<number, Located>()
  const [byKey, byName]: [Sought, Sought] = [new Map(), new Map()]
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

function want(wanted: Sought, hash: string, ids: Set<number>): void {
  wanted.set(hash, [...(wanted.get(hash) ?? []), ids])
}

async function findKeys(db: RegistryDatabase, byKey: Sought, hasher: Hasher): Promise<void> {
  const sources = await db.tables.sources()
  type Columns = readonly [listing: string, source: number, key: string, id: number]
  const sql = 'select listing, source_id, key, id from record_keys'
  for await (const rows of db.batches<Columns>(sql)) {
    for (const [listing, source, key, id] of rows) {
      const hash = hashStoredKey(hasher, listing, sources.get(source)?.name ?? '', key)
      for (const ids of byKey.get(hash) ?? []) ids.add(id)
    }
  }
}

async function findCompanies(db: RegistryDatabase, byName: Sought, hasher: Hasher): Promise<void> {
  const named = 'jurisdiction, identifier from'
  for (const sql of [
    `select id, ${named} companies where identifier is not null`,
    `select company_id, ${named} companies_past where identifier is not null`,
  ]) {
    for await (const rows of db.batches<[id: number, ...name: [string, string]]>(sql)) {
      for (const [id, ...name] of rows) {
        for (const ids of byName.get(hasher('company', ...name)) ?? []) ids.add(id)
      }
    }
  }
}
