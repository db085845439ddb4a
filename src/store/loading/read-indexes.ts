// The indexes of listings that an import is compared with, and what it looks up in them.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { keysOf, type OpenListing } from '../listing/open-listings.ts'
import { decodeEntries, type SegmentIndex } from '../listing/segment.ts'
import type { ImportContext } from './context.ts'
import { inBatches } from './staging.ts'

/** How many segments of a listing are read at once. */
const segmentsAtOnce = 400

/** The indexes of listings, by company. */
export type Indexes = ReadonlyMap<number, readonly SegmentIndex[]>

/** The indexes of listings of few segments, read at once. */
export async function readSmall(
  { tables, shape }: ImportContext,
  open: ReadonlyMap<number, OpenListing>,
): Promise<Indexes> {
  const small = [...open].filter(([, { leaves }]) => leaves.length <= segmentsAtOnce)
  const indexes = new Map<number, SegmentIndex[]>()
  const keys = small.flatMap(([company, { leaves }]) => keysOf(company, leaves))
  for (const batch of inBatches(keys, segmentsAtOnce)) {
    for (const { companyId, entries } of await tables.segments(batch, 'entries')) {
      const index = decodeEntries(shape, entries)
      const known = indexes.get(companyId)
      if (known === undefined) indexes.set(companyId, [index])
      else known.push(index)
    }
  }
  return indexes
}

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
    yield rows.map(({ entries }) => decodeEntries(shape, entries))
    await nextTurn()
  }
}

export function hasDigest(
  { digests }: SegmentIndex,
  n: number,
  digest: Uint8Array | undefined,
): boolean {
  if (digest === undefined) return false
  const from = n * digestBytes
  for (let at = 0; at < digestBytes; at++) if (digests[from + at] !== digest[at]) return false
  return true
}

const digestBytes = 12

/** The type of a record that `meta` counts. */
export function typeAt({ shape }: ImportContext, index: SegmentIndex, n: number): string | null {
  const column = shape.metaColumn === undefined ? undefined : index.columns[shape.metaColumn]
  if (column?.type !== 'text') return null
  const code = column.codes[n] ?? 0
  return code === 0 ? null : (column.values[code - 1] ?? null)
}
