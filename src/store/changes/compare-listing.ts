// How the records of a listing have changed between two states, in the order of the listing.
//
// Both states are in the same order, so they are compared in parts, by their indexes: what each has
// up to a place. A record that is gone from one place may be at another one.

import type { DirectoryEntry } from '../listing/directory.ts'
import { compareOrder, keyAt } from '../listing/merge.ts'
import { hasDigest, type RecordPlace, type SegmentIndex } from '../listing/segment.ts'
import type { RecordChange } from './cut-change.ts'
import { collectIds, type IndexSource } from './index-source.ts'
import { type Comparing, findLeaf, type ListingStates } from './listing-states.ts'

/** What still fits on a page: changes, and bytes of texts. */
export interface PageLeft {
  readonly limit: number
  readonly bytesMax: number
}

/** How many segments of a state are read together: more in each round. */
const [windowMin, windowMax] = [4, 64]

/** The next changes of a listing after a place: as many as fill the page, or all. */
export async function compareListing(
  { source }: Comparing,
  states: ListingStates,
  start: RecordPlace | undefined,
  left: PageLeft,
): Promise<readonly RecordChange[]> {
  const { companyId } = states
  const open = async (leaves: readonly DirectoryEntry[]) =>
    start === undefined
      ? leaves
      : leaves.slice(await findLeaf(source, { companyId, leaves }, start))
  let former = await open(states.leaves.former)
  let present = await open(states.leaves.present)
  const changes: RecordChange[] = []
  let { limit, bytesMax } = left
  for (let [after, window] = [start, windowMin]; limit > 0 && bytesMax > 0;) {
    // Of a new listing, all records are reported.
    const most = former.length === 0 ? countFilling(present, limit) : window
    const was = await readSegments(source, companyId, former, window)
    const is = await readSegments(source, companyId, present, Math.min(windowMax, most))
    const end = earlier(source, was.end, is.end)
    for (const change of await changesIn(source, states, { was, is, after, end })) {
      limit -= change.ids.length
      bytesMax -= change.texts?.length ?? 0
      changes.push(change)
    }
    if (end === undefined) break
    former = former.slice(countUpTo(source, was, end))
    present = present.slice(countUpTo(source, is, end))
    after = end
    window = Math.min(windowMax, 2 * window)
  }
  return changes
}

/** How many segments have as many records as a page still takes. */
function countFilling(leaves: readonly DirectoryEntry[], limit: number): number {
  let [count, records] = [0, 0]
  for (; count < leaves.length && records < limit; count += 1)
    records += leaves[count]?.records ?? 0
  return count
}

/** Some of the segments of a state. */
interface Segments {
  readonly leaves: readonly DirectoryEntry[]
  readonly indexes: readonly SegmentIndex[]
  /** Their last record; undefined if no others follow. */
  readonly end: RecordPlace | undefined
}

async function readSegments(
  source: IndexSource,
  companyId: number,
  all: readonly DirectoryEntry[],
  window: number,
): Promise<Segments> {
  const leaves = all.slice(0, window)
  const indexes = leaves.length === 0 ? [] : await source.read({ companyId, leaves })
  const last = leaves.length < all.length ? indexes.at(-1) : undefined
  return { leaves, indexes, end: last && keyAt(last, -1) }
}

function earlier({ shape }: IndexSource, a: RecordPlace | undefined, b: RecordPlace | undefined) {
  if (a === undefined || b === undefined) return a ?? b
  return compareOrder(shape, a, b) < 0 ? a : b
}

/** How many segments have nothing after a place. */
function countUpTo({ shape }: IndexSource, { indexes }: Segments, end: RecordPlace): number {
  return indexes.filter((index) => compareOrder(shape, keyAt(index, -1), end) <= 0).length
}

/** What both states have after a place, up to another one; the ends of the listing if undefined. */
interface Part {
  readonly was: Segments
  readonly is: Segments
  readonly after: RecordPlace | undefined
  readonly end: RecordPlace | undefined
}

async function changesIn(
  source: IndexSource,
  states: ListingStates,
  part: Part,
): Promise<readonly RecordChange[]> {
  const { shape } = source
  const { traces, isFormerKnown } = states
  const isIn = (place: RecordPlace) =>
    (part.after === undefined || compareOrder(shape, place, part.after) > 0) &&
    (part.end === undefined || compareOrder(shape, place, part.end) <= 0)
  /** What was there: places only, if traces alone know of it. */
  const gone = new Map<number, RecordPlace | Entry>()
  for (const trace of traces.values()) {
    const isGone = trace.kind === 'remove' || trace.kind === 'erase'
    if (isGone && isIn(trace)) gone.set(trace.id, trace)
  }
  if (part.was.leaves.length === 0 && gone.size === 0) return allOf(source, states, part)
  for (const entry of entriesOf(part.was)) if (isIn(entry)) gone.set(entry.id, entry)
  const found: (RecordPlace & { readonly change: RecordChange })[] = []
  for (const entry of entriesOf(part.is)) {
    if (!isIn(entry)) continue
    const { id, sort } = entry
    const before = gone.get(id)
    gone.delete(id)
    if (isFormerKnown && traces.get(id)?.kind !== 'put' && areSame(before, entry)) continue
    const { segment, from, length } = entry
    const texts = { companyId: states.companyId, segment, from, length }
    const change = { ids: [id], sorts: [sort], lengths: [length], texts }
    found.push({ id, sort, change: { kind: 'put', ...change } })
  }
  for (const { id, sort } of await withoutMoved(source, states, gone)) {
    const kind = traces.get(id)?.kind === 'erase' ? 'erase' : 'remove'
    const change = { kind, ids: [id], sorts: [sort], lengths: [0], texts: undefined } as const
    found.push({ id, sort, change })
  }
  return found.sort((a, b) => compareOrder(shape, a, b)).map(({ change }) => change)
}

/** All records of the present state are new: returns them, a segment at a time. */
function allOf(
  source: IndexSource,
  { companyId }: ListingStates,
  { is: { leaves, indexes }, after }: Part,
): readonly RecordChange[] {
  return indexes.flatMap((index, n): readonly RecordChange[] => {
    const { ids, sorts, lengths } = index
    const { segment = 0, bytes = 0 } = leaves[n] ?? {}
    const isPast = (at: number) =>
      after !== undefined && compareOrder(source.shape, keyAt(index, at), after) <= 0
    let [first, from] = [0, 0]
    for (; first < ids.length && isPast(first); first += 1) from += (lengths[first] ?? 0) + 1
    if (first === ids.length) return []
    const read = source.textsOf(segment)?.subarray(from)
    const texts = read ?? { companyId, segment, from, length: bytes - from }
    const part = { ids: ids.subarray(first), sorts: sorts.subarray(first) }
    return [{ kind: 'put', ...part, lengths: lengths.subarray(first), texts }]
  })
}

/** A record of a segment: the place of its text, and of its digest. */
interface Entry extends RecordPlace {
  readonly segment: number
  readonly from: number
  readonly length: number
  readonly digests: Buffer
  readonly n: number
}

function* entriesOf({ leaves, indexes }: Segments): Generator<Entry> {
  for (const [at, { count, ids, sorts, lengths, digests }] of indexes.entries()) {
    const { segment = 0 } = leaves[at] ?? {}
    for (let [n, from] = [0, 0]; n < count; n += 1) {
      const length = lengths[n] ?? 0
      yield { id: ids[n] ?? 0, sort: sorts[n] ?? 0, segment, from, length, digests, n }
      from += length + 1
    }
  }
}

/** Whether a record is at the same place, with the same text. */
function areSame(a: RecordPlace | Entry | undefined, b: Entry): boolean {
  return a?.sort === b.sort && 'digests' in a && hasDigest(a, a.n, b.digests, b.n)
}

/** Of the records that are gone from one place, those that are not at another one. */
async function withoutMoved(
  source: IndexSource,
  { companyId, leaves: { present } }: ListingStates,
  gone: ReadonlyMap<number, RecordPlace>,
): Promise<readonly RecordPlace[]> {
  if (gone.size === 0 || !source.shape.hasSort) return [...gone.values()]
  const listed = await collectIds(source, { companyId, leaves: present }, gone)
  return [...gone.values()].filter(({ id }) => !listed.has(id))
}
