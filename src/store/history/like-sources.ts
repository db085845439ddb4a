// Finds other sources that have the same companies as an import: its option --source may have been
// forgotten or misspelt.

import { statementOf } from '../companies/attributes.ts'
import { isRecordingSource, type LikeSource } from '../importing.ts'
import { keysOf, openListings } from '../listing/open-listings.ts'
import { decodeEntries, type SegmentIndex, valueAt } from '../listing/segment.ts'
import { attributesShape, type ListingShape } from '../listing/shape.ts'
import type { ListingTables } from '../listing/tables.ts'

/** How many segments of a listing are looked at. */
const segmentsMax = 4

/** The listings and companies of an import, and the number of its own source. */
export interface Sample {
  readonly shape: ListingShape
  readonly companies: readonly number[]
  readonly source: number
}

/** The sources that have companies of a sample, those with the most of them first. */
export async function findLikeSources(
  tables: ListingTables,
  sample: Sample,
): Promise<readonly LikeSource[]> {
  const counts = await countCompanies(tables, sample)
  const own = counts.get(sample.source) ?? 0
  return [...(await tables.sources())]
    .filter(([id, { name }]) => id !== sample.source && !isRecordingSource(name))
    .flatMap(([id, { name: source }]) => {
      const companies = counts.get(id)
      const sampled = sample.companies.length
      return companies === undefined ? [] : [{ id, like: { source, companies, own, sampled } }]
    })
    .sort((a, b) => b.like.companies - a.like.companies || a.id - b.id)
    .map(({ like }) => like)
}

/** How many of the companies each source has, by its number. */
async function countCompanies(
  tables: ListingTables,
  { shape, companies }: Sample,
): Promise<Map<number, number>> {
  const open = await openListings(tables, shape.listing, companies)
  const keys = [...open].flatMap(([companyId, { leaves }]) =>
    keysOf(companyId, leaves.slice(0, segmentsMax)),
  )
  const found = new Map<number, Set<number>>()
  for (const { companyId, entries } of await tables.segments(keys, 'entries')) {
    const sources = found.get(companyId) ?? new Set()
    found.set(companyId, sources)
    for (const source of sourcesIn(shape, decodeEntries(shape, entries))) sources.add(source)
  }
  const counts = new Map<number, number>()
  for (const sources of found.values()) {
    for (const source of sources) counts.set(source, (counts.get(source) ?? 0) + 1)
  }
  return counts
}

/** The sources of records; of what sources say about a company, only those that still have it. */
function sourcesIn(shape: ListingShape, index: SegmentIndex): readonly number[] {
  const sources = [...index.sources]
  if (shape !== attributesShape) return sources
  return sources.filter(
    (_, n) => statementOf({ values: index.columns.map((one) => valueAt(one, n)) }).isPresent,
  )
}
