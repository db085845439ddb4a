// Withholds records of a resource in all listings that have or had them.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Resource } from '../../resources/resource.ts'
import type { Awaitable } from '../awaitable.ts'
import { shapeOf } from '../listing/shape.ts'
import { inTurns } from '../listing/in-batches.ts'
import type { ListedId, ListingTables } from '../listing/tables.ts'
import { textIn } from '../record-texts.ts'
import type { Registry, Wanted, Work } from './apply-order.ts'
import { hideKeys } from './hide-keys.ts'
import { type Hasher, listCompanies } from './list/hashes.ts'
import { type Found, nothingFound, type Subject } from './list/entries.ts'
import {
  createHold,
  type Fields,
  hashValue,
  personalValues,
  textsOf,
  withheldValues,
} from './personal.ts'
import { formsOf, phrasesOf, withheldText } from './phrases.ts'
import { allRecords, type ListingRewrite, rewriteListing } from './rewrite.ts'
import { companiesTouched } from './touched.ts'
import { changeFields, hideInCompanies } from './withhold-texts.ts'

type RecordSubject = Extract<Subject, { readonly resource: string }>

/** An order on records. */
export type WantedRecords = Wanted & { readonly subject: RecordSubject }

const idsAtOnce = 1_000

/** Withholds records, and the people whom they name in texts about their companies. */
export async function withholdRecords(work: Work, wanted: WantedRecords): Promise<Found> {
  const { resources, hasher, tables, touched, onStep } = work
  const { kind, subject, value } = wanted
  const resource = resources.find(({ name }) => name === subject.resource)
  if (resource === undefined) return nothingFound
  const { name } = resource
  const shape = shapeOf(resource)
  const { marks, companies } = wanted.people ?? (await searchPeople(work, resource, wanted))
  const { seen, changeIn } = createChange(work, resource, wanted, marks)
  const where = companies.union(await companiesHaving(tables, name, marks.keys()))
  for (const [n, companyId] of ascending(where).entries()) {
    await rewriteListing(work, { shape, companyId, change: changeIn(companyId) })
    onStep(`withholding ${name}`, n / where.size)
    await nextTurn()
  }
  // Those that are meant by their ids may have nothing to hide yet. An operator's value does not
  // mean those that earlier orders have masked.
  const meant = value === undefined ? wanted.ids : new Set<number>()
  const others = await Array.fromAsync(withoutOthers(work, name, seen.ids.difference(meant)))
  // Of what was removed before all kept versions, only natural keys are left.
  const keyed = await idsWithKeys(tables, name, meant)
  const ids = [...seen.ids.intersection(meant).union(keyed), ...others.flat()]
  const keys = await hideKeys(work, name, ids)
  const left = await companiesTraced(tables, name, seen.ids.union(keyed))
  const own = seen.companies.union(left)
  // People may be in texts without the record that named them: in another registry, in a backup
  // from before it, or if a mask has hidden who it names.
  const named = resource.changeFields === undefined ? phrasesOf(seen.values, hasher) : []
  const byHash = new Map([...named, ...wanted.found.phrases].map((one) => [one.hash, one]))
  const phrases = [...byHash.values()]
  await hideInCompanies(work, own.union(wanted.companies), kind, phrases)
  const having = own.union(companiesTouched(touched))
  return { ids, keys, phrases, companies: await listCompanies(tables, hasher, having) }
}

const ascending = (ids: ReadonlySet<number>) => [...ids].sort((a, b) => a - b)

/**
 * Leaves out the ids of records that are still in some listing unmasked, perhaps as another
 * source's; returns many at a time.
 */
export async function* withoutOthers(
  { tables, touched }: Work,
  listing: string,
  ids: Iterable<number>,
): AsyncGenerator<readonly number[]> {
  const nameOf = ({ companyId, id }: Pick<ListedId, 'companyId' | 'id'>) => `${companyId} ${id}`
  const masked = touched
    .values()
    .filter((one) => one.listing === listing && one.isPresent && !one.isGone)
  const own = new Set(masked.map(nameOf))
  for await (const batch of inTurns(ids, idsAtOnce)) {
    const listed = await tables.whereListed(listing, batch)
    const others = new Set(listed.filter((one) => !own.has(nameOf(one))).map(({ id }) => id))
    yield batch.filter((id) => !others.has(id))
  }
}

/** Looks ids up, some at a time; returns what is found for any of them. */
async function findFor(
  ids: Iterable<number>,
  find: (some: readonly number[]) => Awaitable<readonly number[]>,
): Promise<Set<number>> {
  const found = new Set<number>()
  for await (const some of inTurns(ids, idsAtOnce)) {
    for (const one of await find(some)) found.add(one)
  }
  return found
}

/** The ids that belong to natural keys. */
const idsWithKeys = (tables: ListingTables, listing: string, ids: Iterable<number>) =>
  findFor(ids, async (some) => (await tables.recordKeys(listing, some)).map(({ id }) => id))

/** The companies whose present listings have records. */
export const companiesHaving = (tables: ListingTables, listing: string, ids: Iterable<number>) =>
  findFor(ids, async (some) =>
    (await tables.whereListed(listing, some)).map(({ companyId }) => companyId),
  )

/** Companies that have left records, of which only recorded changes may be left. */
export const companiesTraced = (tables: ListingTables, listing: string, ids: Iterable<number>) =>
  findFor(ids, (some) => tables.whereTraced(listing, some))

/** The records that an order means, in some of their states. */
export interface People {
  /** By ids of records, what tells that a state of one is about the person who is meant. */
  readonly marks: ReadonlyMap<number, ReadonlySet<string>>
  /** The companies that have or had them. */
  readonly companies: ReadonlySet<number>
}

/** Finds whom an order means where its records may be. */
async function searchPeople(
  work: Work,
  resource: Resource,
  wanted: WantedRecords,
): Promise<People> {
  const { subject, value, candidates, companies } = wanted
  const needles = needlesOf(resource, wanted)
  const holding = candidates ?? (await work.tables.companiesHolding(needles))
  // Where a mask has hidden a value, no byte of it is left.
  const within = ascending('id' in subject ? holding : holding.union(companies))
  const mayHold = ({ buffer, byteOffset, length }: Uint8Array) =>
    value === undefined ||
    needles.some((needle) => Buffer.from(buffer, byteOffset, length).includes(needle))
  const [people] = await findPeople(work, resource, [wanted], { within, mayHold })
  return people ?? { marks: new Map(), companies: new Set() }
}

/**
 * Finds whom orders of the list on values mean, by their subjects: the list has only the hashes of
 * values, so all records are looked through.
 */
export async function findAllPeople(
  registry: Registry,
  orders: readonly Wanted[],
): Promise<ReadonlyMap<Subject, People>> {
  const isOnRecords = (order: Wanted): order is WantedRecords => 'field' in order.subject
  const byResource = Map.groupBy(orders.filter(isOnRecords), ({ subject }) => subject.resource)
  const found = new Map<Subject, People>()
  for (const resource of registry.resources) {
    const own = byResource.get(resource.name) ?? []
    for (const one of await findPeople(registry, resource, own)) found.set(one.subject, one)
  }
  return found
}

interface Places {
  /** The companies that may have such records; all by default. */
  readonly within?: readonly number[]
  /** Whether a text may have one of the values. */
  readonly mayHold?: (text: Uint8Array) => boolean
}

/**
 * Finds whom orders on records of a resource mean, in one pass for all of them. A register may add
 * the field of an order later, leave it out, or correct it.
 */
async function findPeople(
  { db: { tables }, hasher }: Registry,
  resource: Resource,
  orders: readonly WantedRecords[],
  { within, mayHold }: Places = {},
): Promise<readonly (People & Pick<WantedRecords, 'subject'>)[]> {
  const sought = orders.map(({ subject, ids, found }) => {
    // A restored backup may have none of the states that an order has found, but others.
    const hashes = isOfPerson(resource, subject) ? found.phrases.map(({ hash }) => hash) : []
    const known = new Set(hashes)
    const marks = new Map(Array.from(ids, (id) => [id, known]))
    return { subject, marks, companies: new Set<number>() }
  })
  if (sought.length === 0) return []
  const byValue = Map.groupBy(sought, ({ subject }) => ('field' in subject ? subject.value : ''))
  const fields = new Set(orders.flatMap(({ subject }) => ('field' in subject ? subject.field : [])))
  for await (const { companyId, record } of allRecords(tables, shapeOf(resource), within)) {
    const { id, text } = record
    for (const one of sought) if (one.marks.has(id)) one.companies.add(companyId)
    if (fields.size === 0 || mayHold?.(text) === false) continue
    const known = JSON.parse(textIn(text)) as Fields
    for (const field of fields) {
      for (const value of textsOf(known[field])) {
        const hash = hashValue(hasher, resource.name, field, value)
        for (const { subject, marks, companies } of byValue.get(hash) ?? []) {
          companies.add(companyId)
          const own = isOfPerson(resource, subject) ? marksOf(hasher, resource, known) : []
          marks.set(id, new Set(own).union(marks.get(id) ?? new Set()))
        }
      }
    }
  }
  return sought
}

/** Whether a value of a record means its person, rather than one of several. */
const isOfPerson = ({ fields }: Resource, subject: RecordSubject) =>
  'field' in subject && fields[subject.field]?.kind !== 'text_list'

/** The values of a record's personal fields, and hashes of their words. */
function marksOf(hasher: Hasher, resource: Resource, fields: Fields): string[] {
  const values = personalValues(resource, fields)
  return [...values, ...phrasesOf(values, hasher).map(({ hash }) => hash)]
}

/**
 * Creates a function of a company, which creates the change of its records; and what that has seen:
 * the records that are meant, the values of their personal fields, and their companies.
 */
function createChange(
  { hasher }: Work,
  resource: Resource,
  { kind, subject, ids, isByIds }: WantedRecords,
  marks: People['marks'],
) {
  const seen = {
    ids: new Set<number>(),
    values: new Set<string>(),
    companies: new Set<number>(),
  }
  const mask = { kind: 'mask', subject } as const
  const hold = createHold(resource, [mask], hasher)
  const isMeant = (id: number, fields: Fields) => {
    if (ids.has(id)) {
      const isMasked = kind === 'erase' && 'field' in subject && isHidden(fields[subject.field])
      if (isByIds || isMasked) return true
    }
    const known = marks.get(id) ?? new Set()
    return known.size > 0 && marksOf(hasher, resource, fields).some((mark) => known.has(mark))
  }
  const changeIn = (companyId: number): ListingRewrite['change'] => {
    const change = changeFields(shapeOf(resource), (fields, { id }) => {
      const held = hold(fields, isMeant(id, fields) ? mask : undefined)
      if (held?.kept === undefined) return fields
      seen.ids.add(id)
      seen.companies.add(companyId)
      for (const one of withheldValues(resource, fields, held.kept)) seen.values.add(one)
      return kind === 'erase' ? undefined : held.kept
    })
    return (record) => (marks.has(record.id) ? change(record) : record)
  }
  return { seen, changeIn }
}

/** Whether a mask may have hidden the value of a field. */
const isHidden = (value: unknown) => value === null || [value].flat().includes(withheldText)

/** Bytes of which every record in question has some, as far as they are known. */
function needlesOf(resource: Resource, { subject, value, ids }: Wanted): readonly Buffer[] {
  if (!('field' in subject)) return [...ids].map((id) => Buffer.from(`{"id":${id},`))
  if (value === undefined) return []
  const name = isOfPerson(resource, subject) ? `${JSON.stringify(subject.field)}:` : ''
  const forms = formsOf(value)
  const whole = Array.from(forms, (form) => name + JSON.stringify(form))
  // Within one text, accents may be encoded in several forms.
  const part = JSON.stringify(plainPart(value)).slice(1, -1)
  const texts = forms.size > 1 && part.length >= partLengthMin ? [...whole, part] : whole
  return texts.map((text) => Buffer.from(text))
}

/** A shorter part would be in most texts. */
const partLengthMin = 3

/** The longest part of a text without accents and Korean syllables, which have several forms. */
function plainPart(text: string): string {
  const parts = text.normalize('NFD').split(/[^]\p{M}+|[\u1100-\u11ff]+/u)
  return parts.reduce((longest, part) => (part.length > longest.length ? part : longest))
}
