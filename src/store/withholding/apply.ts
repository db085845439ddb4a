// Withholds something in a store, within a transaction: in the present and in every past version.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Resource } from '../../resources/resource.ts'
import { readAttributes } from '../companies/attributes.ts'
import { encodeAttributes } from '../companies/attribute-text.ts'
import { createNameKeeper, type NameKeeper } from '../companies/keep-names.ts'
import type { ColumnValue, ListedRecord } from '../listing/segment.ts'
import { attributesShape, type ListingShape, shapeOf } from '../listing/shape.ts'
import { inBatches, type ListingTables } from '../listing/tables.ts'
import { digestOf } from '../record-texts.ts'
import type { RegistryDatabase } from '../sql/database.ts'
import { eraseCompany } from './erase-company.ts'
import type { Found, Hasher, OrderKind, Subject } from './list.ts'
import { hasValue, hideInAttributes, hideInChange, maskRecord, personalValues } from './personal.ts'
import { createHidePhrases, type HidePhrases, phrasesOf } from './phrases.ts'
import { type ChangedRecord, rewriteListing, type Rewriting } from './rewrite.ts'
import { forgetExamples, labelsOf } from './forget-examples.ts'
import { hideKeys } from './hide-keys.ts'

export interface Withholding extends Rewriting {
  readonly db: RegistryDatabase
  readonly resources: readonly Resource[]
  readonly hasher: Hasher
  readonly onStep: (step: string, done: number) => void
}

const idsAtOnce = 1_000

/** What to withhold. */
export interface Wanted {
  readonly kind: OrderKind
  readonly subject: Subject
  /** The value of a personal field, if it is known: a list has only its hash. */
  readonly value?: string | undefined
  /** What was found before, of an order in a list. */
  readonly found?: Found
}

/** A record, or what a source says, that was written anew. */
export interface Touched extends ChangedRecord {
  readonly listing: string
  readonly companyId: number
}

export interface Applied {
  readonly found: Found
  readonly touched: readonly Touched[]
  /** How many companies have got another name, or none. */
  readonly names: number
  /** The company that was erased as a whole. */
  readonly erased: number | undefined
}

/** Withholds what an order says; nothing if it is not there. */
export async function applyOrder(context: Withholding, wanted: Wanted): Promise<Applied> {
  const names = await createNameKeeper(context.db)
  const touched: Touched[] = []
  const { subject } = wanted
  const { db, tables, hasher } = context
  const erasing = 'company' in subject ? [subject.company] : []
  const former = [...(await tables.companiesById(erasing)), ...(await pastOf(tables, erasing))]
  const found =
    'company' in subject
      ? await eraseCompany(context, subject.company, names, touched)
      : 'textOf' in subject
        ? await applyToText(context, wanted, subject.textOf, names, touched)
        : await applyToRecords(context, { ...wanted, subject }, names, touched)
  const companies = await tables.companiesById([...new Set(touched.map((one) => one.companyId))])
  const hidePhrases = createHidePhrases(found.phrases, hasher)
  await forgetExamples(db, labelsOf([...former, ...companies]), hidePhrases)
  const isErased = 'company' in subject && found.companies.length > 0
  const erased = isErased ? subject.company : undefined
  return { found, touched, names: await names.finish(), erased }
}

/** What companies were called. */
async function pastOf(tables: ListingTables, ids: readonly number[]) {
  const past = await tables.pastCompanies(ids)
  return past.map(({ companyId: id, ...named }) => ({ id, ...named }))
}

type RecordSubject = Extract<Subject, { readonly resource: string }>
/** Hides a text in one company. */
async function applyToText(
  context: Withholding,
  { kind, value, found }: Wanted,
  companyId: number,
  names: NameKeeper,
  touched: Touched[],
): Promise<Found> {
  const { hasher, tables } = context
  const phrases = found?.phrases ?? phrasesOf([value ?? ''], hasher)
  const hidePhrases = createHidePhrases(phrases, hasher)
  await hideInTexts(context, { companyId, hidePhrases, kind }, names, touched)
  const known = await tables.companiesById([companyId])
  const companies = touched.length === 0 ? [] : [nameCompany(companyId, known, hasher)]
  return { ids: [], keys: [], phrases, companies }
}

type WantedRecords = Wanted & { readonly subject: RecordSubject }

async function applyToRecords(
  context: Withholding,
  wanted: WantedRecords,
  names: NameKeeper,
  touched: Touched[],
): Promise<Found> {
  const { resources, hasher, tables, onStep } = context
  const resource = resources.find(({ name }) => name === wanted.subject.resource)
  if (resource === undefined) return { ids: [], keys: [], companies: [], phrases: [] }
  const seen: Seen = { ids: new Set(), values: new Set(), isIn: false }
  const companies: number[] = []
  const needle = needleOf(resource, wanted)
  for await (const { companyId, share } of candidates(context, wanted.subject, needle)) {
    seen.isIn = false
    await collect(context, touched, {
      ...{ shape: shapeOf(resource), companyId, change: changeOf(context, resource, wanted, seen) },
      mayHold: needle && ((texts: Buffer) => texts.includes(needle)),
    })
    if (hasAny(seen)) companies.push(companyId)
    onStep(`withholding ${resource.name}`, share)
  }
  const ids = await withoutOthers(context, resource.name, seen.ids, touched)
  await dropGoneIds(context, touched)
  const keys = await hideKeys(context, resource.name, ids)
  const phrases = resource.changeFields === undefined ? phrasesOf(seen.values, hasher) : []
  const hidePhrases = createHidePhrases(phrases, hasher)
  if (phrases.length > 0) {
    for (const companyId of companies) {
      await hideInTexts(context, { companyId, hidePhrases, kind: wanted.kind }, names, touched)
    }
  }
  const known = await tables.companiesById(companies)
  return { ids, keys, phrases, companies: companies.map((id) => nameCompany(id, known, hasher)) }
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

function nameCompany(
  id: number,
  known: readonly {
    readonly id: number
    readonly jurisdiction: string | null
    readonly identifier: string | null
  }[],
  hasher: Hasher,
) {
  const { jurisdiction = null, identifier = null } = known.find((one) => one.id === id) ?? {}
  const isNamed = jurisdiction !== null && identifier !== null
  return { id, name: isNamed ? hasher('company', jurisdiction, identifier) : null }
}

/** The records that are meant, and what they say about people. */
interface Seen {
  readonly ids: Set<number>
  readonly values: Set<string>
  /** Whether the company under way has one. */
  isIn: boolean
}

const hasAny = ({ isIn }: Seen) => isIn

type Change = (record: ListedRecord) => ListedRecord | undefined

function changeOf(
  { hasher }: Withholding,
  resource: Resource,
  { kind, subject, value }: WantedRecords,
  seen: Seen,
): Change {
  const shape = shapeOf(resource)
  const isMeant =
    'field' in subject
      ? (text: string) =>
          value === undefined
            ? hasher('value', resource.name, subject.field, text) === subject.value
            : text === value
      : undefined
  return (record) => {
    if ('id' in subject && record.id !== subject.id) return record
    const fields = parse(record)
    if ('field' in subject && !hasValue(fields[subject.field], isMeant ?? none)) return record
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

type Fields = Readonly<Record<string, unknown>>

function parse({ text }: ListedRecord): Fields {
  return JSON.parse(Buffer.from(text.buffer, text.byteOffset, text.length).toString()) as Fields
}

function encodeRecord(
  shape: ListingShape,
  record: ListedRecord,
  fields: Fields,
  before: Fields,
): ListedRecord {
  const text = JSON.stringify(fields)
  const content = `{${text.slice(`{"id":${record.id},`.length)}`
  return {
    ...record,
    digest: Buffer.from(digestOf(content), 'base64'),
    values: shape.columns.map(({ field }, at) =>
      fields[field] === before[field]
        ? (record.values[at] ?? null)
        : (fields[field] as ColumnValue),
    ),
    text: Buffer.from(text),
  }
}

/** Bytes that every record which is meant has in its text; undefined if that is not known. */
function needleOf(resource: Resource, { subject, value }: WantedRecords): Buffer | undefined {
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

/** Rewrites a listing, and adds what was changed. */
async function collect(
  context: Withholding,
  touched: Touched[],
  rewrite: Parameters<typeof rewriteListing>[1],
): Promise<void> {
  const { companyId, shape } = rewrite
  for (const record of (await rewriteListing(context, rewrite)).values()) {
    touched.push({ ...record, listing: shape.listing, companyId })
  }
}

/** Erased records are in no present listing any more. */
async function dropGoneIds({ tables }: Withholding, touched: readonly Touched[]): Promise<void> {
  const gone = touched.filter(({ isPresent, isGone }) => isPresent && isGone)
  for (const [listing, rows] of Map.groupBy(gone, (one) => one.listing)) {
    for (const some of inBatches(rows, idsAtOnce)) await tables.dropIds(listing, some)
  }
}

interface TextHiding {
  readonly companyId: number
  readonly hidePhrases: HidePhrases
  readonly kind: OrderKind
}

/** Hides people in a company's recorded changes, and in what sources say about it. */
async function hideInTexts(
  context: Withholding,
  { companyId, hidePhrases, kind }: TextHiding,
  names: NameKeeper,
  touched: Touched[],
): Promise<void> {
  const own: Touched[] = []
  for (const resource of context.resources) {
    if (resource.changeFields === undefined) continue
    const shape = shapeOf(resource)
    const change: Change = (record) => {
      const fields = parse(record)
      const hidden = hideInChange(resource, fields, { hidePhrases, isErased: kind === 'erase' })
      if (hidden === undefined || hidden === fields) return hidden && record
      return encodeRecord(shape, record, hidden, fields)
    }
    await collect(context, own, { shape, companyId, change })
  }
  await dropGoneIds(context, own)
  const change: Change = (record) => {
    const attributes = parse(record)
    const hidden = hideInAttributes(attributes, hidePhrases)
    if (JSON.stringify(hidden) === JSON.stringify(attributes)) return record
    const { content, digest } = encodeAttributes(hidden)
    return { ...record, digest: Buffer.from(digest, 'base64'), text: Buffer.from(content) }
  }
  await collect(context, own, { shape: attributesShape, companyId, change })
  if (own.some(({ listing }) => listing === attributesShape.listing)) {
    const said = (await readAttributes(context.tables, [companyId])).get(companyId) ?? []
    await names.change(companyId, said, said)
  }
  touched.push(...own)
}
