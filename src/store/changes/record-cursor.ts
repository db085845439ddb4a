// Goes through the records of some segments of a listing, in its order, by their indexes alone.

import { after, type Awaitable } from '../awaitable.ts'
import { compareOrder } from '../listing/merge.ts'
import { digestBytes, type ListedRecord, type SegmentIndex } from '../listing/segment.ts'
import type { TextRange } from '../listing/tables.ts'
import type { IndexSource, Leaves } from './index-source.ts'

/** A place in the order of a listing: that of a record. */
export type Place = Pick<ListedRecord, 'id' | 'sort'>

/** Stands at a record, which is its place, or at the end. */
export interface RecordCursor extends Place {
  isAtEnd: boolean
  id: number
  sort: number
  readonly leaves: Leaves
  /** The number of the first segment that was not read yet. */
  next: number
  /** How many segments are read at once: more, the longer the way. */
  window: number
  indexes: readonly SegmentIndex[]
  /** The index in which the record is, its number there, and where its text begins. */
  nth: number
  n: number
  from: number
}

const [windowMin, windowMax] = [4, 64]

/** @param place the cursor begins at the first record after it. */
export async function openCursor(
  source: IndexSource,
  leaves: Leaves,
  place: Place | undefined,
): Promise<RecordCursor> {
  const next = place === undefined ? 0 : await findLeaf(source, leaves, place)
  const cursor: RecordCursor = {
    ...{ isAtEnd: false, id: 0, sort: 0, leaves, next, window: windowMin },
    ...{ indexes: [], nth: 0, n: 0, from: 0 },
  }
  await readOn(source, cursor)
  if (place === undefined) return cursor
  while (!cursor.isAtEnd && compareOrder(source.shape, cursor, place) <= 0) {
    await moveOn(source, cursor)
  }
  return cursor
}

/** Moves to the next record; a promise if that has to be read. */
export function moveOn(source: IndexSource, cursor: RecordCursor): Awaitable<void> {
  const index = cursor.indexes[cursor.nth]
  cursor.from += (index?.lengths[cursor.n] ?? 0) + 1
  cursor.n += 1
  if (cursor.n === index?.count) {
    cursor.nth += 1
    cursor.n = cursor.from = 0
    if (cursor.nth === cursor.indexes.length) return readOn(source, cursor)
  }
  show(cursor)
}

function readOn(source: IndexSource, cursor: RecordCursor): Awaitable<void> {
  const { companyId, leaves } = cursor.leaves
  const some = leaves.slice(cursor.next, cursor.next + cursor.window)
  cursor.next += some.length
  cursor.window = Math.min(windowMax, 2 * cursor.window)
  return after(source.read({ companyId, leaves: some }), (indexes) => {
    cursor.indexes = indexes
    cursor.nth = cursor.n = cursor.from = 0
    show(cursor)
  })
}

function show(cursor: RecordCursor): void {
  const { indexes, nth, n } = cursor
  const index = indexes[nth]
  cursor.isAtEnd = index === undefined
  cursor.id = index?.ids[n] ?? 0
  cursor.sort = index?.sorts[n] ?? 0
}

/** Whether two cursors stand at records with the same text. */
export function isSame(a: RecordCursor, b: RecordCursor): boolean {
  const [ofA, ofB] = [a.indexes[a.nth]?.digests, b.indexes[b.nth]?.digests]
  for (let byte = 0; byte < digestBytes; byte++) {
    if (ofA?.[a.n * digestBytes + byte] !== ofB?.[b.n * digestBytes + byte]) return false
  }
  return true
}

/** Where the text of the record is. */
export function textAt({ leaves, next, indexes, nth, n, from }: RecordCursor): TextRange {
  const segment = leaves.leaves[next - indexes.length + nth]?.segment ?? 0
  return { companyId: leaves.companyId, segment, from, length: indexes[nth]?.lengths[n] ?? 0 }
}

/** The first segment with a record after a place, by halving. */
export async function findLeaf(
  source: IndexSource,
  { companyId, leaves }: Leaves,
  place: Place,
): Promise<number> {
  let [low, high] = [0, leaves.length]
  while (low < high) {
    const middle = (low + high) >> 1
    const one = leaves.slice(middle, middle + 1)
    const [index] = await source.read({ companyId, leaves: one })
    const last = (index?.count ?? 0) - 1
    const end = { id: index?.ids[last] ?? 0, sort: index?.sorts[last] ?? 0 }
    if (compareOrder(source.shape, end, place) > 0) high = middle
    else low = middle + 1
  }
  return low
}
