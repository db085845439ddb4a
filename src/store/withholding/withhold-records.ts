// Withholds records of a resource, wherever they are or were.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Resource } from '../../resources/resource.ts'
import { shapeOf } from '../listing/shape.ts'
import { inBatches } from '../listing/tables.ts'
import { hideInTexts } from './hide-texts.ts'
import { hideKeys } from './hide-keys.ts'
import type { Found, Subject } from './list.ts'
import { hasValue, maskRecord, personalValues } from './personal.ts'
import { createHidePhrases, phrasesOf } from './phrases.ts'
import {
  type Change,
  collect,
  dropGoneIds,
  encodeRecord,
  idsAtOnce,
  nameCompany,
  parse,
  type Touched,
  type Wanted,
  type Withholding,
  type Work,
} from './work.ts'

type RecordSubject = Extract<Subject, { readonly resource: string }>

type WantedRecords = Wanted & { readonly subject: RecordSubject }

/** Withholds records, and the people whom they name in texts about their companies. */
export async function applyToRecords(work: Work, wanted: WantedRecords): Promise<Found> {
  const { resources, hasher, tables, onStep } = work
  const resource = resources.find(({ name }) => name === wanted.subject.resource)
  if (resource === undefined) return { ids: [], keys: [], companies: [], phrases: [] }
  const seen: Seen = { ids: new Set(), values: new Set(), isIn: false }
  const companies = new Set<number>()
  const needle = needleOf(resource, wanted)
  for await (const { companyId, share } of candidates(work, wanted.subject, needle)) {
    seen.isIn = false
    await collect(work, {
      ...{ shape: shapeOf(resource), companyId, change: changeOf(work, resource, wanted, seen) },
      mayHold: needle && ((texts: Buffer) => texts.includes(needle)),
    })
    if (hasAny(seen)) companies.add(companyId)
    onStep(`withholding ${resource.name}`, share)
  }
  const ids = await withoutOthers(work, resource.name, seen.ids, work.touched)
  await dropGoneIds(work, work.touched)
  const keys = await hideKeys(work, resource.name, ids)
  const own = resource.changeFields === undefined ? phrasesOf(seen.values, hasher) : []
  // In another registry, people may be in texts without the record that named them.
  const phrases = wanted.located === undefined ? own : [...own, ...(wanted.found?.phrases ?? [])]
  const hidePhrases = createHidePhrases(phrases, hasher)
  if (phrases.length > 0) {
    for (const companyId of new Set([...companies, ...(wanted.located?.companies ?? [])])) {
      await hideInTexts(work, { companyId, hidePhrases, kind: wanted.kind })
    }
  }
  for (const { companyId } of work.touched) companies.add(companyId)
  const known = await tables.companiesById([...companies])
  const named = [...companies].map((id) => nameCompany(id, known, hasher))
  return { ids, keys, phrases: own, companies: named }
}

/** Without the ids of records that are of somebody else now. */
async function withoutOthers(
  { tables }: Withholding,
  listing: string,
  seen: Iterable<number>,
  touched: readonly Touched[],
): Promise<number[]> {
  const own = new Set(touched.filter(({ isPresent }) => isPresent).map(({ id }) => id))
  const ids: number[] = []
  for (const some of inBatches(seen, idsAtOnce)) {
    const listed = new Set((await tables.whereListed(listing, some)).map(({ id }) => id))
    for (const id of some) if (own.has(id) || !listed.has(id)) ids.push(id)
  }
  return ids
}

/** The records that are meant, and what they say about people. */
interface Seen {
  readonly ids: Set<number>
  readonly values: Set<string>
  /** Whether the company under way has one. */
  isIn: boolean
}

const hasAny = ({ isIn }: Seen) => isIn

function changeOf(
  { hasher }: Withholding,
  resource: Resource,
  { kind, subject, value, located }: WantedRecords,
  seen: Seen,
): Change {
  const shape = shapeOf(resource)
  const ids = located?.ids ?? new Set('id' in subject ? [subject.id] : [])
  const isMeant =
    'field' in subject
      ? (text: string) =>
          value === undefined
            ? hasher('value', resource.name, subject.field, text) === subject.value
            : text === value
      : undefined
  return (record) => {
    if ('id' in subject && !ids.has(record.id)) return record
    const fields = parse(record)
    const isFound = ids.has(record.id) || !('field' in subject)
    if (!isFound && !hasValue(fields[subject.field], isMeant ?? none)) return record
    seen.ids.add(record.id)
    seen.isIn = true
    for (const one of personalValues(resource, fields)) {
      const isOne = 'field' in subject && Array.isArray(fields[subject.field])
      if (!isOne || isMeant?.(one) === true) seen.values.add(one)
    }
    if (kind === 'erase') return undefined
    const masked = maskRecord(resource, fields, isMeant)
    return masked === fields ? record : encodeRecord(shape, record, masked, fields)
  }
}

const none = () => false

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
  { tables }: Withholding,
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
