// Verifies heads: their directories, and what they state about the segments that these lead to.

import { metaTypesMax } from '../../resources/resource.ts'
import { decodeNode, type DirectoryEntry, openDirectory, sumOf } from '../listing/directory.ts'
import { compareOrder } from '../listing/merge.ts'
import { addToCount, metaOf, type ListingShape } from '../listing/shape.ts'
import type { HeadRow, ListingTables } from '../listing/tables.ts'
import type { SegmentSummary } from './verify-segments.ts'

/**
 * The segments to which a head leads; undefined if its directory cannot be read.
 *
 * @param nodes receives the numbers of the nodes of its directory.
 */
export async function openChecked(
  tables: Pick<ListingTables, 'segments'>,
  { companyId, directory }: HeadRow,
  nodes: Set<number>,
  fault: (sentence: string) => void,
): Promise<readonly DirectoryEntry[] | undefined> {
  try {
    const { nodes: parts, leaves } = await openDirectory(directory, async (numbers) => {
      for (const segment of numbers) nodes.add(segment)
      const keys = numbers.map((segment) => ({ companyId, segment }))
      return (await tables.segments(keys, 'entries')).map(({ entries }) => entries)
    })
    for (const { entry, entries } of parts) {
      if (isSum(entry, decodeNode(entries).entries)) continue
      fault(`its part ${entry.segment} does not match`)
    }
    return leaves
  } catch (error) {
    // Errors of a database have a code.
    if (!(error instanceof Error) || 'code' in error) throw error
    fault(error.message)
    return undefined
  }
}

function isSum(entry: DirectoryEntry, parts: readonly DirectoryEntry[]): boolean {
  const { records, bytes, largest } = sumOf(parts)
  return entry.records === records && entry.bytes === bytes && entry.largest === largest
}

/** What a head states that contradicts its segments. */
export function* faultsOfHead(
  shape: ListingShape,
  head: HeadRow,
  leaves: readonly DirectoryEntry[],
  segments: readonly SegmentSummary[],
): Generator<string> {
  const types = new Map<string, number>()
  for (const [at, segment] of segments.entries()) {
    for (const [type, count] of segment.types) addToCount(types, type, count)
    const leaf = leaves[at]
    if (leaf !== undefined && !isSum(leaf, [segment])) {
      yield `its directory has other numbers than segment ${leaf.segment}`
    }
    const before = segments[at - 1]
    if (before !== undefined && compareOrder(shape, before.last, segment.first) >= 0) {
      yield `the record ${segment.first.id} is out of order`
    }
  }
  const { records, largest } = sumOf(segments)
  if (records !== head.total) {
    yield `the head has a total of ${head.total}, its segments have ${records} records`
  }
  if (largest !== head.largest) {
    yield `the largest record has ${largest} bytes, but the head has ${head.largest}`
  }
  const meta = metaOf(shape, types)
  if (meta !== head.meta) yield 'meta does not match the records'
  if (types.size > metaTypesMax) yield `${types.size} types, more than ${metaTypesMax}`
}
