// Verifies every listing: its heads, their directories, and its segments with their records.
//
// Heads are read company by company. A segment is checked once, whatever heads name it; what heads
// have to know of it is kept while its company is checked.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Resource } from '../../resources/resource.ts'
import type { StoredChecks } from '../inspecting.ts'
import { attributesShape, type ListingShape, shapeOf } from '../listing/shape.ts'
import type { HeadRow } from '../listing/tables.ts'
import { type RegistryDatabase, optionalText, type Row } from '../sql/database.ts'
import type { Report } from './verify.ts'
import { createHeadCheck, readKnown } from './verify-heads.ts'
import { createIdCheck } from './verify-ids.ts'
import { createNameCheck } from './verify-names.ts'
import { checkOrphans, createNumberSet } from './verify-segments.ts'

/** What a verification of listings takes. */
export interface ListingChecks {
  readonly resources: readonly Resource[]
  readonly checks: StoredChecks
  readonly report: Report
  readonly onStep: (step: string) => void
}

/** A kind of listing. */
export interface CheckedKind {
  readonly shape: ListingShape
  /** Undefined for what sources say about companies. */
  readonly resource: Resource | undefined
}

/** All heads of one company. */
export interface CompanyHeads {
  readonly companyId: number
  /** By listing, in the order of their versions. */
  readonly listings: ReadonlyMap<string, HeadRow[]>
}

/** How many heads are checked together. */
const headsAtOnce = 500

/** Verifies all listings; returns the number of their records and former states, by name. */
export async function verifyListings(
  db: RegistryDatabase,
  { resources, checks, report, onStep }: ListingChecks,
): Promise<Record<string, number>> {
  const kinds = new Map<string, CheckedKind>(
    [undefined, ...resources].map((resource) => {
      const shape = resource === undefined ? attributesShape : shapeOf(resource)
      return [shape.listing, { shape, resource }]
    }),
  )
  const known = await readKnown(db, report)
  const named = createNumberSet()
  const ids = await createIdCheck(db, resources, report)
  const names = await createNameCheck(db, report)
  const heads = createHeadCheck(db.tables, { checks, report, known, named, ids, names })
  const counts = new Map<string, { records: number; former: number }>()
  for (const listing of kinds.keys()) counts.set(listing, { records: 0, former: 0 })
  for await (const companies of companiesOfHeads(db)) {
    onStep('listings')
    await known.read(companies.map(({ companyId }) => companyId))
    await heads.readSegments(companies, kinds)
    for (const company of companies) {
      for (const [listing, own] of company.listings) {
        await heads.check(company.companyId, kinds.get(listing), own)
        const count = counts.get(listing)
        if (count === undefined) continue
        count.records += own.at(-1)?.total ?? 0
        count.former += own.length - 1
      }
    }
    await names.compare()
    await nextTurn()
  }
  await names.finish()
  await ids.finish(onStep)
  await checkOrphans(db, named, report, onStep)
  return Object.fromEntries(
    [...counts].flatMap(([listing, { records, former }]) => [
      // The number of companies is that of those that are known.
      ...(listing === attributesShape.listing ? [] : [[listing, records] as const]),
      [`${listing}, past states`, former] as const,
    ]),
  )
}

/** The heads of all companies, those of some together. */
async function* companiesOfHeads(db: RegistryDatabase): AsyncGenerator<readonly CompanyHeads[]> {
  let some: { companyId: number; listings: Map<string, HeadRow[]> }[] = []
  let count = 0
  const sql = `
    select company_id, listing, version, total, meta, largest, directory
    from heads order by company_id, listing, version`
  for await (const rows of db.batches(sql)) {
    for (const row of rows) {
      const head = headOf(row)
      let last = some.at(-1)
      if (last?.companyId !== head.companyId) {
        if (count >= headsAtOnce) {
          yield some
          some = []
          count = 0
        }
        last = { companyId: head.companyId, listings: new Map() }
        some.push(last)
      }
      const listing = String(row['listing'])
      const own = last.listings.get(listing)
      if (own === undefined) last.listings.set(listing, [head])
      else own.push(head)
      count += 1
    }
  }
  if (some.length > 0) yield some
}

function headOf(row: Row): HeadRow {
  return {
    companyId: Number(row['company_id']),
    version: Number(row['version']),
    total: Number(row['total']),
    meta: optionalText(row['meta']) ?? null,
    largest: Number(row['largest']),
    directory: String(row['directory']),
  }
}
