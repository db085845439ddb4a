// Compares the table of records in present listings (`record_ids`) with the listings: by sums that
// the database computes over the table, since a listing may have millions of ids.

import { digestBytes, type SegmentIndex } from '../listing/segment.ts'
import type { RegistryDatabase } from '../sql/database.ts'

/** Of the records of a listing, their number, and sums of their ids, and of ids with sources. */
export type IdSums = readonly [records: number, ids: number, pairs: number]

export const noIds: IdSums = [0, 0, 0]

/** The columns of a query on `record_ids`; the remainders keep the sums exact in JavaScript. */
export const idSums = `
  count(*), cast(sum(id % 16777213) as bigint),
  cast(sum((id % 8191 + 1) * (id % 8179 + source_id)) as bigint)`

/** The same sums over the records of a segment. */
export function sumIds({ count, ids, sources }: SegmentIndex): IdSums {
  let [all, pairs] = [0, 0]
  for (const [n, id] of ids.entries()) {
    all += id % 16_777_213
    pairs += ((id % 8_191) + 1) * ((id % 8_179) + (sources[n] ?? 0))
  }
  return [count, all, pairs]
}

export const addSums = (a: IdSums, b: IdSums): IdSums => [a[0] + b[0], a[1] + b[1], a[2] + b[2]]

export const isSameSums = (a: IdSums, b: IdSums): boolean => a.every((sum, n) => sum === b[n])

export type SharedRecords = Awaited<ReturnType<typeof readShared>>

/** Reads which records are in several listings, where they have one content. */
export async function readShared(db: Pick<RegistryDatabase, 'batches'>) {
  const contents = new Map<string, Map<number, number | undefined>>()
  const sql = 'select listing, id from record_ids group by listing, id having count(*) > 1'
  for await (const rows of db.batches<[listing: string, id: number]>(sql)) {
    for (const [listing, id] of rows) {
      const own = contents.get(listing) ?? new Map<number, undefined>()
      contents.set(listing, own.set(id, undefined))
    }
  }
  return {
    /** The ids of the records of a segment that have different content elsewhere. */
    *differing(listing: string, { ids, digests }: SegmentIndex): Generator<number> {
      const own = contents.get(listing)
      if (own === undefined) return
      for (const [n, id] of ids.entries()) {
        if (!own.has(id)) continue
        // 48 bits of a digest tell any two contents apart.
        const [content, before] = [digests.readUIntLE(n * digestBytes, 6), own.get(id)]
        own.set(id, content)
        if (before !== undefined && before !== content) yield id
      }
    },
  }
}
