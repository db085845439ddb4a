// Writes what an import of records changes: the listings are merged one after another.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { addToCount, parseMeta } from '../listing/shape.ts'
import { type OpenListing, openListings, readIndexes } from '../listing/open-listings.ts'
import { inBatches, type ListedId } from '../listing/tables.ts'
import { addWhole, mergeListing, segmentsAtOnce } from '../listing/merge-listings.ts'
import { createOutput, type MergeContext } from '../listing/write-listings.ts'
import type { ListedRecord } from '../listing/segment.ts'
import type { OnShare } from '../work-watch.ts'
import { createPutReader, type PutKind, readChanges, recordReader } from './staging/put-reader.ts'
import { companyIdIn, idIn } from './staging/spool.ts'
import type { Staging } from './staging/staging.ts'
import type { StagedValue } from './staging/temporary-database.ts'

/** How many companies are read at once, with how many changes and segments. */
const companiesAtOnce = 1_000
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
  await mergeAll(context, kind, onShare)
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
  for (const batch of inBatches(added, idsAtOnce)) {
    await tables.putIds(
      listing,
      batch.map(([id, company]) => ({
        ...{ id: Number(id), companyId: Number(company), source: kind.source },
      })),
    )
  }
}

/** Writes all rows, which are sorted: no record of their resource has ever been loaded. */
export async function applyFirst(
  context: ApplyContext,
  kind: PutKind,
  onShare: OnShare,
): Promise<void> {
  const { staging, tables } = context
  const { shape, source } = kind
  const readRecord = recordReader(kind)
  const out = createOutput(context, shape)
  let company = 0
  let records: ListedRecord[] = []
  function finish(): void {
    if (records.length > 0) addWhole(shape, { company, records }, out)
    records = []
  }
  for (const rows of staging.spooled()) {
    const ids: ListedId[] = []
    for (const { bytes } of rows) {
      const [id, companyId] = [idIn(bytes), companyIdIn(bytes)]
      if (companyId !== company) finish()
      company = companyId
      records.push(readRecord(id, bytes))
      ids.push({ id, companyId, source })
    }
    // The next rows are read into the memory of these.
    records = records.map(copyBytes)
    // What is written soon costs little: it does not outlive the young generation.
    await out.flush()
    await tables.putIds(shape.listing, ids)
    onShare(Math.min(1, company / staging.facts.ids.companyId))
    await nextTurn()
  }
  finish()
  await out.flush()
}

const copyBytes = (record: ListedRecord): ListedRecord => ({
  ...record,
  digest: Buffer.from(record.digest),
  text: Buffer.from(record.text),
})

/** Merges the changes into the listings, one company after another. */
async function mergeAll(context: ApplyContext, kind: PutKind, onShare: OnShare): Promise<void> {
  const { staging, tables } = context
  const { shape } = kind
  const all = staging.iterate(`
    select company_id, count(*) from (
      select company_id from change union all select company_id from removal
    ) group by company_id order by company_id`)
  const last = lastCompany(staging)
  const isListed = await tables.hasHeads(shape.listing)
  const putsOf = createPutReader(shape, readChanges(staging, kind))
  const out = createOutput(context, shape)
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
