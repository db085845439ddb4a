// Finds other sources that have the companies of an import.

import { isRecordingSource, type LikeSource } from '../importing.ts'
import { comparedParts } from '../listing/shape.ts'
import { isPresentAt } from './compare.ts'
import type { ImportContext } from './context.ts'
import { keysOf, openListings, readIndexes } from '../listing/open-listings.ts'

/** How many segments of a listing are read. */
const segmentsMax = 4

/** The other sources that have some of an import's companies, those with the most of them first. */
export async function findLikeSources(
  context: ImportContext,
  sample: readonly number[],
): Promise<readonly LikeSource[]> {
  const others = [...context.sources].filter(
    ([id, { name }]) => id !== context.source && !isRecordingSource(name),
  )
  if (others.length === 0) return []
  const counts = await countCompanies(context, sample)
  const own = counts.get(context.source) ?? 0
  return others
    .sort(([a], [b]) => a - b)
    .map(([id, { name: source }]) => {
      return { source, companies: counts.get(id) ?? 0, own, sampled: sample.length }
    })
    .sort((a, b) => b.companies - a.companies)
}

/** How many of the companies each source has, by its number. */
async function countCompanies(
  { tables, shape }: ImportContext,
  companies: readonly number[],
): Promise<Map<number, number>> {
  const counts = new Map<number, number>()
  const open = await openListings(tables, shape.listing, companies)
  const first = [...open].map(([id, { leaves }]) => keysOf(id, leaves.slice(0, segmentsMax)))
  const read = readIndexes(tables, shape, first.flat(), comparedParts(shape))
  for (const keys of first) {
    const sources = new Set<number>()
    await read(keys.length, (index) => {
      for (const [n, source] of index.sources.entries()) {
        if (isPresentAt(shape, index, n)) sources.add(source)
      }
    })
    for (const source of sources) counts.set(source, (counts.get(source) ?? 0) + 1)
  }
  return counts
}
