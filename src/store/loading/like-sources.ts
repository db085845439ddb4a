// Counts the companies of an import that sources have.

import { comparedParts } from '../listing/shape.ts'
import { isPresentAt } from './compare.ts'
import type { ImportContext } from './context.ts'
import { keysOf, openListings, readIndexes } from '../listing/open-listings.ts'

/** How many segments of a listing are read. */
const segmentsMax = 4

/** How many of some companies each source has, by its name. */
export async function countBySource(
  { tables, shape, sources }: ImportContext,
  companies: readonly number[],
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>()
  const open = await openListings(tables, shape.listing, companies)
  const first = [...open].map(([id, { leaves }]) => keysOf(id, leaves.slice(0, segmentsMax)))
  const read = readIndexes(tables, shape, first.flat(), comparedParts(shape))
  for (const keys of first) {
    const names = new Set<string>()
    await read(keys.length, (index) => {
      for (const [n, source] of index.sources.entries()) {
        if (isPresentAt(shape, index, n)) names.add(sources.get(source)?.name ?? '')
      }
    })
    for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return counts
}
