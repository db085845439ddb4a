// Which records the segments of a listing have, by their indexes alone.

import { keysOf } from '../listing/open-listings.ts'
import { decodeEntries, digestBytes } from '../listing/segment.ts'
import type { ListingShape } from '../listing/shape.ts'
import type { Leaves } from './record-stream.ts'
import type { SegmentSource } from './segment-source.ts'

const segmentsAtOnce = 64

/** Those of the records that segments have, with their digests as hexadecimal digits. */
export async function collectIds(
  source: SegmentSource,
  shape: ListingShape,
  { companyId, leaves }: Leaves,
  wanted: { has(id: number): boolean },
): Promise<Map<number, string>> {
  const found = new Map<number, string>()
  for (let at = 0; at < leaves.length; at += segmentsAtOnce) {
    const keys = keysOf(companyId, leaves.slice(at, at + segmentsAtOnce))
    for (const { entries } of await source.read(keys, 'entries')) {
      const { count, ids, digests } = decodeEntries(shape, entries, [])
      for (let n = 0; n < count; n++) {
        const id = ids[n] ?? 0
        if (!wanted.has(id)) continue
        const digest = digests.subarray(n * digestBytes, (n + 1) * digestBytes)
        found.set(id, Buffer.from(digest).toString('hex'))
      }
    }
  }
  return found
}
