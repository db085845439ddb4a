// Merges a long listing in parts, so that neither its segments nor what an import puts into it have
// to be in memory as a whole.

import type { Awaitable } from '../awaitable.ts'
import type { DirectoryEntry } from './directory.ts'
import { applyPlan, planMerge } from './merge.ts'
import { addToCount } from './meta.ts'
import { decodeEntries, type ListedRecord, type SegmentIndex } from './segment.ts'
import type { ListingShape } from './shape.ts'
import { keysOf } from './open-listings.ts'
import type { MergeContext, Output } from './write-listings.ts'

/** A place in the order of a listing. */
export type OrderKey = Pick<ListedRecord, 'id' | 'sort'>

export interface PutReader {
  /** The next records before a place, at most so many. */
  take(before: OrderKey | undefined, most?: number): Awaitable<ListedRecord[]>
}

/** How many records are merged at once. */
export const recordsAtOnce = 20_000

interface Merged {
  readonly company: number
  readonly gone: ReadonlySet<number>
  readonly types: Map<string, number>
}

/** Merges a listing a window of consecutive segments at a time, in the listing's order. */
export function createWindow(
  { tables, numbers }: MergeContext,
  shape: ListingShape,
  { company, gone, types }: Merged,
  out: Output,
) {
  const entries: DirectoryEntry[] = []
  const { metaColumn } = shape

  async function mergePart(
    leaves: readonly DirectoryEntry[],
    indexes: readonly SegmentIndex[],
    records: readonly ListedRecord[],
  ): Promise<void> {
    const old = leaves.map((entry, at) => ({ entry, index: elementOf(indexes, at) }))
    const plan = planMerge(shape, old, { puts: records, removed: gone })
    const read = plan.touched.map((at) => leaves[at]?.segment ?? 0)
    const texts = read.length === 0 ? [] : await tables.texts(company, read)
    const textsBy = new Map(plan.touched.map((at, n) => [at, elementOf(texts, n)]))
    const textsOf = (at: number) => textsBy.get(at) ?? new Uint8Array()
    const merged = applyPlan(shape, plan, textsOf, numbers.next)
    for (const entry of merged.entries) entries.push(entry)
    for (const row of merged.written) out.addSegment({ companyId: company, ...row })
    if (metaColumn !== undefined) {
      for (const { values } of records) addToCount(types, values[metaColumn] ?? null, 1)
    }
  }

  /** Puts the records before a place, most of them in segments of their own; returns the rest. */
  async function mergeBefore(puts: PutReader, first: OrderKey): Promise<ListedRecord[]> {
    for (;;) {
      const records = await puts.take(first, recordsAtOnce)
      if (records.length < recordsAtOnce) return records
      await mergePart([], [], records)
      if (out.isFull()) await out.flush()
    }
  }

  return {
    entries,
    async read(leaves: readonly DirectoryEntry[]): Promise<SegmentIndex[]> {
      const rows = await tables.segments(keysOf(company, leaves), 'entries')
      return rows.map((row) => decodeEntries(shape, row.entries))
    },
    /** @param next the segment after the window, if there is one. */
    async merge(
      leaves: readonly DirectoryEntry[],
      indexes: readonly SegmentIndex[],
      puts: PutReader,
      next: SegmentIndex | undefined,
    ): Promise<void> {
      const [first] = indexes
      if (first === undefined) return mergePart([], [], await puts.take(undefined))
      let records = await mergeBefore(puts, keyAt(first, 0))
      if (next !== undefined) records = records.concat(await puts.take(keyAt(next, 0)))
      else {
        const last = elementOf(indexes, indexes.length - 1)
        records = records.concat(await puts.take(keyAt(last, last.count - 1)))
        records = records.concat(await puts.take(undefined, recordsAtOnce))
      }
      await mergePart(leaves, indexes, records)
    },
  }
}

function elementOf<T>(list: readonly T[], n: number): T {
  const found = list[n]
  if (found === undefined) throw new Error(`there is no element ${n} of ${list.length}`)
  return found
}

function keyAt({ ids, sorts }: SegmentIndex, n: number) {
  return { id: ids[n] ?? 0, sort: sorts[n] ?? 0 }
}
