// How the records of a listing have changed between two states, in the order of the listing.
//
// Both states are in one order, so that they are read side by side, a part at a time: a record that
// stands at a place of one state alone was added, or removed, or has moved.

import { collectIds } from './collect-ids.ts'
import { compareOrder } from '../listing/merge.ts'
import { digestBytes, type ListedRecord } from '../listing/segment.ts'
import type { ListingShape } from '../listing/shape.ts'
import type { TraceRow } from '../listing/tables.ts'
import type { Comparing, ListingStates } from './listing-states.ts'
import { type Place, streamRecords } from './record-stream.ts'

/** A record that has changed: its place in the present state, or where it was. */
export interface RecordChange extends Place {
  readonly kind: 'put' | 'remove' | 'erase'
  /** As it is served; empty if it is gone. */
  readonly text: Uint8Array
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
): Promise<{ readonly changes: readonly RecordChange[]; readonly isEnd: boolean }> {
  const merged = mergeStates(comparing, states, after)
  const changes: RecordChange[] = []
  let bytes = 0
  while (changes.length < limit && bytes < bytesMax) {
    const found: RecordChange[] = []
    while (changes.length + found.length < limit && bytes < bytesMax) {
      const change = await merged.next()
      if (change === undefined) break
      found.push(change)
      bytes += change.text.length
    }
    const isEnd = changes.length + found.length < limit && bytes < bytesMax
    changes.push(...(await withoutMoved(comparing, states, found)))
    if (isEnd) return { changes, isEnd }
  }
  return { changes, isEnd: false }
}

/** Where records are gone from one place, but stand at another one, they have moved. */
async function withoutMoved(
  { source, shape }: Comparing,
  { place: { companyId }, leaves: { present } }: ListingStates,
  changes: readonly RecordChange[],
): Promise<readonly RecordChange[]> {
  const gone = changes.filter(({ kind }) => kind !== 'put').map(({ id }) => id)
  if (!shape.hasSort || gone.length === 0 || present.length === 0) return changes
  const listed = await collectIds(source, shape, { companyId, leaves: present }, new Set(gone))
  return changes.filter(({ kind, id }) => kind === 'put' || !listed.has(id))
}

/** The changes one after another, those of moved records included. */
function mergeStates(
  { source, shape }: Comparing,
  { place: { companyId }, isFormerKnown, traces, leaves }: ListingStates,
  after: Place | undefined,
) {
  const former = streamRecords(...[source, shape, { companyId, leaves: leaves.former }], {
    what: 'entries',
    after,
  })
  const present = streamRecords(...[source, shape, { companyId, leaves: leaves.present }], {
    what: 'both',
    after,
  })
  const left = goneTraces(shape, traces, after)
  let at = 0
  return {
    async next(): Promise<RecordChange | undefined> {
      for (;;) {
        const [was, is, trace] = [await former.peek(), await present.peek(), left[at]]
        const first = firstOf(shape, [was, is, trace])
        if (first === undefined) return undefined
        const wasThere = was !== undefined && compareOrder(shape, was, first) === 0
        const isThere = is !== undefined && compareOrder(shape, is, first) === 0
        if (wasThere) former.next()
        if (isThere) present.next()
        if (trace !== undefined && compareOrder(shape, trace, first) === 0) at += 1
        const { id, sort } = first
        if (!isThere) {
          const kind = traces.get(id)?.kind === 'erase' ? 'erase' : 'remove'
          return { id, sort, kind, text: nothing }
        }
        const isPut = !wasThere || !isFormerKnown || traces.get(id)?.kind === 'put'
        if (isPut || !isSame(was, is)) return { id, sort, kind: 'put', text: is.text }
      }
    },
  }
}

const nothing = new Uint8Array()

function firstOf(shape: ListingShape, places: readonly (Place | undefined)[]): Place | undefined {
  let first: Place | undefined
  for (const place of places) {
    if (place === undefined) continue
    if (first === undefined || compareOrder(shape, place, first) < 0) first = place
  }
  return first
}

/** Traces of records that are gone, after a place, in the order of the listing. */
function goneTraces(
  shape: ListingShape,
  traces: ReadonlyMap<number, TraceRow>,
  after: Place | undefined,
): readonly TraceRow[] {
  return [...traces.values()]
    .filter(({ kind }) => kind === 'remove' || kind === 'erase')
    .filter((trace) => after === undefined || compareOrder(shape, trace, after) > 0)
    .sort((a, b) => compareOrder(shape, a, b))
}

function isSame(was: ListedRecord, is: ListedRecord): boolean {
  for (let n = 0; n < digestBytes; n++) if (was.digest[n] !== is.digest[n]) return false
  return true
}
