// Withholds records of a resource in all listings that have or had them.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Resource } from '../../resources/resource.ts'
import type { Awaitable } from '../awaitable.ts'
import type { ListedRecord } from '../listing/segment.ts'
import { shapeOf } from '../listing/shape.ts'
import { inTurns } from '../listing/in-batches.ts'
import type { ListedId, ListingTables } from '../listing/tables.ts'
import { textIn } from '../record-texts.ts'
import type { Wanted, Work } from './apply-order.ts'
import { hideKeys } from './hide-keys.ts'
import type { Found, Subject } from './list/entries.ts'
import { createHold, type Fields, personalValues, withheldValues } from './personal.ts'
import { createHidePhrases, formsOf, phrasesOf, withheldText } from './phrases.ts'
import { type ListingRewrite, rewriteListing } from './rewrite.ts'
import { companiesTouched } from './touched.ts'
import { changeFields, hideInCompanies } from './withhold-texts.ts'

type RecordSubject = Extract<Subject, { readonly resource: string }>

type WantedRecords = Wanted & { readonly subject: RecordSubject }

const idsAtOnce = 1_000

/** What was found, and the companies that have or had it, by ids alone. */
export type FoundIn = Omit<Found, 'companies'> & { readonly companies: Iterable<number> }

/** Withholds records, and the people whom they name in texts about their companies. */
export async function withholdRecords(work: Work, wanted: WantedRecords): Promise<FoundIn> {
  const { resources, hasher, touched, onStep } = work
  const { subject, located, kind } = wanted
  const resource = resources.find(({ name }) => name === subject.resource)
  if (resource === undefined) return { ids: [], keys: [], companies: [], phrases: [] }
  const shape = shapeOf(resource)
  const seen = {
    ids: new Set<number>(),
    values: new Set<string>(),
    companies: new Set<number>(),
  }
  const needles = needlesOf(resource, wanted)
  const masked = new Set(maskedBefore(wanted)?.companies.map(({ id }) => id))
  const find = () => wanted.candidates ?? work.tables.companiesHolding(needles ?? [])
  const candidates = wanted.later?.companies ?? ascending((await find()).union(masked))
  const mayHold = needles && ((texts: Buffer) => needles.some((needle) => texts.includes(needle)))
  const people = await findPeople(work, resource, wanted, candidates, mayHold)
  const companies = people === undefined ? candidates : ascending(people.companies.union(masked))
  const changeIn = createChange(work, resource, wanted, { ...seen, marks: people?.marks })
  for (const [n, companyId] of companies.entries()) {
    await rewriteListing(work, {
      shape,
      companyId,
      change: changeIn(companyId),
      mayHold: people !== undefined || masked.has(companyId) ? undefined : mayHold,
    })
    onStep(`withholding ${resource.name}`, n / companies.length)
    await nextTurn()
  }
  // Those that are meant by their ids may have nothing to hide yet.
  const meant = namedIds(wanted).union(wanted.later?.ids ?? new Set<number>())
  const others = await Array.fromAsync(
    withoutOthers(work, resource.name, seen.ids.difference(meant)),
  )
  // Of what was removed before all kept versions, only natural keys are left.
  const keyed = await idsWithKeys(work.tables, resource.name, meant)
  const ids = [...seen.ids.intersection(meant).union(keyed), ...others.flat()]
  const keys = await hideKeys(work, resource.name, ids)
  for (const id of await companiesTraced(work.tables, resource.name, seen.ids.union(keyed))) {
    seen.companies.add(id)
  }
  const own = resource.changeFields === undefined ? phrasesOf(seen.values, hasher) : []
  // People may be in texts without the record that named them: in another registry, in a backup
  // from before it, or if a mask has hidden who it names.
  const all = [
    ...new Map([...own, ...(wanted.found?.phrases ?? [])].map((one) => [one.hash, one])).values(),
  ]
  if (all.length > 0) {
    const named = located?.companies ?? wanted.found?.companies.map(({ id }) => id) ?? []
    const where = new Set([...seen.companies, ...named])
    await hideInCompanies(work, where, { kind, hidePhrases: createHidePhrases(all, hasher) })
  }
  return {
    ids,
    keys,
    phrases: located === undefined ? all : own,
    companies: seen.companies.union(companiesTouched(touched)),
  }
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

/** The records that have the value of an order in some state. */
interface People {
  /** By ids, what tells that another state of such a record is about the same person. */
  readonly marks: ReadonlyMap<number, ReadonlySet<string>>
  /** The companies that have or had them with it, and those that have them now. */
  readonly companies: ReadonlySet<number>
}

/**
 * Finds the records that have the value of an order in some state: a register may add such a field
 * later, leave it out, or correct it. Undefined if an order does not mean one person by a record.
 */
async function findPeople(
  work: Work,
  resource: Resource,
  { subject, located, found }: WantedRecords,
  companies: readonly number[],
  mayHold: ListingRewrite['mayHold'],
): Promise<People | undefined> {
  if (!('field' in subject) || resource.fields[subject.field]?.kind === 'text_list')
    return undefined
  const hold = createHold(resource, [{ kind: 'mask', subject }], work.hasher)
  // A restored backup may have none of these states, but others.
  const before = located === undefined ? found : undefined
  const hashes = before?.phrases.map(({ hash }) => hash)
  const marks = new Map(before?.ids.map((id) => [id, new Set(hashes)]))
  const having = new Set(before?.companies.map(({ id }) => id))
  for (const companyId of companies) {
    const change = (record: ListedRecord) => {
      const fields = JSON.parse(textIn(record.text)) as Fields
      const isNamed = located?.ids.has(record.id) === true
      if (!isNamed && hold(fields, undefined) === undefined) return record
      having.add(companyId)
      const known = marks.get(record.id) ?? new Set()
      marks.set(record.id, known.union(new Set(marksOf(work, resource, fields))))
      return record
    }
    await rewriteListing(work, { shape: shapeOf(resource), companyId, change, mayHold })
    await nextTurn()
  }
  const listed = await companiesHaving(work.tables, resource.name, marks.keys())
  return { marks, companies: having.union(listed) }
}

/** The values of a record's personal fields, and hashes of their words. */
function marksOf({ hasher }: Work, resource: Resource, fields: Fields): string[] {
  const values = personalValues(resource, fields)
  return [...values, ...phrasesOf(values, hasher).map(({ hash }) => hash)]
}

/** The records found, the values of their personal fields, and their companies. */
interface Seen {
  readonly ids: Set<number>
  readonly values: Set<string>
  readonly companies: Set<number>
  readonly marks: People['marks'] | undefined
}

/** Creates a function of a company, which creates the change of its records. */
function createChange(work: Work, resource: Resource, wanted: WantedRecords, seen: Seen) {
  const { kind, subject } = wanted
  const { marks } = seen
  const ids = namedIds(wanted)
  const masked = new Set(maskedBefore(wanted)?.ids)
  const mask = { kind: 'mask', subject } as const
  const hold = createHold(resource, [mask], work.hasher)
  const changeIn = (companyId: number) =>
    changeFields(shapeOf(resource), (fields, { id }) => {
      const wasMeant = 'field' in subject && masked.has(id) && isHidden(fields[subject.field])
      const known = marks?.get(id)
      const isSame = known && marksOf(work, resource, fields).some((mark) => known.has(mark))
      const held = hold(fields, ids.has(id) || wasMeant || isSame === true ? mask : undefined)
      if (held?.kept === undefined) return fields
      seen.ids.add(id)
      seen.companies.add(companyId)
      for (const one of withheldValues(resource, fields, held.kept)) seen.values.add(one)
      return kind === 'erase' ? undefined : held.kept
    })
  if ('field' in subject && marks === undefined) return changeIn
  const isNamed = (id: number) => ids.has(id) || masked.has(id) || marks?.has(id) === true
  return (companyId: number) => {
    const change = changeIn(companyId)
    return (record: ListedRecord) => (isNamed(record.id) ? change(record) : record)
  }
}

/** Where an import has found a record, the id in its order may be that of another one. */
const namedIds = ({ subject, located, later }: WantedRecords): ReadonlySet<number> =>
  located?.ids ?? ('id' in subject ? (later?.ids ?? new Set([subject.id])) : new Set())

/** What an erasure by a value has to find although a mask may have hidden the value. */
const maskedBefore = ({ kind, subject, found }: WantedRecords) =>
  kind === 'erase' && 'field' in subject ? found : undefined

/** Whether a mask may have hidden the value of a field. */
const isHidden = (value: unknown) => value === null || [value].flat().includes(withheldText)

/** Bytes of which every record in question has some; undefined if they are not known. */
function needlesOf(resource: Resource, wanted: WantedRecords): readonly Buffer[] | undefined {
  const { subject, value, located } = wanted
  if ('id' in subject) return [...namedIds(wanted)].map((id) => Buffer.from(`{"id":${id},`))
  if (located !== undefined || value === undefined) return undefined
  const isList = resource.fields[subject.field]?.kind === 'text_list'
  const name = isList ? '' : `${JSON.stringify(subject.field)}:`
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
