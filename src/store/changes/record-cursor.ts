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
  const length = cursor.indexes[cursor.nth]?.lengths[cursor.n] ?? 0
  return passOver(source, cursor, { count: 1, bytes: length })
}

/** Moves past records of a segment, whose texts are so long with the commas between them. */
function passOver(
  source: IndexSource,
  cursor: RecordCursor,
  { count, bytes }: { readonly count: number; readonly bytes: number },
): Awaitable<void> {
  cursor.from += bytes + 1
  cursor.n += count
  if (cursor.n === cursor.indexes[cursor.nth]?.count) {
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
export function textAt(cursor: RecordCursor): TextRange {
  return textsAt(cursor, cursor.indexes[cursor.nth]?.lengths[cursor.n] ?? 0)
}

function textsAt({ leaves, next, indexes, nth, from }: RecordCursor, length: number): TextRange {
  const segment = leaves.leaves[next - indexes.length + nth]?.segment ?? 0
  return { companyId: leaves.companyId, segment, from, length }
}

/** Records of a segment, one after another. */
interface Taken {
  readonly ids: Float64Array
  /** Their order values; empty if there are none. */
  readonly sorts: Float64Array
  readonly lengths: Uint32Array
  /** Their texts, if they were read, or where those are. */
  readonly texts: Uint8Array | TextRange
}

/** Takes the record and those that follow it in its segment, at most so many, and moves past. */
export function takeOn(source: IndexSource, cursor: RecordCursor, most: number): Awaitable<Taken> {
  const { n } = cursor
  const index = cursor.indexes[cursor.nth]
  if (index === undefined) throw new Error('there are no records at the end of a listing')
  const end = Math.min(index.count, n + most)
  const lengths = index.lengths.subarray(n, end)
  let bytes = lengths.length - 1
  for (const length of lengths) bytes += length
  const range = textsAt(cursor, bytes)
  const texts = source.textsOf(range.segment)?.subarray(range.from, range.from + bytes) ?? range
  const taken = { ids: index.ids.subarray(n, end), sorts: index.sorts.subarray(n, end), lengths }
  return after(passOver(source, cursor, { count: lengths.length, bytes }), () => {
    return { ...taken, texts }
  })
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
