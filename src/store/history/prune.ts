// Deletes past states that were current only in versions older than an operator wants to keep:
// heads, and the segments that only they name.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Resource } from '../../resources/resource.ts'
import { traceRemoved } from '../changes/trace.ts'
import { collectLeaves, collectNodes } from '../listing/directory.ts'
import { attributesShape, type ListingShape, shapeOf } from '../listing/shape.ts'
import type { HeadRow, ListingTables, SegmentKey } from '../listing/tables.ts'
import type { RegistryDatabase } from '../registry-connection.ts'
import { type Database, readValue } from '../sql/database.ts'
import type { WorkWatch } from '../work-watch.ts'
import type { Pruned } from '../writing.ts'

/** What the report calls past states of companies, and of what sources say about them. */
const [companiesKind, attributesKind] = ['companies', 'company_attributes'] as const

/**
 * Deletes every past state that was replaced or removed before a moment, in one transaction.
 *
 * The version that was current at that moment stays complete, and so do all later ones. The log of
 * imports and recorded changes are kept.
 *
 * @param before in milliseconds since 1970.
 */
export async function prune(
  db: RegistryDatabase,
  resources: readonly Resource[],
  before: number,
  watch: WorkWatch,
): Promise<Pruned> {
  return db.inTransaction('registry', watch, async () => {
    const version = Number(await readValue(db, lastVersionBefore, { before }))
    const kinds = new Map([
      [attributesKind, attributesShape],
      ...resources.map((resource) => [resource.name, shapeOf(resource)] as const),
    ])
    const onStep = (kind: string, n: number) =>
      watch.onStep?.(`deleting past ${kind}`, n / (kinds.size + 1))
    onStep(companiesKind, 0)
    const shapes = [...kinds.values()]
    const forgotten: Record<string, number> = {
      [companiesKind]: await forgetPast(db, shapes, version),
    }
    for (const [n, [kind, shape]] of [...kinds].entries()) {
      onStep(kind, n + 1)
      forgotten[kind] = await forgetHeads(db, shape, version, watch.signal)
    }
    const raise = 'update store set past_from = $version where past_from < $version'
    await db.run(raise, { version })
    const earliest = await readValue(db, 'select past_from from store')
    return { earliestVersion: Number(earliest), forgotten }
  })
}

// The version before the first import since then. A clock that was set back can make it an earlier
// version, never a later one.
const lastVersionBefore = `
  select coalesce(
    (select min(version) - 1 from imports where committed_at >= $before),
    (select max(version) from imports),
    0
  ) as version`

/** Deletes what companies were called; of those that are gone for good, also the empty listings. */
async function forgetPast(
  db: RegistryDatabase,
  shapes: readonly ListingShape[],
  version: number,
): Promise<number> {
  const past = await readIds(
    db,
    `select distinct company_id as id from companies_past where until <= ${version} order by id`,
  )
  const count = await db.run('delete from companies_past where until <= $version', { version })
  for (let at = 0; at < past.length; at += companiesAtOnce) {
    const some = past.slice(at, at + companiesAtOnce)
    const known = new Set([
      ...(await db.tables.companiesById(some)).map(({ id }) => id),
      ...(await db.tables.pastCompanies(some)).map(({ companyId }) => companyId),
    ])
    const gone = some.filter((id) => !known.has(id))
    if (gone.length > 0) await forgetListings(db, shapes, gone)
    await nextTurn()
  }
  return count
}

async function forgetListings(
  db: RegistryDatabase,
  shapes: readonly ListingShape[],
  companies: readonly number[],
): Promise<void> {
  const { dialect: d } = db
  const listed = `
    select distinct company_id, listing from heads where company_id in (
      select ${d.jsonInteger('e.value')} from ${d.jsonElements('$ids', 'e')}
    ) order by company_id, listing`
  for (const row of await db.rows(listed, { ids: JSON.stringify(companies) })) {
    const [listing, company] = [String(row['listing']), Number(row['company_id'])]
    // A listing of a resource that is not declared any more is followed by nobody.
    const shape = shapes.find((one) => one.listing === listing) ?? listing
    const heads = await db.tables.headsOf(listing, company)
    await dropHeads(db.tables, shape, { gone: heads, kept: [] })
  }
}

const companiesAtOnce = 1_000

/** Deletes the heads of listings that have another one in force at a version. */
async function forgetHeads(
  db: RegistryDatabase,
  shape: ListingShape,
  version: number,
  signal: AbortSignal | undefined,
): Promise<number> {
  const { listing } = shape
  const companies = await readIds(
    db,
    `select company_id as id from heads where listing = '${listing}' and version <= ${version}
     group by company_id having count(*) > 1 order by company_id`,
  )
  let count = 0
  for (const [at, company] of companies.entries()) {
    const heads = await db.tables.headsOf(listing, company)
    const inForce = heads.findLastIndex((head) => head.version <= version)
    const [gone, kept] = [heads.slice(0, inForce), heads.slice(inForce)]
    await dropHeads(db.tables, shape, { gone, kept })
    count += gone.length
    if (at % 100 > 0) continue
    signal?.throwIfAborted()
    await nextTurn()
  }
  return count
}

/** Reads a column `id` as a list, since what is found is changed afterwards. */
async function readIds(db: Database, sql: string): Promise<readonly number[]> {
  const ids: number[] = []
  for await (const rows of db.batches(sql)) for (const row of rows) ids.push(Number(row['id']))
  return ids
}

/** The heads of one listing. */
interface Parted {
  readonly gone: readonly HeadRow[]
  readonly kept: readonly HeadRow[]
}

async function dropHeads(
  tables: ListingTables,
  shape: ListingShape | string,
  { gone, kept }: Parted,
): Promise<void> {
  const listing = typeof shape === 'string' ? shape : shape.listing
  // What is told of a company is told as a whole, if it is not known what it was.
  if (typeof shape !== 'string' && shape !== attributesShape) {
    await traceRemoved(tables, shape, [...gone, ...kept.slice(0, 1)])
  }
  const segments = await namedSegments(tables, gone)
  for (const segment of (await namedSegments(tables, kept)).keys()) segments.delete(segment)
  const dropped: SegmentKey[] = [...segments].map(([segment, companyId]) => ({
    companyId,
    segment,
  }))
  for (let at = 0; at < dropped.length; at += 1_000) {
    await tables.dropSegments(dropped.slice(at, at + 1_000))
  }
  await tables.dropHeads(listing, gone)
}

/** The segments and nodes that heads name, with their company. */
async function namedSegments(
  tables: ListingTables,
  heads: readonly HeadRow[],
): Promise<Map<number, number>> {
  const named = new Map<number, number>()
  for (const { companyId, directory } of heads) {
    const readNodes = (nodes: readonly number[]) => tables.entries(companyId, nodes)
    const nodes = await collectNodes(directory, readNodes)
    for (const { entry } of nodes) named.set(entry.segment, companyId)
    const leaves = await collectLeaves(directory, readNodes)
    for (const { segment } of leaves) named.set(segment, companyId)
  }
  return named
}
