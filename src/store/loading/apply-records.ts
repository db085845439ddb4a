// Writes what an import of records changes, one listing after another.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { shapeOf } from '../listing/shape.ts'
import { keysOf, openInGroups, readIndexes } from '../listing/open-listings.ts'
import { inBatches } from '../listing/in-batches.ts'
import type { DirectoryEntry } from '../listing/directory.ts'
import type { ListedId } from '../listing/tables.ts'
import { isShort, mergeListing } from '../listing/merge-listings.ts'
import { createOutput } from '../listing/write-listings.ts'
import { decodeEntries } from '../listing/segment.ts'
import type { OnShare } from '../work-watch.ts'
import type { ImportContext } from './context.ts'
import { createPutReader, type PutKind } from './staging/put-reader.ts'
import type { ListingCutter } from './staging/cut-listings.ts'
import type { Staging } from './staging/staging.ts'
import type { StagedValue } from './staging/temporary-database.ts'

/** How many companies are read at a time, and how many changes. */
const companiesAtOnce = 1_000
const changesAtOnce = 20_000
/** How many ids are written at a time. */
const idsAtOnce = 5_000

/** Writes what `change` holds. */
export async function applyRecords(
  context: ImportContext,
  kind: PutKind,
  onShare: OnShare = () => undefined,
): Promise<void> {
  const { staging, tables } = context
  const { resource, source } = kind
  await mergeAll(context, kind, onShare)
  for (const gone of listedIds(staging, 'seq is null', source)) {
    await tables.dropIds(resource.name, gone)
  }
  for (const added of listedIds(staging, 'not is_known', source)) {
    await tables.putIds(resource.name, added)
  }
}

function* listedIds(staging: Staging, where: string, source: number): Generator<ListedId[]> {
  const rows = staging.iterate(`select id, company_id from change where ${where} order by 1, 2`)
  for (const batch of inBatches(rows, idsAtOnce)) {
    yield batch.map(([id, company]) => ({ id: Number(id), companyId: Number(company), source }))
  }
}

/** Writes listings that were cut while staging: the first records of their resource. */
export async function applyFirst(context: ImportContext, cutter: ListingCutter): Promise<void> {
  const { staging, tables, shape } = context
  const { source } = cutter
  const onShare = context.parts('writing')
  const out = createOutput(context, shape)
  let written = 0
  for (const some of cutter.listings()) {
    const added: ListedId[] = []
    for (const { companyId, meta, segments } of some) {
      const entries = segments.map((segment) => {
        const { ids } = decodeEntries(shape, segment.entries, { ids: true })
        for (const id of ids) added.push({ id, companyId, source })
        return out.addSegment(companyId, segment)
      })
      out.addListing({ companyId, meta, entries, known: [] })
    }
    // Written soon, they do not outlive the young generation of the heap.
    await out.flush()
    await tables.putIds(shape.listing, added)
    written += added.length
    onShare(written / staging.facts.rows)
    await nextTurn()
  }
}

/** Merges the changes into the listings, one company after another. */
async function mergeAll(context: ImportContext, kind: PutKind, onShare: OnShare): Promise<void> {
  const { staging, tables } = context
  const shape = shapeOf(kind.resource)
  const all = staging.iterate('select company_id, count(*) from change group by 1 order by 1')
  const last = lastCompany(staging)
  const putsOf = createPutReader(staging, kind)
  const out = createOutput(context, shape)
  const changesOf = ([, count]: readonly StagedValue[]) => Number(count)
  for (const batch of inBatches(all, companiesAtOnce, changesOf, changesAtOnce)) {
    const changed = batch.map(([company]) => Number(company))
    for await (const { companies, open } of openInGroups(tables, shape.listing, changed)) {
      const leavesOf = (companyId: number) => open.get(companyId)?.leaves ?? []
      const short = companies.filter((companyId) => isShort(leavesOf(companyId)))
      const keys = short.flatMap((companyId) => keysOf(companyId, leavesOf(companyId)))
      const read = readIndexes(tables, shape, keys)
      const lost = open.size === 0 ? undefined : readGone(staging, companies)
      for (const companyId of companies) {
        const [listing, puts] = [open.get(companyId), putsOf(companyId)]
        const merge = { companyId, listing, puts, gone: lost?.get(companyId) ?? new Set<number>() }
        const leaves = leavesOf(companyId)
        const own = isShort(leaves) ? { read } : { touched: touchedIn(staging, companyId, leaves) }
        await mergeListing(tables, shape, { ...merge, ...own }, out)
      }
      onShare(Math.min(1, (companies.at(-1) ?? 0) / last))
      await nextTurn()
    }
  }
  await out.flush()
}

/** The last company that changes; at least 1. */
export const lastCompany = (staging: Staging): number =>
  Math.max(1, Number(staging.value('select max(company_id) from change')))

const touchedSql = 'select distinct leaf from change where company_id = ? and is_known'

/** The numbers of the segments of a listing that have records that it loses or replaces. */
function touchedIn(staging: Staging, companyId: number, leaves: readonly DirectoryEntry[]) {
  const places = staging.rows(touchedSql, companyId)
  return new Set(places.flatMap(([leaf]) => leaves[Number(leaf)]?.segment ?? []))
}

/** The ids of the records that listings lose or replace, by company. */
function readGone(staging: Staging, companies: readonly number[]) {
  const gone = new Map<number, Set<number>>()
  const rows = staging.iterate(
    `select c.company_id, c.id from json_each(?) e
     cross join change c on c.company_id = e.value where c.is_known`,
    JSON.stringify(companies),
  )
  for (const [company, id] of rows) {
    gone.set(Number(company), (gone.get(Number(company)) ?? new Set()).add(Number(id)))
  }
  return gone
}
