// Records changes that heads do not show, as traces, for clients that follow the registry.

import { inBatches } from '../listing/in-batches.ts'
import { compareHeads, keysOf, readIndexes } from '../listing/open-listings.ts'
import { attributesShape, type ListingShape } from '../listing/shape.ts'
import type { HeadRow, ListingTables, SegmentKey, TraceRow } from '../listing/tables.ts'

/** Records that companies have changed in a version, apart from what sources say about them. */
export async function traceCompanies(
  tables: ListingTables,
  version: number,
  companies: readonly number[],
): Promise<void> {
  const rows = companies.map((id): TraceRow => ({
    companyId: id,
    version,
    id,
    sort: 0,
    kind: 'look',
  }))
  await tables.putTraces(attributesShape.listing, rows)
}

/** How many segments are compared together. */
const comparedAtOnce = 20_000

/**
 * Traces the records that a head has but the next one lacks, since the head is to be dropped. Those
 * that the last head has again need no trace: a client that had them gets the listing as a whole.
 *
 * @param heads of a resource's listing, in order: each but the last one is traced.
 */
export async function traceRemoved(
  tables: ListingTables,
  shape: ListingShape,
  heads: readonly HeadRow[],
): Promise<void> {
  const last = heads.at(-1)
  for (const [at, next] of heads.entries()) {
    const head = heads[at - 1]
    if (head === undefined || head.total === 0) continue
    const { companyId, version } = next
    const now = await compareHeads(tables, companyId, head, next)
    const later = next === last ? now : await compareHeads(tables, companyId, head, last)
    const laterLost = new Set(later.former.map(({ segment }) => segment))
    const lost = now.former.filter(({ segment }) => laterLost.has(segment))
    for (const some of inBatches(lost, comparedAtOnce)) {
      const sorts = new Map<number, number>()
      const keys = keysOf(companyId, some)
      await eachRecord(tables, shape, keys, (id, sort) => sorts.set(id, sort))
      for (const { present } of new Set([now, later])) {
        if (sorts.size === 0) break
        await eachRecord(tables, shape, keysOf(companyId, present), (id) => sorts.delete(id))
      }
      const rows = [...sorts].map(([id, sort]): TraceRow => {
        return { companyId, version, id, sort, kind: 'remove' }
      })
      await tables.putTraces(shape.listing, rows)
    }
  }
}

async function eachRecord(
  tables: ListingTables,
  shape: ListingShape,
  keys: readonly SegmentKey[],
  take: (id: number, sort: number) => void,
): Promise<void> {
  const read = readIndexes(tables, shape, keys, { ids: true, sorts: true })
  await read(keys.length, ({ count, ids, sorts }) => {
    for (let n = 0; n < count; n++) take(ids[n] ?? 0, sorts[n] ?? 0)
  })
}
