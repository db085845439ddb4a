// How the records of a listing have changed between two states, in the order of the listing.
//
// Both states are in one order, so that they are read side by side, a part at a time: a record that
// stands at a place of one state alone was added, or removed, or has moved.

import type { TextRange, TraceRow } from '../listing/tables.ts'
import { compareOrder } from '../listing/merge.ts'
import type { ListingShape } from '../listing/shape.ts'
import { collectIds } from './collect-ids.ts'
import type { Comparing, ListingStates } from './listing-states.ts'
import {
  isSame,
  moveOn,
  openCursor,
  type Place,
  type RecordCursor,
  textAt,
} from './record-cursor.ts'

/** A record that has changed: its place in the present state, or where it was. */
export interface RecordChange extends Place {
  readonly kind: 'put' | 'remove' | 'erase'
  /** Where its text is; undefined if it is gone. */
  readonly text: TextRange | undefined
}

/**
 * The next changes of a listing after a place; fewer than `limit` if there are no more.
 *
 * @param bytesMax about how long their texts may be together; at least one change is returned.
 */
export async function compareListing(
  comparing: Comparing,
  states: ListingStates,
  after: Place | undefined,
  { limit, bytesMax }: { readonly limit: number; readonly bytesMax: number },
): Promise<readonly RecordChange[]> {
  const next = await mergeStates(comparing, states, after)
  const changes: RecordChange[] = []
  let bytes = 0
  while (changes.length < limit && bytes < bytesMax) {
    const found: RecordChange[] = []
    let change: RecordChange | undefined
    while (changes.length + found.length < limit && bytes < bytesMax) {
      change = await next()
      if (change === undefined) break
      found.push(change)
      bytes += change.text?.length ?? 0
    }
    changes.push(...(await withoutMoved(comparing, states, found)))
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
  const gone = changes.filter(({ kind }) => kind !== 'put').map(({ id }) => id)
  if (gone.length === 0) return changes
  const listed = await collectIds(source, { companyId, leaves: present }, new Set(gone))
  return changes.filter(({ kind, id }) => kind === 'put' || !listed.has(id))
}

/** The changes one after another, those of moved records included. */
async function mergeStates(
  { source }: Comparing,
  { place: { companyId }, isFormerKnown, traces, leaves }: ListingStates,
  after: Place | undefined,
): Promise<() => Promise<RecordChange | undefined>> {
  const { shape } = source
  const was = await openCursor(source, { companyId, leaves: leaves.former }, after)
  const is = await openCursor(source, { companyId, leaves: leaves.present }, after)
  const left = goneTraces(shape, traces, after)
  let at = 0
  return async () => {
    for (;;) {
      const first = earlier(shape, earlier(shape, left[at], was), is)
      if (first === undefined) return undefined
      const { id, sort } = first
      const trace = traces.get(id)?.kind
      const wasThere = isHere(was, id, sort)
      const isThere = isHere(is, id, sort)
      const isPut = isThere && (!wasThere || !isFormerKnown || trace === 'put' || !isSame(is, was))
      const text = isPut ? textAt(is) : undefined
      if (left[at]?.id === id && left[at]?.sort === sort) at += 1
      const wasMoved = wasThere ? moveOn(source, was) : undefined
      const isMoved = isThere ? moveOn(source, is) : undefined
      if (wasMoved !== undefined) await wasMoved
      if (isMoved !== undefined) await isMoved
      if (isPut) return { id, sort, kind: 'put', text }
      if (!isThere) return { id, sort, kind: trace === 'erase' ? 'erase' : 'remove', text }
    }
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
  after: Place | undefined,
): readonly TraceRow[] {
  if (traces.size === 0) return []
  return [...traces.values()]
    .filter(({ kind }) => kind === 'remove' || kind === 'erase')
    .filter((trace) => after === undefined || compareOrder(shape, trace, after) > 0)
    .sort((a, b) => compareOrder(shape, a, b))
}
