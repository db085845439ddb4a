// How the records of a listing have changed between two states, in the order of the listing.
//
// Both states are in the same order, so they are compared in parts, by their indexes: what each has
// up to a place. A record that is gone from one place may be at another one.

import type { DirectoryEntry } from '../listing/directory.ts'
import { inBatches } from '../listing/in-batches.ts'
import { compareOrder, keyAt } from '../listing/merge.ts'
import { hasDigest, type RecordPlace } from '../listing/segment.ts'
import type { RecordChange } from './cut-change.ts'
import { collectIds, type IndexSource, type Leaves, type ReadSegment } from './index-source.ts'
import { type Comparing, findLeaf, type ListingStates } from './listing-states.ts'

/** What still fits on a page: changes, and bytes of texts. */
export interface PageLeft {
  readonly limit: number
  readonly bytesMax: number
}

/** How many segments of a state are read together. */
const segmentsAtOnce = 32

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
  for (let after = start; limit > 0 && bytesMax > 0;) {
    const was = await readSegments(source, { companyId, leaves: former }, segmentsAtOnce, 'entries')
    // Of a new listing, all records are reported.
    const count = countFilling(present, former.length === 0 ? limit : Infinity, bytesMax)
    const is = await readSegments(source, { companyId, leaves: present }, count, 'both')
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
  }
  return changes
}

/** How many segments are read together: those that have so many records, or bytes, suffice. */
function countFilling(leaves: readonly DirectoryEntry[], records: number, bytes: number): number {
  const shareOf = (leaf: DirectoryEntry) => Math.max(leaf.records / records, leaf.bytes / bytes)
  const [first = []] = inBatches(leaves, segmentsAtOnce, shareOf, 1)
  return first.length
}

/** Some of the segments of a state. */
interface Segments {
  readonly segments: readonly ReadSegment[]
  /** Their last record; undefined if no others follow. */
  readonly end: RecordPlace | undefined
}

async function readSegments(
  source: IndexSource,
  { companyId, leaves }: Leaves,
  count: number,
  what: 'entries' | 'both',
): Promise<Segments> {
  const segments = await source.read({ companyId, leaves: leaves.slice(0, count) }, what)
  const last = segments.length < leaves.length ? segments.at(-1) : undefined
  return { segments, end: last && keyAt(last, -1) }
}

function earlier({ shape }: IndexSource, a: RecordPlace | undefined, b: RecordPlace | undefined) {
  if (a === undefined || b === undefined) return a ?? b
  return compareOrder(shape, a, b) < 0 ? a : b
}

/** How many segments have nothing after a place. */
function countUpTo({ shape }: IndexSource, { segments }: Segments, end: RecordPlace): number {
  return segments.filter((segment) => compareOrder(shape, keyAt(segment, -1), end) <= 0).length
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
  const gone = new Map<number, RecordPlace>()
  for (const trace of traces.values()) {
    const isGone = trace.kind === 'remove' || trace.kind === 'erase'
    if (isGone && isIn(trace)) gone.set(trace.id, trace)
  }
  if (part.was.segments.length === 0 && gone.size === 0) return allOf(source, part)
  const before = new Map<number, Entry>()
  for (const entry of entriesOf(part.was)) if (isIn(entry)) before.set(entry.id, entry)
  const found: (RecordPlace & { readonly change: RecordChange })[] = []
  for (const entry of entriesOf(part.is)) {
    if (!isIn(entry)) continue
    const { id, sort } = entry
    const former = before.get(id)
    before.delete(id)
    gone.delete(id)
    if (isFormerKnown && traces.get(id)?.kind !== 'put' && areSame(former, entry)) continue
    const { from, length } = entry
    const texts = entry.texts?.subarray(from, from + length)
    const change = { ids: [id], sorts: [sort], lengths: [length], texts }
    found.push({ id, sort, change: { kind: 'put', ...change } })
  }
  for (const [id, entry] of before) gone.set(id, entry)
  for (const { id, sort } of await withoutMoved(source, states, gone)) {
    const kind = traces.get(id)?.kind === 'erase' ? 'erase' : 'remove'
    const change = { kind, ids: [id], sorts: [sort], lengths: [0], texts: undefined } as const
    found.push({ id, sort, change })
  }
  return found.sort((a, b) => compareOrder(shape, a, b)).map(({ change }) => change)
}

/** All records of the present state are new: returns them, a segment at a time. */
function allOf({ shape }: IndexSource, { is, after }: Part): readonly RecordChange[] {
  return is.segments.flatMap((segment): readonly RecordChange[] => {
    const { ids, sorts, lengths, texts } = segment
    const isPast = (at: number) =>
      after !== undefined && compareOrder(shape, keyAt(segment, at), after) <= 0
    let [first, from] = [0, 0]
    for (; first < ids.length && isPast(first); first += 1) from += (lengths[first] ?? 0) + 1
    if (first === ids.length) return []
    const part = { ids: ids.subarray(first), sorts: sorts.subarray(first) }
    const own = texts?.subarray(from)
    return [{ kind: 'put', ...part, lengths: lengths.subarray(first), texts: own }]
  })
}

/** A record of a segment: the place of its text, and of its digest. */
interface Entry extends RecordPlace {
  readonly texts: Uint8Array | null
  readonly from: number
  readonly length: number
  readonly digests: Buffer
  readonly n: number
}

function* entriesOf({ segments }: Segments): Generator<Entry> {
  for (const { count, ids, sorts, lengths, digests, texts } of segments) {
    for (let [n, from] = [0, 0]; n < count; n += 1) {
      const length = lengths[n] ?? 0
      yield { id: ids[n] ?? 0, sort: sorts[n] ?? 0, texts, from, length, digests, n }
      from += length + 1
    }
  }
}

/** Whether a record is at the same place, with the same text. */
function areSame(a: Entry | undefined, b: Entry): boolean {
  return a?.sort === b.sort && hasDigest(a, a.n, b.digests, b.n)
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
