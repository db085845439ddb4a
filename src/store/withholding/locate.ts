// Finds what orders mean in a registry: those of an operator by names and values, those of another
// registry, which has assigned other ids, by hashes of natural keys and of names of companies, as
// the gate of imports does, and earlier ones where an import has found what they mean.

import type { ImportPlan } from '../importing.ts'
import type { CompanyName, IdentifyingName } from '../inspecting.ts'
import type { ImportConnection, RegistryDatabase } from '../sql/database.ts'
import { inTurns } from '../listing/in-batches.ts'
import { shapeOf } from '../listing/shape.ts'
import { textIn } from '../record-texts.ts'
import { type Located, nameCompanies, type Wanted, type Work } from './apply-order.ts'
import type { Finds, NamedCompany } from './finds.ts'
import { hashKey, hashStoredKey, keyOfHash } from './hide-keys.ts'
import {
  type Found,
  type IdSubject,
  isInForce,
  joinFound,
  type List,
  type Order,
  ordersOf,
  type PhraseHash,
  type ValueSubject,
  withoutAssigned,
} from './list/entries.ts'
import { hashNames, type Hasher, idsHere } from './list/hashes.ts'
import { type Fields, hashValue, textsOf } from './personal.ts'
import { phrasesOf } from './phrases.ts'
import { allRecords } from './rewrite.ts'
import { companiesHaving, companiesTraced } from './withhold-records.ts'
import type { WithholdRequest } from './withhold.ts'

/** Turns an operator's request into an order: hashes a value, and looks up names. */
export async function wantedOf(
  db: ImportConnection,
  list: List,
  { kind, subject }: WithholdRequest,
  hasher: Hasher,
): Promise<Wanted> {
  if ('id' in subject) {
    // Whom a masked record names is known to its earlier orders only: one that was lifted, too, if
    // it was on this record alone.
    const earlier = ordersOf(list).filter(
      (one) => (isInForce(one) || 'id' in one.subject) && hasFound(one, subject),
    )
    return { kind, subject, found: joinFound(earlier.map(({ found }) => found)) }
  }
  if ('field' in subject) {
    const { resource, field, value } = subject
    const hashed = { resource, field, value: hashValue(hasher, resource, field, value) }
    const [phrase] = phrasesOf([value], hasher)
    if (kind === 'mask') return { kind, subject: hashed, value }
    const masked = ordersOf(list).filter((order) => hasMasked(order, hashed, phrase))
    const located = await locate(db, masked, hasher)
    const found = joinFound(masked.map((order) => foundAt(order, located)))
    return { kind, subject: hashed, value, found }
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

/** An import that has found withheld people where their orders do not know them. */
export interface FindingImport {
  readonly plan: Pick<ImportPlan, 'target' | 'source' | 'startedAt'>
  /** The number of its source. */
  readonly source: number
  readonly version: number
  /** By the numbers of orders. */
  readonly finds: ReadonlyMap<number, Finds>
}

/** What an order means where an import has found it, and what is new to it. */
export async function wantedLater(
  { db, hasher }: Pick<Work, 'db' | 'hasher'>,
  { kind, subject, found }: Order,
  find: Finds,
  { plan, source }: FindingImport,
): Promise<{ readonly wanted: Wanted; readonly news: Found }> {
  const { tables } = db
  const listing = plan.target.name
  const ids = new Set(find.ids)
  const keys = Array.from(find.keys, (key) => hashKey(hasher, listing, plan.source, key))
  for await (const names of inTurns([...find.keys, ...keys.map(keyOfHash)], idsAtOnce)) {
    const known = await tables.keyIds(listing, source, names)
    for (const id of known.values()) ids.add(id)
  }
  const having = await companiesHaving(tables, listing, ids)
  const left = await companiesTraced(tables, listing, ids)
  const given = new Set(await idsOfCompanies(db, [...find.companies.values()]))
  const companies = await nameCompanies({ tables, hasher }, given.union(left))
  const names = new Set(companies.map(({ name }) => name))
  const absent = [...find.companies.keys()].flatMap((name) =>
    typeof name === 'string' && !names.has(name) ? [{ id: 0, name }] : [],
  )
  const phrases = [...find.phrases.values()]
  // New phrases may be in the texts of all companies of the order.
  const others = phrases.length === 0 ? [] : await idsInRegistry(db, found.companies, hasher)
  return {
    wanted: {
      kind,
      subject,
      found: {
        ids: [...ids],
        keys: [],
        companies: [...companies, ...others.map((id) => ({ id, name: null }))],
        phrases: [...found.phrases, ...phrases],
      },
      later: { ids, companies: [...given.union(having)].sort((a, b) => a - b) },
    },
    // An absent company may come later.
    news: { ids: [...ids], keys, companies: [...companies, ...absent], phrases },
  }
}

/** The ids of companies in the list that mean the same companies here. */
async function idsInRegistry(
  { tables }: RegistryDatabase,
  companies: Found['companies'],
  hasher: Hasher,
): Promise<number[]> {
  const known = companies.map(({ id }) => id)
  return idsHere(companies, hashNames(hasher, await tables.statesById(known)))
}

const idsAtOnce = 1_000

async function idsOfCompanies(
  { tables }: RegistryDatabase,
  companies: readonly NamedCompany[],
): Promise<number[]> {
  const given = companies.flatMap(({ id }) => id ?? [])
  const names = companies.flatMap(identifyingName)
  const named = [...(await tables.companiesByName(names)), ...(await tables.forgottenByName(names))]
  return [...given, ...named.map(({ id }) => id)]
}

/** The ids of a company, and of others that have or had its name. */
async function companyIdsOf(
  db: ImportConnection,
  company: CompanyName,
): Promise<readonly number[]> {
  if (typeof company !== 'number') {
    const [jurisdiction, identifier] = company
    return idsOfCompanies(db, [{ id: null, jurisdiction, identifier }])
  }
  return [company, ...(await idsOfCompanies(db, await db.tables.statesById([company])))]
}

function identifyingName({ jurisdiction, identifier }: NamedCompany): IdentifyingName[] {
  return jurisdiction === null || identifier === null ? [] : [[jurisdiction, identifier]]
}

/** Sets that receive the ids found, by the hash of what is looked for. */
type Sought<Key = string> = Map<Key, Set<number>[]>

/** What an order has found, by the ids that this has here. */
export function foundAt({ number, found }: Order, located: ReadonlyMap<number, Located>): Found {
  const { ids = [], companies = [] } = located.get(number) ?? {}
  return { ...found, ids: [...ids], companies: Array.from(companies, (id) => ({ id, name: null })) }
}

/**
 * Finds what orders withhold, in one pass for all of them; returns it by their numbers. Their
 * registry may have assigned other ids, too, before a restored backup or in what it replaces.
 */
export async function locate(
  db: RegistryDatabase,
  orders: readonly Order[],
  hasher: Hasher,
): Promise<ReadonlyMap<number, Located>> {
  const located = new Map<number, Located>()
  const [byKey, byName]: [Sought, Sought] = [new Map(), new Map()]
  for (const { number, found } of orders) {
    const given = withoutAssigned(found)
    const ids = new Set(given.ids)
    const companies = new Set(given.companies.map(({ id }) => id).filter((id) => id > 0))
    located.set(number, { ids, companies })
    for (const key of found.keys) want(byKey, key, ids)
    for (const { name } of found.companies) if (name !== null) want(byName, name, companies)
  }
  if (byKey.size > 0) await findKeys(db, byKey, hasher)
  if (byName.size > 0) await findCompanies(db, byName, hasher)
  return located
}

function want<Key>(wanted: Sought<Key>, key: Key, ids: Set<number>): void {
  const known = wanted.get(key)
  if (known === undefined) wanted.set(key, [ids])
  else known.push(ids)
}

/**
 * Finds the companies with records that orders on values mean, now or in the past, in one pass for
 * all of them; returns them by the orders' numbers. A list has only the hashes of values.
 */
export async function locateValues(
  { db: { tables }, resources, hasher }: Pick<Work, 'db' | 'resources' | 'hasher'>,
  orders: readonly Order[],
  located: ReadonlyMap<number, Located>,
): Promise<ReadonlyMap<number, ReadonlySet<number>>> {
  const candidates = new Map<number, Set<number>>()
  for (const resource of resources) {
    const byField = new Map<string, Sought>()
    const byId: Sought<number> = new Map()
    for (const { number, subject, found } of orders) {
      if (!('field' in subject) || subject.resource !== resource.name) continue
      const companies = new Set<number>()
      candidates.set(number, companies)
      const byValue: Sought = byField.get(subject.field) ?? new Map()
      byField.set(subject.field, byValue)
      want(byValue, subject.value, companies)
      const { ids = [] } = located.get(number) ?? {}
      for (const id of new Set([...ids, ...found.ids])) want(byId, id, companies)
    }
    if (byField.size === 0) continue
    for await (const { companyId, record } of allRecords(tables, shapeOf(resource))) {
      for (const companies of byId.get(record.id) ?? []) companies.add(companyId)
      const fields = JSON.parse(textIn(record.text)) as Fields
      for (const [field, byValue] of byField) {
        for (const text of textsOf(fields[field])) {
          const hash = hashValue(hasher, resource.name, field, text)
          for (const companies of byValue.get(hash) ?? []) companies.add(companyId)
        }
      }
    }
  }
  return candidates
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
  const sql = `
    select company_id, jurisdiction, identifier from company_states where identifier is not null`
  for await (const rows of db.batches<[id: number, ...name: [string, string]]>(sql)) {
    for (const [id, ...name] of rows) {
      for (const ids of byName.get(hasher('company', ...name)) ?? []) ids.add(id)
    }
  }
}
