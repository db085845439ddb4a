// Merges changes into a listing: decides which of its segments are kept, and replaces the others.
//
// The indexes are enough for the decision (`planMerge`). Then the texts of the other segments are
// read, and cut into new segments together with the new records (`cutRun`).

import { type CutSegment, cutSegments, type Growth, growthOfNew, segmentBytesMax } from './cut.ts'
import type { DirectoryEntry } from './directory.ts'
import { type ListedRecord, type RecordPlace, recordsOf, type SegmentIndex } from './segment.ts'
import type { ListingShape } from './shape.ts'

/** A segment of a listing as it is. */
export interface OldSegment {
  readonly entry: DirectoryEntry
  readonly index: SegmentIndex
}

/** Consecutive records that are cut into new segments. */
export interface Run {
  /** The old segments that keep some of their records. */
  readonly old: OldSegment[]
  /** The ids of the records that are removed. */
  readonly gone: ReadonlySet<number>
  readonly puts: ListedRecord[]
}

/** A segment that is kept, or the records that replace others. */
export type Part = { readonly kept: DirectoryEntry } | Run

/** @throws Error if the list has no such element. */
export function elementOf<T>(list: readonly T[], n: number): T {
  const found = list[n]
  if (found === undefined) throw new Error(`there is no element ${n} of ${list.length}`)
  return found
}

/** Compares two places in the order of a listing. */
export function compareOrder({ direction }: ListingShape, a: RecordPlace, b: RecordPlace): number {
  const order = a.sort - b.sort || a.id - b.id
  return direction === 'descending' ? -order : order
}

/**
 * Decides which segments are kept.
 *
 * @param puts the new records, in the order of the listing.
 * @param gone the ids of records that are removed or replaced, perhaps in other segments.
 */
export function planMerge(
  shape: ListingShape,
  old: readonly OldSegment[],
  puts: readonly ListedRecord[],
  gone: ReadonlySet<number>,
): readonly Part[] {
  const parts: Part[] = []
  const lastRun = () => {
    const last = parts.at(-1)
    return last !== undefined && 'puts' in last ? last : undefined
  }
  const add = (segment: OldSegment | undefined, more: readonly ListedRecord[]) => {
    const run: Run = lastRun() ?? { old: [], gone, puts: [] }
    if (run !== parts.at(-1)) parts.push(run)
    if (segment?.index.ids.some((id) => !gone.has(id)) === true) run.old.push(segment)
    for (const put of more) run.puts.push(put)
  }
  let taken = 0
  const takeWhile = (isIn: (put: ListedRecord) => boolean) => {
    const from = taken
    while (taken < puts.length && isIn(elementOf(puts, taken))) taken += 1
    return puts.slice(from, taken)
  }
  for (const [n, segment] of [...old, undefined].entries()) {
    const first = segment && keyAt(segment.index, 0)
    const last = segment && keyAt(segment.index, -1)
    const before = takeWhile((put) => first === undefined || compareOrder(shape, put, first) < 0)
    const within = takeWhile((put) => last !== undefined && compareOrder(shape, put, last) <= 0)
    const isChanged = within.length > 0 || isLosing(segment, gone)
    const isApart = before.length > 0 && !isChanged && lastRun() === undefined
    const host = isApart ? chooseHost(before, old[n - 1], segment) : undefined
    if (host !== undefined && host !== segment) {
      parts.pop()
      add(host, [])
    }
    if (before.length > 0) add(undefined, before)
    if (segment === undefined) break
    if (isChanged || host === segment) add(segment, within)
    else parts.push({ kept: segment.entry })
  }
  return parts
}

const isLosing = (segment: OldSegment | undefined, gone: ReadonlySet<number>) =>
  gone.size > 0 && segment?.index.ids.some((id) => gone.has(id)) === true

/** The segment that new records between two others join: the emptier one, if they fit into it. */
function chooseHost(
  puts: readonly ListedRecord[],
  previous: OldSegment | undefined,
  next: OldSegment | undefined,
): OldSegment | undefined {
  const ahead = bytesLeft(puts[0], previous)
  const behind = bytesLeft(puts.at(-1), next)
  if (ahead >= Math.max(behind, 0)) return previous
  return behind >= 0 ? next : undefined
}

/** The place in the order of the nth record of a segment, from its end if `n` is negative. */
export function keyAt({ ids, sorts }: SegmentIndex, n: number) {
  return { id: ids.at(n) ?? 0, sort: sorts.at(n) ?? 0 }
}

/** The bytes that a segment would have left with one more record; negative if it does not fit. */
function bytesLeft(put: ListedRecord | undefined, segment: OldSegment | undefined): number {
  if (put === undefined || segment === undefined) return -1
  const { entry, index } = segment
  const bytes = entry.bytes + index.bytes
  return segmentBytesMax - bytes - put.text.length - Math.ceil(index.bytes / index.count)
}

/**
 * Cuts the new segments of a run.
 *
 * @param textsOf returns the texts of one of its old segments.
 */
export function cutRun(
  shape: ListingShape,
  { old, gone, puts }: Run,
  textsOf: (entry: DirectoryEntry) => Uint8Array,
): readonly CutSegment[] {
  const kept: ListedRecord[] = []
  for (const { entry, index } of old) {
    for (const record of recordsOf(index, textsOf(entry))) {
      if (!gone.has(record.id)) kept.push(record)
    }
  }
  const growth = growthOf(shape, kept, puts)
  if (kept.length === 0) return cutSegments(shape, puts, growth)
  // Both are in order already, so sorting costs hardly more than a merge.
  const records = [...kept, ...puts].sort((a, b) => compareOrder(shape, a, b))
  return cutSegments(shape, records, growth)
}

function growthOf(
  shape: ListingShape,
  kept: readonly ListedRecord[],
  puts: readonly ListedRecord[],
): Growth {
  const isBefore = (a: RecordPlace | undefined, b: RecordPlace | undefined) =>
    a !== undefined && b !== undefined && compareOrder(shape, a, b) < 0
  if (kept.length === 0) return growthOfNew(shape)
  if (isBefore(kept.at(-1), puts[0])) return 'end'
  return isBefore(puts.at(-1), kept[0]) ? 'front' : 'within'
}
