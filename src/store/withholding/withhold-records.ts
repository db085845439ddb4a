// Withholds records of a resource, wherever they are or were.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Resource } from '../../resources/resource.ts'
import type { ListedRecord } from '../listing/segment.ts'
import { shapeOf } from '../listing/shape.ts'
import { inBatches } from '../listing/in-batches.ts'
import type { Wanted, Work } from './apply.ts'
import { hideKeys } from './hide-keys.ts'
import type { Found, Subject } from './list.ts'
import { createHold, personalValues } from './personal.ts'
import { createHidePhrases, phrasesOf } from './phrases.ts'
import { rewriteListing } from './rewrite.ts'
import { changeFields, hideInCompany } from './withhold-texts.ts'

type RecordSubject = Extract<Subject, { readonly resource: string }>

type WantedRecords = Wanted & { readonly subject: RecordSubject }

/** What was found, and the companies that have or had it. */
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
  for await (const { companyId, share } of candidates(work, subject, needle)) {
    await rewriteListing(work, {
      ...{ shape, companyId, change: changeOf(work, resource, wanted, { ...seen, companyId }) },
      mayHold: needle && ((texts: Buffer) => texts.includes(needle)),
    })
    onStep(`withholding ${resource.name}`, share)
  }
  const ids = await withoutOthers(work, resource.name, seen.ids)
  const keys = await hideKeys(work, resource.name, ids)
  const own = resource.changeFields === undefined ? phrasesOf(seen.values, hasher) : []
  // In another registry, people may be in texts without the record that named them.
  const phrases = located === undefined ? own : [...own, ...(wanted.found?.phrases ?? [])]
  if (phrases.length > 0) {
    const hiding = { kind, hidePhrases: createHidePhrases(phrases, hasher) }
    for (const companyId of new Set([...seen.companies, ...(located?.companies ?? [])])) {
      await hideInCompany(work, companyId, hiding)
    }
  }
  const companies = [...seen.companies, ...touched.map(({ companyId }) => companyId)]
  return { ids, keys, phrases: own, companies }
}

/** Without the ids of records that are of somebody else now. */
async function withoutOthers(
  { tables, touched }: Work,
  listing: string,
  seen: Iterable<number>,
): Promise<number[]> {
  const own = new Set(touched.filter(({ isPresent }) => isPresent).map(({ id }) => id))
  const ids: number[] = []
  for (const some of inBatches(seen, 1_000)) {
    const listed = new Set((await tables.whereListed(listing, some)).map(({ id }) => id))
    for (const id of some) if (own.has(id) || !listed.has(id)) ids.push(id)
  }
  return ids
}

/** The records that are meant, what they say about people, and their companies. */
interface Seen {
  readonly ids: Set<number>
  readonly values: Set<string>
  readonly companies: Set<number>
  /** The company under way. */
  readonly companyId: number
}

function changeOf(
  { hasher }: Work,
  resource: Resource,
  { kind, subject, located }: WantedRecords,
  seen: Seen,
) {
  const ids = located?.ids ?? new Set('id' in subject ? [subject.id] : [])
  const mask = { kind: 'mask', subject } as const
  const hold = createHold(resource, [mask], hasher)
  const change = changeFields(shapeOf(resource), (fields, { id }) => {
    const held = hold(fields, ids.has(id) ? mask : undefined)
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

/** Bytes that every record which is meant has in its text; undefined if that is not known. */
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

/** Companies that may have or have had such records, and the share of them that is done then. */
async function* candidates(
  { tables }: Work,
  { resource }: RecordSubject,
  needle: Buffer | undefined,
): AsyncGenerator<{ readonly companyId: number; readonly share: number }> {
  if (needle !== undefined) {
    const companies = [...(await tables.companiesHolding(needle))].sort((a, b) => a - b)
    for (const [n, companyId] of companies.entries()) {
      yield { companyId, share: (n + 1) / companies.length }
      await nextTurn()
    }
    return
  }
  const last = await tables.lastCompanyId(Number.MAX_SAFE_INTEGER)
  for (let after = -1; ;) {
    const companies = await tables.companiesWith(resource, { after, limit: 1_000 })
    for (const companyId of companies) yield { companyId, share: Math.min(1, companyId / last) }
    after = companies.at(-1) ?? Infinity
    if (companies.length === 0) return
    await nextTurn()
  }
}
