// What of an import is almost the same as what is known: companies that its source has under almost
// the same name, and other sources that have the same companies.

import { readAttributes, statementOf } from '../companies/attributes.ts'
import { type AlikeNames, isRecordingSource, type LikeSource } from '../importing.ts'
import { attributesShape, type ListingShape } from '../listing/shape.ts'
import { companiesListed } from './company-rows.ts'
import type { ImportContext } from './context.ts'
import { inBatches, type ListingTables } from '../listing/tables.ts'
import { keysOf, openListings } from '../listing/open-listings.ts'
import { decodeEntries, type SegmentIndex, valueAt } from '../listing/segment.ts'

/** So many companies of the source, and of the import, are looked at. */
const knownMax = 2_000
const newMax = 100_000
const batchLength = 200
const pairsMax = 3

/** The first pairs. */
export async function findAlike(context: ImportContext): Promise<readonly AlikeNames[]> {
  const known = await knownNames(context)
  const pairs: AlikeNames[] = []
  const made = context.staging.iterate(
    `select jurisdiction, identifier from companies where is_new and identifier is not null
     order by id limit ${newMax}`,
  )
  for (const row of made) {
    const [jurisdiction, identifier] = row as [string | null, string]
    const like = known.get(plain(identifier))
    if (like === undefined) continue
    pairs.push({ given: `${jurisdiction ?? ''} ${identifier}`, known: like })
    if (pairs.length === pairsMax) break
  }
  return pairs
}

/** The names of companies that the source has, by what of them matters. */
async function knownNames({
  tables,
  source,
  version,
}: ImportContext): Promise<Map<string, string>> {
  const names = new Map<string, string>()
  const listed: number[] = []
  for await (const company of companiesListed(tables, attributesShape.listing)) {
    listed.push(company)
    if (listed.length === knownMax) break
  }
  for (const batch of inBatches(listed, batchLength)) {
    const said = await readAttributes(tables, batch)
    for (const { id, jurisdiction, identifier } of await tables.companiesById(batch)) {
      const own = said.get(id)?.find((one) => one.source === source)
      // The import has written its own companies already.
      const isOwn = own !== undefined && statementOf(own).version < version
      if (!isOwn || identifier === null) continue
      names.set(plain(identifier), `${jurisdiction ?? ''} ${identifier}`)
    }
  }
  return names
}

const plain = (identifier: string) =>
  identifier
    .normalize('NFKC')
    .toUpperCase()
    .replace(/\.0+$/, '')
    .replace(/^0+(?=.)/, '')

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
