// Deletes past states that were current only in versions older than an operator wants to keep:
// heads, and the segments that only they name.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Resource } from '../../resources/resource.ts'
import { traceRemoved } from '../changes/trace.ts'
import { namedSegments } from '../listing/open-listings.ts'
import { attributesShape, type ListingShape, shapeOf } from '../listing/shape.ts'
import { type HeadRow, inBatches, type ListingTables, type SegmentKey } from '../listing/tables.ts'
import { type RegistryDatabase, readValue, type Row, readNumbers } from '../sql/database.ts'
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
 * @param request the moment in milliseconds since 1970, and whether to take it all back.
 */
export async function prune(
  db: RegistryDatabase,
  resources: readonly Resource[],
  { before, isDryRun }: PruneRequest,
  watch: WorkWatch,
): Promise<Pruned> {
  let found: Pruned | undefined
  const work = db.inTransaction('registry', watch, async () => {
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
    // Its examples are what was replaced.
    await db.run('update imports set difference = null where committed_at < $before', { before })
    const raise = 'update store set past_from = $version where past_from < $version'
    await db.run(raise, { version })
    const earliest = await readValue(db, 'select past_from from store')
    found = { earliestVersion: Number(earliest), forgotten }
    if (isDryRun) throw undone
    return found
  })
  try {
    return await work
  } catch (error) {
    if (error === undone && found !== undefined) return found
    throw error
  }
}

/** Thrown to take back what a dry run has deleted. */
const undone = new Error('a dry run changes nothing')

interface PruneRequest {
  readonly before: number
  readonly isDryRun: boolean
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
  const past = await readNumbers(
    db,
    `select distinct company_id as id from companies_past where until <= ${version} order by id`,
  )
  const count = await db.run('delete from companies_past where until <= $version', { version })
  for (const some of inBatches(past, companiesAtOnce)) {
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
  const rows = await db.rows(
    `select company_id, listing, count(*) as heads from heads
     where ${db.dialect.isOneOf('company_id', '$ids', 'bigint')}
     group by company_id, listing order by company_id, listing`,
    { ids: companies },
  )
  for (const [listing, own] of Map.groupBy(rows, (row) => String(row['listing']))) {
    // A listing of a resource that is not declared any more is followed by nobody.
    const shape = shapes.find((one) => one.listing === listing) ?? listing
    for (const some of inHeads(own.map(countOf))) {
      await dropHeads(db.tables, shape, some, (heads) => heads.length)
    }
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
  const companies: CompanyCount[] = []
  const sql = `
    select company_id, count(*) as heads from heads where listing = '${listing}'
    group by company_id having sum(case when version <= ${version} then 1 else 0 end) > 1
    order by company_id`
  for await (const rows of db.batches(sql)) companies.push(...rows.map(countOf))
  let count = 0
  for (const some of inHeads(companies)) {
    const beforeInForce = (heads: readonly HeadRow[]) =>
      heads.findLastIndex((head) => head.version <= version)
    count += await dropHeads(db.tables, shape, some, beforeInForce)
    signal?.throwIfAborted()
    await nextTurn()
  }
  return count
}

/** How many heads a company has. */
type CompanyCount = readonly [companyId: number, heads: number]

const countOf = (row: Row): CompanyCount => [Number(row['company_id']), Number(row['heads'])]

/** Cuts companies into lists that do not have many heads together. */
const inHeads = (companies: readonly CompanyCount[]) =>
  inBatches(companies, Infinity, ([, heads]) => heads, headsAtOnce)

const headsAtOnce = 1_000

/**
 * Drops heads of companies, and the segments that no other of their heads names.
 *
 * @param countGone how many of a listing's heads, from the first one on, are dropped.
 * @returns the number of heads.
 */
async function dropHeads(
  tables: ListingTables,
  shape: ListingShape | string,
  companies: readonly CompanyCount[],
  countGone: (heads: readonly HeadRow[]) => number,
): Promise<number> {
  const listing = typeof shape === 'string' ? shape : shape.listing
  const ids = companies.map(([id]) => id)
  const all = await tables.headsOf(listing, ids)
  const dropped: HeadRow[] = []
  const segments: SegmentKey[] = []
  for (const heads of Map.groupBy(all, ({ companyId }) => companyId).values()) {
    const count = countGone(heads)
    const [gone, kept] = [heads.slice(0, count), heads.slice(count)]
    // If a company's former state is not known, changes report it as a whole.
    if (typeof shape !== 'string' && shape !== attributesShape) {
      await traceRemoved(tables, shape, [...gone, ...kept.slice(0, 1)])
    }
    const named = await namedSegments(tables, gone)
    for (const segment of await namedSegments(tables, kept)) named.delete(segment)
    const companyId = heads[0]?.companyId ?? 0
    for (const segment of named) segments.push({ companyId, segment })
    dropped.push(...gone)
  }
  for (const some of inBatches(segments, 1_000)) await tables.dropSegments(some)
  await tables.dropHeads(listing, dropped)
  return dropped.length
}
