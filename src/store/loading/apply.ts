// Writes what an import changes: the listings are merged one after another; what a source says
// about companies is written with their names.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { BuiltListing } from '../listing/build-listings.ts'
import { addToCount, parseMeta, attributesShape, type ListingShape } from '../listing/shape.ts'
import { type OpenListing, openListings, readIndexes } from '../listing/open-listings.ts'
import { inBatches, type ListedId } from '../listing/tables.ts'
import {
  addListing,
  createOutput,
  type MergeContext,
  mergeListing,
  segmentsAtOnce,
  type SegmentNumbers,
} from '../listing/write-listings.ts'
import type { OnShare, MergePart } from '../work-watch.ts'
import { createPutReader, type Put, type PutKind, readChanges } from './staging/put-reader.ts'
import { digestIn, textIn } from './staging/spool.ts'
import type { StagedValue, Staging } from './staging/staging.ts'
import { traceCompanies } from '../changes/trace.ts'
import { readAttributes, statementOf, valuesOf, writeAttributes } from '../companies/attributes.ts'
import { createNameKeeper, nameOf } from '../companies/keep-names.ts'
import { decodeEntries, type ListedRecord, noLists } from '../listing/segment.ts'
import { companiesListed } from './company-rows.ts'
import type { ImportContext } from './context.ts'

/** How many companies are read at once, with how many changes and segments. */
const companiesAtOnce = 200
const changesAtOnce = 20_000
const readTogether = { each: segmentsAtOnce, together: 2_000 }
/** How many ids are written at once. */
const idsAtOnce = 5_000

/** Where changes are written, and what they are. */
export interface ApplyContext extends MergeContext {
  readonly staging: Staging
}

/** Writes what `change` and `removal` hold. */
export async function applyRecords(
  context: ApplyContext,
  kind: PutKind,
  onShare: OnShare = () => undefined,
): Promise<void> {
  const { staging, tables } = context
  const listing = kind.resource.name
  const companies = staging.iterate(`
    select company_id, count(*) from (
      select company_id from change union all select company_id from removal
    ) group by company_id order by company_id`)
  const changes = { companies, puts: readChanges(staging, kind), last: lastCompany(staging) }
  await mergeAll(context, kind, changes, onShare)
  const gone = staging.iterate('select id, company_id from removal order by id, company_id')
  for (const batch of inBatches(gone, idsAtOnce)) {
    await tables.dropIds(
      listing,
      batch.map(([id, company]) => ({ id: Number(id), companyId: Number(company) })),
    )
  }
  const added = staging.iterate(
    'select id, company_id from change where not is_known order by id, company_id',
  )
  const ids = Iterator.from(added).map(([id, company]) => ({
    ...{ id: Number(id), companyId: Number(company), source: kind.source },
  }))
  await writeIds(context, listing, ids)
}

/** The first listings of a resource, and the last company that has one. */
interface FirstListings {
  readonly listings: Iterable<BuiltListing>
  readonly shape: ListingShape
  readonly source: number
  readonly last: number
}

/** Writes listings: none of the resource has had a record, and nothing is compared. */
export async function applyFirst(
  context: MergeContext,
  { listings, shape, source, last }: FirstListings,
  onShare: OnShare,
): Promise<void> {
  const out = createOutput(context, shape.listing)
  let ids: ListedId[] = []
  for (const batch of inBatches(listings, companiesAtOnce)) {
    for (const { companyId, meta, segments } of batch) {
      addListing(context, { companyId, meta, segments }, out)
      for (const id of idsOf(shape, segments)) ids.push({ id, companyId, source })
      if (ids.length > idsAtOnce) {
        await context.tables.putIds(shape.listing, ids)
        ids = []
      }
      if (out.isFull()) await out.flush()
    }
    onShare(Math.min(1, (batch.at(-1)?.companyId ?? 0) / last))
    await nextTurn()
  }
  await out.flush()
  await context.tables.putIds(shape.listing, ids)
}

const onlyIds = { ...noLists, ids: true }

/** The ids of a listing's records, in ascending order. */
function idsOf(shape: ListingShape, segments: BuiltListing['segments']): readonly number[] {
  const ids = segments.flatMap(({ entries }) => [...decodeEntries(shape, entries, [], onlyIds).ids])
  return shape.hasSort || shape.direction === 'descending' ? ids.sort((a, b) => a - b) : ids
}

/** Brings the listings in which records are up to date. */
async function writeIds(
  { tables }: MergeContext,
  listing: string,
  ids: Iterable<ListedId>,
): Promise<void> {
  for (const batch of inBatches(ids, idsAtOnce)) await tables.putIds(listing, batch)
}

/** The companies that change, with how many changes, the records put, and the last company. */
interface AllChanges {
  readonly companies: Iterable<readonly StagedValue[]>
  readonly puts: Iterator<Put>
  readonly last: number
}

async function mergeAll(
  context: ApplyContext,
  { shape }: PutKind,
  { companies: all, puts, last }: AllChanges,
  onShare: OnShare,
): Promise<void> {
  const { tables } = context
  const isListed = await tables.hasHeads(shape.listing)
  const putsOf = createPutReader(shape, puts)
  const out = createOutput(context, shape.listing)
  const changesOf = ([, count]: readonly StagedValue[]) => Number(count)
  for (const batch of inBatches(all, companiesAtOnce, changesOf, changesAtOnce)) {
    const companies = batch.map(([company]) => Number(company))
    const open = isListed
      ? await openListings(tables, shape.listing, companies)
      : new Map<number, OpenListing>()
    const indexes = await readIndexes(tables, shape, open, readTogether)
    const gone = readGone(context, open)
    for (const company of companies) {
      const listing = open.get(company)
      const types = parseMeta(listing?.head.meta ?? '[]')
      const { ids, counts } = gone.get(company) ?? nothing
      for (const [type, count] of counts) addToCount(types, type, -count)
      const merge = { company, listing, indexes: indexes.get(company), puts: putsOf(company) }
      await mergeListing(context, shape, { ...merge, gone: ids, types }, out)
      if (out.isFull()) await out.flush()
    }
    onShare(Math.min(1, (companies.at(-1) ?? 0) / last))
    await nextTurn()
  }
  await out.flush()
}

/** The last company that changes; at least 1. */
export function lastCompany(staging: Staging): number {
  const tables = ['change', 'removal']
  const last = tables.map((table) => Number(staging.value(`select max(company_id) from ${table}`)))
  return Math.max(1, ...last)
}

/** What a listing loses or replaces. */
interface Gone {
  readonly ids: Set<number>
  /** How many of the records have each type. */
  readonly counts: Map<string, number>
}

const nothing: Gone = { ids: new Set(), counts: new Map() }

/** The records that listings lose or replace, by company. */
function readGone(
  { staging }: ApplyContext,
  open: ReadonlyMap<number, OpenListing>,
): ReadonlyMap<number, Gone> {
  const gone = new Map<number, Gone>()
  if (open.size === 0) return gone
  const rows = staging.rows(
    `select c.company_id, c.id, c.was from json_each(?1) e
     cross join change c on c.company_id = e.value where c.is_known
     union all
     select r.company_id, r.id, r.was from json_each(?1) e
     cross join removal r on r.company_id = e.value`,
    JSON.stringify([...open.keys()]),
  )
  for (const [company, id, was] of rows) {
    const own = gone.get(company as number) ?? { ids: new Set(), counts: new Map() }
    gone.set(company as number, own)
    own.ids.add(id as number)
    addToCount(own.counts, was, 1)
  }
  return gone
}

/** How many companies are written at once, and how long their attributes may be together. */
const attributesAtOnce = 2_000
const lengthAtOnce = 1_048_576

/** Writes what `change` and `removal` hold, and brings names up to date. */
export async function applyCompanies(
  context: ImportContext,
  numbers: SegmentNumbers,
  isRenaming: boolean,
  parts: (part: MergePart) => OnShare,
): Promise<void> {
  const { staging, db, tables } = context
  const changed = `
    select company_id, max(is_change) from (
      select company_id, 1 as is_change from change
      union all select company_id, 0 from removal
    ) group by company_id order by company_id`
  const last = lastCompany(staging)
  const names = await createNameKeeper(db)
  const { rows: staged, length } = staging.facts
  const most = Math.ceil((lengthAtOnce * Math.max(1, staged)) / Math.max(1, length))
  const atOnce = Math.min(attributesAtOnce, most)
  for (const batch of inBatches(staging.iterate(changed), atOnce)) {
    const companies = batch.map(([company]) => Number(company))
    const said = await readAttributes(tables, companies)
    const rows = stagedAttributes(context, companies)
    const written = new Map<number, readonly ListedRecord[]>()
    for (const [id, isChange] of batch) {
      const company = Number(id)
      const former = said.get(company) ?? []
      const own = former.find(({ source }) => source === context.source)
      const row = rows.get(company)
      const record = isChange && row ? changedRecord(context, own, row) : absentRecord(context, own)
      const others = former.filter((one) => one !== own)
      const now = [...others, record].sort((a, b) => a.id - b.id)
      written.set(company, now)
      await names.change(company, former, now)
    }
    await writeAttributes({ tables, version: context.version, numbers }, written)
    parts('writing')(Math.min(1, (companies.at(-1) ?? 0) / last))
    await nextTurn()
  }
  parts('indexing names')(0)
  if (isRenaming) await renameAll(context, names)
  await names.finish()
}

type NameKeeper = Awaited<ReturnType<typeof createNameKeeper>>

/** Another attribute of the source has the names from this version on. */
async function renameAll({ tables, version }: ImportContext, names: NameKeeper): Promise<void> {
  const [before, now] = [await tables.sources(version - 1), await tables.sources()]
  const companies: number[] = []
  for await (const company of companiesListed(tables, attributesShape.listing)) {
    companies.push(company)
  }
  for (const batch of inBatches(companies, attributesAtOnce)) {
    const renamed: number[] = []
    for (const [company, records] of await readAttributes(tables, batch)) {
      if (nameOf(records, before) === nameOf(records, now)) continue
      await names.change(company, records, records)
      renamed.push(company)
    }
    await traceCompanies(tables, version, renamed)
    await nextTurn()
  }
}

interface AttributesRow {
  readonly digest: Uint8Array
  readonly content: Uint8Array
  readonly asOf: string | null
}

function stagedAttributes(
  { staging, asOf }: ImportContext,
  companies: readonly number[],
): Map<number, AttributesRow> {
  const rows = staging.rows(
    `select c.company_id, s.as_of, s.at, s.length from json_each(?) e
     cross join change c on c.company_id = e.value cross join stage s on s.seq = c.seq`,
    JSON.stringify(companies),
  )
  const places = rows.map(([company, day, at, length]) => ({
    ...{ company: Number(company), day: day as string | null },
    ...{ at: Number(at), length: Number(length) },
  }))
  return new Map(
    staging.spool.read(places).map(([{ company, day }, row]) => {
      const said = { digest: digestIn(row), content: textIn(row) }
      return [company, { ...said, asOf: day ?? asOf }]
    }),
  )
}

function changedRecord(
  { source, version }: ImportContext,
  own: ListedRecord | undefined,
  { digest, content, asOf }: AttributesRow,
): ListedRecord {
  const since = asOf ?? (own === undefined ? null : statementOf(own).asOf)
  const values = valuesOf({ version, asOf: since, isPresent: true })
  return { id: source, sort: 0, source, digest, values, text: content }
}

/** Keeps an absent company's last attributes, to be compared when it returns. */
function absentRecord(
  { version, asOf }: ImportContext,
  own: ListedRecord | undefined,
): ListedRecord {
  if (own === undefined) throw new Error('a company without attributes cannot be removed')
  const known = statementOf(own).asOf
  const days = [known, asOf].filter((day) => day !== null).sort()
  return { ...own, values: valuesOf({ version, asOf: days.at(-1) ?? null, isPresent: false }) }
}
