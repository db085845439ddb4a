// Verifies listings, ids and names, some companies at once: what tables have of these is read side
// by side, and compared.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Resource } from '../../resources/resource.ts'
import type { StoredChecks } from '../inspecting.ts'
import { attributesShape, type ListingShape, shapeOf } from '../listing/shape.ts'
import type { HeadRow, NamingSource } from '../listing/tables.ts'
import { readNumbers, type RegistryDatabase, type Row } from '../sql/database.ts'
import { segmentTablesOf } from '../sql/head-tables.ts'
import { type CompanyRows, sideBySide } from './side-by-side.ts'
import {
  idSums,
  idSumsOf,
  noIds,
  type IdSums,
  readShared,
  type SharedRecords,
} from './verify-ids.ts'
import { type SegmentsThere, verifyListings } from './verify-listings.ts'
import { checkNames, createWordCheck } from './verify-names.ts'
import type { Report } from './verify.ts'

/** A kind of listing. */
export interface CheckedKind {
  readonly shape: ListingShape
  /** Undefined for what sources say about companies. */
  readonly resource: Resource | undefined
}

/** What the checks have to know of the registry. */
export interface VerifiedRegistry {
  readonly db: RegistryDatabase
  readonly checks: StoredChecks
  readonly report: Report
  readonly onStep: (step: string) => void
  /** By listing. */
  readonly kinds: ReadonlyMap<string, CheckedKind>
  readonly versions: ReadonlySet<number>
  readonly sources: ReadonlyMap<number, NamingSource>
  readonly shared: SharedRecords
}

const queriesOf = (there: readonly string[]) => ({
  heads: `
    select company_id, listing, version, total, meta, largest, directory
    from heads order by company_id, listing, version`,
  segments: `
    select company_id, segment from (${there.join(' union all ')}) s
    order by company_id, segment`,
  ids: `
    select company_id, listing, ${idSums} from record_ids
    group by company_id, listing order by company_id, listing`,
  names: 'select company_id, name from names order by company_id',
})

type VerifiedRows = CompanyRows<keyof ReturnType<typeof queriesOf>>

const headsAtOnce = 500

/** Verifies all companies. */
export async function verifyCompanies(
  resources: readonly Resource[],
  given: Pick<VerifiedRegistry, 'db' | 'checks' | 'report' | 'onStep'>,
): Promise<void> {
  const { db, onStep } = given
  const registry: VerifiedRegistry = {
    ...{ ...given, kinds: kindsOf(resources), sources: await db.tables.sources() },
    versions: new Set(await readNumbers(db, 'select version from imports')),
    shared: await readShared(db),
  }
  const words = createWordCheck(registry)
  const there = segmentTablesOf(db.dialect).map(
    (table) => `select company_id, segment from ${table}`,
  )
  for await (const rows of sideBySide(db, queriesOf(there), headsAtOnce)) {
    onStep('companies')
    const listings = listingsOf(registry, rows)
    const said = await verifyListings(registry, listings, segmentsOf(rows))
    const names = new Map(rows.names.map((row) => [companyOf(row), String(row['name'])]))
    checkNames(registry, said, names)
    await words.check(names)
    await nextTurn()
  }
  await words.finish()
}

function kindsOf(resources: readonly Resource[]): ReadonlyMap<string, CheckedKind> {
  const kinds = [undefined, ...resources].map((resource): CheckedKind => {
    return { resource, shape: resource === undefined ? attributesShape : shapeOf(resource) }
  })
  return new Map(kinds.map((kind) => [kind.shape.listing, kind]))
}

/** What tables have of one listing. */
export interface VerifiedListing {
  readonly companyId: number
  readonly listing: string
  /** Undefined for that of a resource that is not declared any more. */
  readonly kind: CheckedKind | undefined
  /** In the order of their versions. */
  readonly heads: readonly HeadRow[]
  /** What is kept of the records of the present listing. */
  readonly kept: IdSums
}

function segmentsOf({ segments }: VerifiedRows): SegmentsThere {
  return new Map(segments.map((row) => [Number(row['segment']), companyOf(row)]))
}

const companyOf = (row: Row) => Number(row['company_id'])

function listingsOf({ kinds }: VerifiedRegistry, rows: VerifiedRows): readonly VerifiedListing[] {
  const nameOf = (row: Row) => JSON.stringify([companyOf(row), row['listing']])
  const heads = Map.groupBy(rows.heads, nameOf)
  const kept = new Map(rows.ids.map((row) => [nameOf(row), row]))
  return [...new Set([...heads.keys(), ...kept.keys()])].map((name) => {
    const [companyId, listing] = JSON.parse(name) as [number, string]
    const ids = kept.get(name)
    return {
      ...{ companyId, listing, kind: kinds.get(listing) },
      heads: heads.get(name)?.map(headOf) ?? [],
      kept: ids === undefined ? noIds : idSumsOf(ids),
    }
  })
}

function headOf(row: Row): HeadRow {
  return {
    companyId: companyOf(row),
    version: Number(row['version']),
    total: Number(row['total']),
    meta: row['meta'] === null ? null : String(row['meta']),
    largest: Number(row['largest']),
    directory: String(row['directory']),
  }
}
