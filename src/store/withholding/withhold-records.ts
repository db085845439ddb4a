// Withholds records of a resource in all listings that have or had them.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Resource } from '../../resources/resource.ts'
import type { ListedRecord } from '../listing/segment.ts'
import { shapeOf } from '../listing/shape.ts'
import { inBatches } from '../listing/in-batches.ts'
import type { Wanted, Work } from './apply.ts'
import { hideKeys } from './hide-keys.ts'
import type { Found, Subject } from './list.ts'
import { createHold, personalValues } from './personal.ts'
import { createHidePhrases, phrasesOf, withheldText } from './phrases.ts'
import { rewriteListing } from './rewrite.ts'
import { changeFields, hideInCompanies } from './withhold-texts.ts'

type RecordSubject = Extract<Subject, { readonly resource: string }>

type WantedRecords = Wanted & { readonly subject: RecordSubject }

/** What was found, and the companies that have or had it, by ids alone. */
export type FoundIn = Omit<Found, 'companies'> & { readonly companies: Iterable<number> }

/** Withholds records, and the people whom they name in texts about their companies. */
export async function withholdRecords(work: Work, wanted: WantedRecords): Promise<FoundIn> {
  const { resources, hasher, touched, onStep } = work
  const { subject, located, kind } = wanted
  const resource = resources.find(({ name }) => name === subject.resource)
  if (resource === undefined) return { ids: [], keys: [], companies: [], phrases: [] }
  const shape = shapeOf(resource)
  const seen = { ids: new Set<number>(), values: new Set<string>(), companies: new Set<number>() }
  const needle = needleOf(resource, wanted)
  const masked = new Set(maskedBefore(wanted)?.companies.map(({ id }) => id))
  const companies = await candidates(work, subject, needle, masked)
  for (const [n, companyId] of companies.entries()) {
    const holds = needle && ((texts: Buffer) => texts.includes(needle))
    await rewriteListing(work, {
      shape,
      companyId,
      change: changeOf(work, resource, wanted, { ...seen, companyId }),
      mayHold: masked.has(companyId) ? undefined : holds,
    })
    onStep(`withholding ${resource.name}`, n / companies.length)
    await nextTurn()
  }
  const ids = await withoutOthers(work, resource.name, seen.ids)
  const keys = await hideKeys(work, resource.name, ids)
  const own = resource.changeFields === undefined ? phrasesOf(seen.values, hasher) : []
  // People may be in texts without the record that named them: in another registry, in a backup
  // from before it, or if a mask has hidden who it names.
  const all = [
    ...new Map([...own, ...(wanted.found?.phrases ?? [])].map((one) => [one.hash, one])).values(),
  ]
  if (all.length > 0) {
    const named = located?.companies ?? wanted.found?.companies.map(({ id }) => id) ?? []
    const having = new Set([...seen.companies, ...named])
    await hideInCompanies(work, having, { kind, hidePhrases: createHidePhrases(all, hasher) })
  }
  const having = [...seen.companies, ...touched.map(({ companyId }) => companyId)]
  return { ids, keys, phrases: located === undefined ? all : own, companies: having }
}

/** Leaves out the ids of records that are still in some listing, perhaps as another source's. */
export async function withoutOthers(
  { tables, touched }: Work,
  listing: string,
  ids: Iterable<number>,
): Promise<number[]> {
  const nameOf = (one: { readonly companyId: number; readonly id: number }) =>
    `${one.companyId} ${one.id}`
  const present = touched.filter((one) => one.isPresent && one.listing === listing)
  const own = new Set(present.map(nameOf))
  const found: number[] = []
  for (const some of inBatches(ids, 1_000)) {
    const listed = await tables.whereListed(listing, some)
    const others = new Set(listed.filter((one) => !own.has(nameOf(one))).map(({ id }) => id))
    found.push(...some.filter((id) => !others.has(id)))
  }
  return found
}

/** The records found, the values of their personal fields, and their companies. */
interface Seen {
  readonly ids: Set<number>
  readonly values: Set<string>
  readonly companies: Set<number>
  /** The company that is being rewritten. */
  readonly companyId: number
}

function changeOf({ hasher }: Work, resource: Resource, wanted: WantedRecords, seen: Seen) {
  const { kind, subject, located } = wanted
  const ids = located?.ids ?? new Set('id' in subject ? [subject.id] : [])
  const masked = new Set(maskedBefore(wanted)?.ids)
  const mask = { kind: 'mask', subject } as const
  const hold = createHold(resource, [mask], hasher)
  const change = changeFields(shapeOf(resource), (fields, { id }) => {
    const wasMeant = 'field' in subject && masked.has(id) && isHidden(fields[subject.field])
    const held = hold(fields, ids.has(id) || wasMeant ? mask : undefined)
    if (held?.kept === undefined) return fields
    seen.ids.add(id)
    seen.companies.add(seen.companyId)
    const kept = new Set(personalValues(resource, held.kept))
    for (const one of personalValues(resource, fields)) if (!kept.has(one)) seen.values.add(one)
    return kind === 'erase' ? undefined : held.kept
  })
  if ('field' in subject) return change
  return (record: ListedRecord) => (ids.has(record.id) ? change(record) : record)
}

/** What an erasure by a value has to find although a mask may have hidden the value. */
const maskedBefore = ({ kind, subject, found }: WantedRecords) =>
  kind === 'erase' && 'field' in subject ? found : undefined

/** Whether a mask may have hidden the value of a field. */
const isHidden = (value: unknown) => value === null || [value].flat().includes(withheldText)

/** Bytes that the text of every record in question contains; undefined if they are not known. */
function needleOf(
  resource: Resource,
  { subject, value, located }: WantedRecords,
): Buffer | undefined {
  if (located !== undefined) return undefined
  if ('id' in subject) return Buffer.from(`{"id":${subject.id},`)
  if (value === undefined) return undefined
  const isList = resource.fields[subject.field]?.kind === 'text_list'
  const name = isList ? '' : `${JSON.stringify(subject.field)}:`
  return Buffer.from(name + JSON.stringify(value))
}

/**
 * The companies that may have or have had such records.
 *
 * @param masked those in which records were masked, whose texts no longer contain the needle.
 */
async function candidates(
  { tables }: Work,
  { resource }: RecordSubject,
  needle: Buffer | undefined,
  masked: ReadonlySet<number>,
): Promise<readonly number[]> {
  if (needle !== undefined) {
    const holding = await tables.companiesHolding([needle])
    return [...holding.union(masked)].sort((a, b) => a - b)
  }
  return tables.companiesWith(resource, { after: -1, limit: Number.MAX_SAFE_INTEGER })
}
