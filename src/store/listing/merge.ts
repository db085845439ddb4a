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
  let run: Run | undefined
  const open = () => {
    if (run === undefined) parts.push((run = { old: [], gone, puts: [] }))
    return run
  }
  for (const { segment, before, within, isTouched } of placePuts(shape, old, puts, gone)) {
    for (const put of before) open().puts.push(put)
    if (segment === undefined) break
    if (isTouched) {
      const { old: touched, puts: all } = open()
      if (segment.index.ids.some((id) => !gone.has(id))) touched.push(segment)
      for (const put of within) all.push(put)
    } else {
      run = undefined
      parts.push({ kept: segment.entry })
    }
  }
  return parts
}

/** A segment, with the new records between it and the one before it, and those within it. */
interface Place {
  /** Undefined after the last one. */
  readonly segment: OldSegment | undefined
  readonly before: ListedRecord[]
  readonly within: ListedRecord[]
  isTouched: boolean
}

/** Finds where the new records belong, and which segments change. */
function placePuts(
  shape: ListingShape,
  old: readonly OldSegment[],
  puts: readonly ListedRecord[],
  gone: ReadonlySet<number>,
): readonly Place[] {
  const isChanged = ({ index }: OldSegment) => gone.size > 0 && index.ids.some((id) => gone.has(id))
  const places = old.map((segment): Place => {
    return { segment, before: [], within: [], isTouched: isChanged(segment) }
  })
  places.push({ segment: undefined, before: [], within: [], isTouched: false })
  let n = 0
  for (const put of puts) {
    // Finds the first segment whose last record is not before the new one.
    while (n < old.length && compareOrder(shape, keyAt(elementOf(old, n).index, -1), put) < 0)
      n += 1
    const place = elementOf(places, n)
    const { segment } = place
    if (segment === undefined || compareOrder(shape, put, keyAt(segment.index, 0)) < 0) {
      place.before.push(put)
    } else {
      place.within.push(put)
      place.isTouched = true
    }
  }
  chooseHosts(places)
  return places
}

/** The place in the order of the nth record of a segment, from its end if `n` is negative. */
export function keyAt({ ids, sorts }: SegmentIndex, n: number) {
  return { id: ids.at(n) ?? 0, sort: sorts.at(n) ?? 0 }
}

/** Records between two segments join one that is rewritten anyway, else the emptier one. */
function chooseHosts(places: readonly Place[]): void {
  let previous: Place | undefined
  for (const place of places) {
    const { before } = place
    if (before.length > 0 && previous?.isTouched !== true && !place.isTouched) {
      const ahead = bytesLeft(before[0], previous?.segment)
      const behind = bytesLeft(before.at(-1), place.segment)
      if (previous !== undefined && ahead >= Math.max(behind, 0)) previous.isTouched = true
      else if (behind >= 0) place.isTouched = true
    }
    previous = place
  }
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
  const [firstKept, firstPut] = [kept[0], puts[0]]
  if (firstKept === undefined) return growthOfNew(shape)
  const [lastKept, lastPut] = [kept.at(-1), puts.at(-1)]
  if (firstPut === undefined || lastPut === undefined || lastKept === undefined) return 'within'
  if (compareOrder(shape, lastKept, firstPut) < 0) return 'end'
  return compareOrder(shape, lastPut, firstKept) < 0 ? 'front' : 'within'
}
