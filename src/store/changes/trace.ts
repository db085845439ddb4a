// Records changes that heads do not show, as traces, for clients that follow the registry.

import { inBatches } from '../listing/in-batches.ts'
import { compareHeads, keysOf, readIndexes } from '../listing/open-listings.ts'
import { attributesShape, type ListingShape } from '../listing/shape.ts'
import type { DirectoryEntry } from '../listing/directory.ts'
import type { HeadRow, ListingTables, TraceRow } from '../listing/tables.ts'

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

/** The segments of a dropped head that may have records that the next one lacks. */
interface Lost {
  readonly companyId: number
  /** That of the next head. */
  readonly version: number
  readonly former: readonly DirectoryEntry[]
  /** In which the next head differs from it, and the last one, if that is another. */
  readonly now: readonly DirectoryEntry[]
  readonly later: readonly DirectoryEntry[]
}

/**
 * Traces the records that a head has but the next one lacks, since the head is to be dropped. Those
 * that the last head has again need no trace: a client that had them gets the listing as a whole.
 * Many listings are compared together: a look-up costs as much as many rows.
 *
 * @param listings heads of a resource's listings, each in order: all but the last one are traced.
 */
export async function traceRemoved(
  tables: ListingTables,
  shape: ListingShape,
  listings: Iterable<readonly HeadRow[]>,
): Promise<void> {
  let batch: Lost[] = []
  let segments = 0
  for (const heads of listings) {
    for await (const lost of lostOf(tables, heads)) {
      batch.push(lost)
      segments += lost.former.length + lost.now.length + lost.later.length
      if (segments < comparedAtOnce) continue
      await traceLost(tables, shape, batch)
      batch = []
      segments = 0
    }
  }
  await traceLost(tables, shape, batch)
}

async function* lostOf(tables: ListingTables, heads: readonly HeadRow[]): AsyncGenerator<Lost> {
  const last = heads.at(-1)
  for (const [at, next] of heads.entries()) {
    const head = heads[at - 1]
    if (head === undefined || head.total === 0) continue
    const { companyId, version } = next
    const now = await compareHeads(tables, companyId, head, next)
    const later = next === last ? undefined : await compareHeads(tables, companyId, head, last)
    const laterLost = new Set((later ?? now).former.map(({ segment }) => segment))
    const lost = now.former.filter(({ segment }) => laterLost.has(segment))
    for (const former of inBatches(lost, comparedAtOnce)) {
      yield { companyId, version, former, now: now.present, later: later?.present ?? [] }
    }
  }
}

const wanted = { ids: true, sorts: true }

/** Traces those records of lost segments that no later head has. */
async function traceLost(
  tables: ListingTables,
  shape: ListingShape,
  batch: readonly Lost[],
): Promise<void> {
  const left = new Map(batch.map((lost) => [lost, new Map<number, number>()]))
  const eachRecord = async (
    part: 'former' | 'now' | 'later',
    take: (sorts: Map<number, number>, id: number, sort: number) => void,
  ) => {
    const parts = [...left].map(([lost, own]) => [own, keysOf(lost.companyId, lost[part])] as const)
    const all = parts.flatMap(([, keys]) => keys)
    const read = readIndexes(tables, shape, all, wanted)
    for (const [own, keys] of parts) {
      await read(keys.length, ({ count, ids, sorts }) => {
        for (let n = 0; n < count; n++) take(own, ids[n] ?? 0, sorts[n] ?? 0)
      })
    }
  }
  await eachRecord('former', (own, id, sort) => own.set(id, sort))
  for (const part of ['now', 'later'] as const) {
    await eachRecord(part, (own, id) => own.delete(id))
    for (const [lost, own] of left) if (own.size === 0) left.delete(lost)
  }
  const rows = [...left].flatMap(([{ companyId, version }, own]) =>
    [...own].map(([id, sort]): TraceRow => ({ companyId, version, id, sort, kind: 'remove' })),
  )
  await tables.putTraces(shape.listing, rows)
}
