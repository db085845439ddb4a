// How the records of a listing have changed between two states, in the order of the listing.
//
// Both states are in one order, so that they are read side by side, a part at a time: a record that
// stands at a place of one state alone was added, or removed, or has moved.

import { after, type Awaitable } from '../awaitable.ts'
import type { Numbers } from '../changes.ts'
import type { TextRange, TraceRow } from '../listing/tables.ts'
import { compareOrder } from '../listing/merge.ts'
import type { ListingShape } from '../listing/shape.ts'
import { collectIds } from './index-source.ts'
import type { Comparing, ListingStates } from './listing-states.ts'
import {
  isSame,
  moveOn,
  openCursor,
  type Place,
  type RecordCursor,
  takeOn,
  textAt,
} from './record-cursor.ts'

/** Records that have changed, one after another: where they are in the present state, or were. */
export interface RecordChange {
  readonly kind: 'put' | 'remove' | 'erase'
  readonly ids: Numbers
  /** Their order values; empty if the listing has none. */
  readonly sorts: Numbers
  /** The bytes of each text. */
  readonly lengths: Numbers
  /** Their texts, joined by commas, or where those are; undefined if they are gone. */
  readonly texts: Uint8Array | TextRange | undefined
}

/**
 * The next changes of a listing after a place; fewer than `limit` if there are no more.
 *
 * @param bytesMax about how long their texts may be together; at least one change is returned.
 */
export async function compareListing(
  comparing: Comparing,
  states: ListingStates,
  start: Place | undefined,
  { limit, bytesMax }: { readonly limit: number; readonly bytesMax: number },
): Promise<readonly RecordChange[]> {
  const next = await mergeStates(comparing, states, start)
  const changes: RecordChange[] = []
  let left = limit
  let bytes = 0
  while (left > 0 && bytes < bytesMax) {
    const found: RecordChange[] = []
    let change: RecordChange | undefined
    for (let room = left; room > 0 && bytes < bytesMax; room -= change.ids.length) {
      const one = next(room)
      change = one instanceof Promise ? await one : one
      if (change === undefined) break
      found.push(change)
      bytes += change.texts?.length ?? 0
    }
    const kept = await withoutMoved(comparing, states, found)
    for (const { ids } of kept) left -= ids.length
    changes.push(...kept)
    if (change === undefined) break
  }
  return changes
}

/** Where records are gone from one place, but stand at another one, they have moved. */
async function withoutMoved(
  { source }: Comparing,
  { place: { companyId }, leaves: { present } }: ListingStates,
  changes: readonly RecordChange[],
): Promise<readonly RecordChange[]> {
  if (!source.shape.hasSort || present.length === 0) return changes
  const isGone = ({ kind }: RecordChange) => kind !== 'put'
  const gone = changes.filter(isGone).flatMap(({ ids }) => [...ids])
  if (gone.length === 0) return changes
  const listed = await collectIds(source, { companyId, leaves: present }, new Set(gone))
  return changes.filter((one) => !isGone(one) || !listed.has(one.ids[0] ?? 0))
}

/** The changes one after another, those of moved records included; at most so many at once. */
async function mergeStates(
  { source }: Comparing,
  { place: { companyId }, isFormerKnown, traces, leaves }: ListingStates,
  start: Place | undefined,
): Promise<(most: number) => Awaitable<RecordChange | undefined>> {
  const { shape } = source
  const was = await openCursor(source, { companyId, leaves: leaves.former }, start)
  const is = await openCursor(source, { companyId, leaves: leaves.present }, start)
  const left = goneTraces(shape, traces, start)
  let at = 0
  async function nextOne(): Promise<RecordChange | undefined> {
    for (;;) {
      const first = earlier(shape, earlier(shape, left[at], was), is)
      if (first === undefined) return undefined
      const { id, sort } = first
      const trace = traces.get(id)?.kind
      const wasThere = isHere(was, id, sort)
      const isThere = isHere(is, id, sort)
      const isPut = isThere && (!wasThere || !isFormerKnown || trace === 'put' || !isSame(is, was))
      const texts = isPut ? textAt(is) : undefined
      if (left[at]?.id === id && left[at]?.sort === sort) at += 1
      const wasMoved = wasThere ? moveOn(source, was) : undefined
      const isMoved = isThere ? moveOn(source, is) : undefined
      if (wasMoved !== undefined) await wasMoved
      if (isMoved !== undefined) await isMoved
      const one = { ids: [id], sorts: [sort], lengths: [texts?.length ?? 0], texts }
      if (isPut) return { kind: 'put', ...one }
      if (!isThere) return { kind: trace === 'erase' ? 'erase' : 'remove', ...one }
    }
  }
  return (most) => {
    // What only the present state has is new, a segment at a time.
    const isRest = was.isAtEnd && at === left.length && !is.isAtEnd
    if (!isRest) return nextOne()
    return after(takeOn(source, is, most), (taken) => ({ kind: 'put', ...taken }))
  }
}

function isHere(cursor: RecordCursor, id: number, sort: number): boolean {
  return !cursor.isAtEnd && cursor.id === id && cursor.sort === sort
}

function earlier(
  shape: ListingShape,
  place: Place | undefined,
  cursor: RecordCursor,
): Place | undefined {
  if (cursor.isAtEnd) return place
  return place === undefined || compareOrder(shape, cursor, place) < 0 ? cursor : place
}

/** Traces of records that are gone, after a place, in the order of the listing. */
function goneTraces(
  shape: ListingShape,
  traces: ReadonlyMap<number, TraceRow>,
  start: Place | undefined,
): readonly TraceRow[] {
  if (traces.size === 0) return []
  return [...traces.values()]
    .filter(({ kind }) => kind === 'remove' || kind === 'erase')
    .filter((trace) => start === undefined || compareOrder(shape, trace, start) > 0)
    .sort((a, b) => compareOrder(shape, a, b))
}
