// The indexes of listings that an import is compared with, and what it looks up in them.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { keysOf, type OpenListing, readIndexes } from '../listing/open-listings.ts'
import { decodeEntries, digestBytes, type SegmentIndex, valueAt } from '../listing/segment.ts'
import type { ListingShape } from '../listing/shape.ts'
import type { ImportContext } from './context.ts'
import { inBatches } from '../listing/tables.ts'

/** How many segments of a listing are read at once. */
const segmentsAtOnce = 400

/** The indexes of listings, by company. */
export type Indexes = ReadonlyMap<number, readonly SegmentIndex[]>

/** The indexes of listings of few segments, read at once. */
export const readSmall = (
  { tables, shape }: ImportContext,
  open: ReadonlyMap<number, OpenListing>,
): Promise<Indexes> => readIndexes(tables, shape, open, { each: segmentsAtOnce }, wantedOf(shape))

/** The indexes of a listing, some at a time. */
export async function* indexesOf(
  { tables, shape }: ImportContext,
  { head, leaves }: OpenListing,
  known: Indexes,
): AsyncGenerator<readonly SegmentIndex[]> {
  const read = known.get(head.companyId)
  if (read !== undefined) {
    yield read
    return
  }
  for (const batch of inBatches(leaves, segmentsAtOnce)) {
    const rows = await tables.segments(keysOf(head.companyId, batch), 'entries')
    yield rows.map(({ entries }) => decodeEntries(shape, entries, wantedOf(shape)))
    await nextTurn()
  }
}

/** Comparing needs no column but that of the types that `meta` counts. */
const wantedOf = ({ metaColumn }: ListingShape) => (metaColumn === undefined ? [] : [metaColumn])

/** Whether a record has the digest at a place of others. */
export function hasDigest(
  { digests }: SegmentIndex,
  n: number,
  others: Uint8Array,
  place: number,
): boolean {
  const [from, to] = [n * digestBytes, place * digestBytes]
  for (let at = 0; at < digestBytes; at++) if (digests[from + at] !== others[to + at]) return false
  return true
}

/** The type of a record that `meta` counts. */
export function typeAt({ shape }: ImportContext, index: SegmentIndex, n: number): string | null {
  const column = shape.metaColumn === undefined ? undefined : index.columns[shape.metaColumn]
  return column?.type === 'text' ? (valueAt(column, n) as string | null) : null
}
