// Deletes past states that were current only in versions older than an operator wants to keep:
// heads, and the segments that only they name.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Resource } from '../../resources/resource.ts'
import { traceRemoved } from '../changes/trace.ts'
import { namedSegments } from '../listing/open-listings.ts'
import { attributesShape, type ListingShape, shapeOf } from '../listing/shape.ts'
import { inBatches } from '../listing/in-batches.ts'
import { type HeadRow, type ListingTables, type SegmentKey, versionEnd } from '../listing/tables.ts'
import { assignedIdMin } from '../sql/assigned-ids.ts'
import { type ImportConnection, numberIn, type RegistryDatabase } from '../sql/database.ts'
import type { WorkWatch } from '../work-watch.ts'
import type { Pruned } from '../writing.ts'

/**
 * Deletes every past state that was replaced or removed before a moment, in one transaction.
 *
 * The version that was current at that moment stays complete, and so do all later ones. The log of
 * imports and recorded changes are kept.
 *
 * @param db a connection that is used for nothing else, and is discarded if this throws.
 * @param request the moment in milliseconds since 1970, and whether to take it all back.
 */
export async function prune(
  db: ImportConnection,
  resources: readonly Resource[],
  { before, isDryRun }: { readonly before: number; readonly isDryRun: boolean },
  watch: WorkWatch,
): Promise<Pruned> {
  await db.begin(watch)
  const version = await numberIn(db, lastVersionBefore, before)
  const shapes = [attributesShape, ...resources.map(shapeOf)]
  watch.onStep?.('deleting past companies', 0)
  const forgotten: Record<string, number> = { companies: await db.run(dropPast, version) }
  for (const [n, shape] of shapes.entries()) {
    const kind = shape === attributesShape ? 'attributes' : shape.listing
    watch.onStep?.(`deleting past ${kind}`, (n + 1) / (shapes.length + 1))
    forgotten[kind] = await forgetHeads(db, shape, version, watch.signal)
  }
  await db.run(dropOrphanedHeads, version)
  // Its examples are what was replaced.
  await db.run('update imports set difference = null where committed_at < $1', before)
  await db.run('update store set past_from = $1 where past_from < $1', version)
  const earliestVersion = Math.max(1, await numberIn(db, 'select past_from from store'))
  await (isDryRun ? db.discard() : db.commit())
  return { earliestVersion, forgotten }
}

// The version before the first import since then. A clock that was set back can make it an earlier
// version, never a later one.
const lastVersionBefore = `
  select coalesce(
    (select min(version) - 1 from imports where committed_at >= $1),
    (select max(version) from imports),
    0
  ) as version`

// The last name of a company that was forgotten, or has lost the name for which it got its id, is
// kept, so that the name gets the same id again; so is the state before all versions that an erased
// company has.
const dropPast = `
  delete from company_states where until <= $1 and since > 0 and exists (
    select 1 from company_states l
    where l.company_id = company_states.company_id and l.until > company_states.until and (
      l.identifier is not null or company_states.identifier is null
      or l.until = ${versionEnd} and l.company_id < ${assignedIdMin}
    )
  )`

// The empty listings of companies that are known in no kept version.
const dropOrphanedHeads = `
  delete from heads where total = 0 and not exists (
    select 1 from company_states s where s.company_id = heads.company_id and s.until > $1
  )`

/** Deletes the heads of listings that have another one in force at a version. */
async function forgetHeads(
  db: RegistryDatabase,
  shape: ListingShape,
  version: number,
  signal: AbortSignal | undefined,
): Promise<number> {
  const { listing } = shape
  const sql = `
    select company_id, count(*) from heads where listing = '${listing}'
    group by company_id having sum(case when version <= ${version} then 1 else 0 end) > 1
    order by company_id`
  const companies: (readonly [companyId: number, heads: number])[] = []
  for await (const rows of db.batches<[number, number]>(sql)) companies.push(...rows)
  let count = 0
  for (const some of inBatches(companies, Infinity, ([, heads]) => heads, headsAtOnce)) {
    const ids = some.map(([id]) => id)
    count += await dropHeads(db.tables, shape, ids, version)
    signal?.throwIfAborted()
    await nextTurn()
  }
  return count
}

/** How many heads companies have that are read together. */
const headsAtOnce = 1_000

/**
 * Drops the heads of companies before the one in force at a version, and the segments that no other
 * of their heads names; returns the number of heads.
 */
async function dropHeads(
  tables: ListingTables,
  shape: ListingShape,
  companies: readonly number[],
  version: number,
): Promise<number> {
  const { listing } = shape
  const dropped: HeadRow[] = []
  const segments: SegmentKey[] = []
  const replaced: (readonly HeadRow[])[] = []
  const all = await tables.headsOf(listing, companies)
  for (const [companyId, heads] of Map.groupBy(all, (head) => head.companyId)) {
    const inForce = heads.findLastIndex((head) => head.version <= version)
    const [gone, kept] = [heads.slice(0, inForce), heads.slice(inForce)]
    replaced.push([...gone, ...kept.slice(0, 1)])
    const named = await namedSegments(tables, gone)
    for (const segment of (await namedSegments(tables, kept)).keys()) named.delete(segment)
    for (const segment of named.keys()) segments.push({ companyId, segment })
    dropped.push(...gone)
  }
  // If a company's former state is not known, changes report it as a whole.
  if (shape !== attributesShape) await traceRemoved(tables, shape, replaced)
  for (const some of inBatches(segments, 1_000)) await tables.dropSegments(some)
  await tables.dropHeads(listing, dropped)
  return dropped.length
}
