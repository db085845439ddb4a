// Writes the changes of a resource's records: the listings are merged one after another.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { addToCount, parseMeta } from '../listing/meta.ts'
import { keysOf, type OpenListing, openListings } from '../listing/open-listings.ts'
import { decodeEntries, type SegmentIndex } from '../listing/segment.ts'
import type { ListedId } from '../listing/tables.ts'
import {
  type CompanyMerge,
  createOutput,
  type MergeContext,
  mergeListing,
  type Output,
  segmentsAtOnce,
} from '../listing/write-listings.ts'
import type { OnShare } from '../sql/merge-progress.ts'
import { type PutKind, readPuts } from './put-reader.ts'
import { inBatches, type Staging } from './staging.ts'

/** How many companies are read at once. */
const companiesAtOnce = 200

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
  const puts = readPuts(staging, kind)
  const out = createOutput(context, listing)
  const [listed] = await tables.companiesWith(listing, { after: -1, limit: 1 })
  const changed = `
    select company_id, sum(n) from (
      select company_id, count(*) as n from change group by company_id
      union all select company_id, 0 from removal
    ) group by company_id order by company_id`
  const last = lastCompany(staging)
  for (const batch of inBatches(staging.iterate(changed), companiesAtOnce)) {
    const companies = batch.map(([company]) => Number(company))
    const open =
      listed === undefined
        ? new Map<number, OpenListing>()
        : await openListings(tables, listing, companies)
    const indexes = await readSmall(context, kind, open)
    for (const [id, count] of batch) {
      const company = Number(id)
      const merge = { company, listing: open.get(company), indexes: indexes.get(company) }
      await mergeCompany(context, kind, { ...merge, puts: puts(company, Number(count)) }, out)
      if (out.isFull()) await out.flush()
    }
    onShare(Math.min(1, (companies.at(-1) ?? 0) / last))
    await nextTurn()
  }
  await out.flush()
  await writeIds(context, kind)
}

/** The last company that changes; at least 1. */
export function lastCompany(staging: Staging): number {
  const tables = ['change', 'removal']
  const last = tables.map((table) => Number(staging.value(`select max(company_id) from ${table}`)))
  return Math.max(1, ...last)
}

/** The indexes of listings of few segments, read at once. */
async function readSmall(
  { tables }: ApplyContext,
  { shape }: PutKind,
  open: ReadonlyMap<number, OpenListing>,
): Promise<Map<number, SegmentIndex[]>> {
  const small = [...open].filter(([, { leaves }]) => leaves.length <= segmentsAtOnce)
  const found = new Map(small.map(([company]) => [company, [] as SegmentIndex[]]))
  const keys = small.flatMap(([company, { leaves }]) => keysOf(company, leaves))
  for (const batch of inBatches(keys, 1_000)) {
    for (const { companyId, entries } of await tables.segments(batch, 'entries')) {
      found.get(companyId)?.push(decodeEntries(shape, entries))
    }
  }
  return found
}

async function mergeCompany(
  context: ApplyContext,
  { shape }: PutKind,
  merge: CompanyMerge,
  out: Output,
): Promise<void> {
  const gone = readGone(context, merge.company, merge.listing)
  await mergeListing(context, shape, { ...merge, ...gone }, out)
}

/** The ids of the records that a listing loses or replaces, and the types that it has without. */
function readGone({ staging }: ApplyContext, company: number, listing: OpenListing | undefined) {
  const gone = new Set<number>()
  const types = parseMeta(listing?.head.meta ?? '[]')
  if (listing === undefined) return { gone, types }
  const rows = staging.rows(
    `select id, was from change where company_id = ?1 and is_known
     union all select id, was from removal where company_id = ?1`,
    company,
  )
  for (const [id, was] of rows) {
    gone.add(id as number)
    addToCount(types, was ?? null, -1)
  }
  return { gone, types }
}

/** Brings the listings in which records are up to date. */
async function writeIds(
  { staging, tables }: ApplyContext,
  { resource, source }: PutKind,
): Promise<void> {
  const { name } = resource
  const gone = staging.iterate('select id, company_id from removal order by id, company_id')
  for (const batch of inBatches(gone, 1_000)) {
    const rows = batch.map(([id, company]) => ({ id: Number(id), companyId: Number(company) }))
    await tables.dropIds(name, rows)
  }
  const added = staging.iterate(
    'select id, company_id from change where not is_known order by id, company_id',
  )
  for (const batch of inBatches(added, 1_000)) {
    const rows = batch.map(([id, company]): ListedId => ({
      id: Number(id),
      companyId: Number(company),
      source,
    }))
    await tables.putIds(name, rows)
  }
}
