// Verifies listings, ids and names, some companies at once: their rows in several tables are read
// side by side, and compared.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Resource } from '../../resources/resource.ts'
import type { StoredChecks } from '../inspecting.ts'
import { attributesShape, type ListingShape, shapeOf } from '../listing/shape.ts'
import type { NamingSource } from '../listing/tables.ts'
import { readNumbers, type RegistryDatabase } from '../sql/database.ts'
import { headColumns, type HeadColumns, headOf, segmentTablesOf } from '../sql/head-tables.ts'
import { sideBySide } from './side-by-side.ts'
import { type VerifiedListing, verifyListings } from './verify-listings.ts'
import { checkNames, checkWords } from './verify-names.ts'
import { type IdSums, idSums, noIds, readShared, type SharedRecords } from './verify-segments.ts'
import type { Report } from './verify.ts'

/** What the checks need to know about the registry. */
export interface VerifiedRegistry {
  readonly db: RegistryDatabase
  readonly checks: StoredChecks
  readonly report: Report
  readonly onStep: (step: string) => void
  /** By listing; what sources say about companies is of no resource. */
  readonly shapes: ReadonlyMap<string, ListingShape>
  readonly resources: ReadonlyMap<string, Resource>
  readonly versions: ReadonlySet<number>
  readonly sources: ReadonlyMap<number, NamingSource>
  readonly shared: SharedRecords
  /** The greatest number that a segment has had. */
  readonly lastSegment: number
}

/** The rows that are read side by side. */
interface VerifiedRows extends Record<string, readonly [number, ...unknown[]]> {
  heads: [...HeadColumns, listing: string]
  segments: [companyId: number, segment: number]
  ids: [companyId: number, listing: string, ...sums: IdSums]
  names: [companyId: number, name: string]
}

const queriesOf = (there: readonly string[]) => ({
  heads: `
    select ${headColumns}, h.listing from heads h order by company_id, listing, version`,
  segments: `
    select company_id, segment from (${there.join(' union all ')}) s
    order by company_id, segment`,
  ids: `
    select company_id, listing, ${idSums} from record_ids
    group by company_id, listing order by company_id, listing`,
  names: 'select company_id, name from names order by company_id',
})

const headsAtOnce = 500

export async function verifyCompanies(
  resources: readonly Resource[],
  given: Pick<VerifiedRegistry, 'db' | 'checks' | 'report' | 'onStep'>,
): Promise<void> {
  const { db, onStep } = given
  const shapes = [attributesShape, ...resources.map(shapeOf)]
  const registry: VerifiedRegistry = {
    ...given,
    shapes: new Map(shapes.map((shape) => [shape.listing, shape])),
    resources: new Map(resources.map((resource) => [resource.name, resource])),
    sources: await db.tables.sources(),
    versions: new Set(await readNumbers(db, 'select version from imports')),
    shared: await readShared(db),
    lastSegment: await db.tables.lastSegment(),
  }
  let words = 0
  const there = segmentTablesOf(db.dialect).map(
    (table) => `select company_id, segment from ${table}`,
  )
  for await (const rows of sideBySide<VerifiedRows>(db, queriesOf(there), headsAtOnce)) {
    onStep('companies')
    const segments = new Map(rows.segments.map(([company, segment]) => [segment, company]))
    const given = await verifyListings(registry, listingsOf(registry, rows), segments)
    words += await checkNames(registry, given, new Map(rows.names))
    await nextTurn()
  }
  await checkWords(registry, words)
}

function listingsOf(
  { shapes }: VerifiedRegistry,
  { heads, ids }: { readonly [Name in 'heads' | 'ids']: readonly VerifiedRows[Name][] },
): readonly VerifiedListing[] {
  const nameOf = (companyId: number, listing: string) => JSON.stringify([companyId, listing])
  const headsOf = Map.groupBy(heads, (row) => nameOf(row[0], row[6]))
  const sumsOf = new Map(
    ids.map(([companyId, listing, ...sums]) => [nameOf(companyId, listing), sums] as const),
  )
  return [...new Set([...headsOf.keys(), ...sumsOf.keys()])].map((name) => {
    const [companyId, listing] = JSON.parse(name) as [number, string]
    return {
      companyId,
      listing,
      shape: shapes.get(listing),
      heads: headsOf.get(name)?.map(headOf) ?? [],
      kept: sumsOf.get(name) ?? noIds,
    }
  })
}
