// Which records the segments of a listing have, by their indexes alone.

import { digestBytes } from '../listing/segment.ts'
import type { IndexSource, Leaves } from './index-source.ts'

const segmentsAtOnce = 64

/** Those of the records that segments have, with their digests as texts. */
export async function collectIds(
  source: IndexSource,
  { companyId, leaves }: Leaves,
  wanted: { has(id: number): boolean },
): Promise<Map<number, string>> {
  const found = new Map<number, string>()
  for (let at = 0; at < leaves.length; at += segmentsAtOnce) {
    const some = { companyId, leaves: leaves.slice(at, at + segmentsAtOnce) }
    for (const { count, ids, digests } of await source.read(some)) {
      const { buffer, byteOffset, length } = digests
      const bytes = Buffer.from(buffer, byteOffset, length)
      for (let n = 0; n < count; n++) {
        const id = ids[n] ?? 0
        if (!wanted.has(id)) continue
        found.set(id, bytes.toString('latin1', n * digestBytes, (n + 1) * digestBytes))
      }
    }
  }
  return found
}
