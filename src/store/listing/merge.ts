// Merges changes into a listing: which of its segments stay, and which are written anew.
//
// The indexes alone decide that (`planMerge`); then the texts of the segments that do not stay are
// read, and cut into new ones together with what is new (`applyPlan`).

import { cutSegments, type Growth, growthOfNew, segmentBytesMax } from './cut.ts'
import type { DirectoryEntry } from './directory.ts'
import { type ListedRecord, recordAt, type SegmentIndex } from './segment.ts'
import type { ListingShape } from './shape.ts'

/** A segment of a listing as it is. */
export interface OldSegment {
  readonly entry: DirectoryEntry
  readonly index: SegmentIndex
}

export interface Changes {
  /** In the order of the listing. One whose id a segment has replaces that record. */
  readonly puts: readonly ListedRecord[]
  /** The ids of records that go; they may be in other segments than these. */
  readonly removed: ReadonlySet<number>
}

/** Consecutive segments and records that are cut anew. */
interface Run {
  /** Indexes of old segments. */
  readonly old: number[]
  readonly puts: ListedRecord[]
}

type Part = { readonly kept: DirectoryEntry } | { readonly run: Run }

export interface MergePlan {
  readonly parts: readonly Part[]
  /** The indexes of the old segments whose texts are needed. */
  readonly touched: readonly number[]
  readonly old: readonly OldSegment[]
  readonly gone: ReadonlySet<number>
}

/** @throws Error if the list has no such element. */
export function elementOf<T>(list: readonly T[], n: number): T {
  const found = list[n]
  if (found === undefined) throw new Error(`there is no element ${n} of ${list.length}`)
  return found
}

/** Compares two places in the order of a listing. */
export function compareOrder(
  { direction }: ListingShape,
  a: Pick<ListedRecord, 'id' | 'sort'>,
  b: Pick<ListedRecord, 'id' | 'sort'>,
): number {
  const order = a.sort - b.sort || a.id - b.id
  return direction === 'descending' ? -order : order
}

/** Decides which segments stay. */
export function planMerge(
  shape: ListingShape,
  old: readonly OldSegment[],
  { puts, removed }: Changes,
): MergePlan {
  const gone = old.length === 0 ? removed : goneOf(puts, removed)
  const isTouched = old.map(({ index }) => gone.size > 0 && hasAny(index, gone))
  const gaps = placePuts(shape, old, puts, isTouched)
  chooseHosts(old, gaps, isTouched)
  const parts: Part[] = []
  let run: Run | undefined
  const open = () => {
    if (run === undefined) parts.push({ run: (run = { old: [], puts: [] }) })
    return run
  }
  for (let n = 0; n <= old.length; n++) {
    const gap = gaps[n]
    if (gap !== undefined) for (const put of gap.between) open().puts.push(put)
    const segment = old[n]
    if (segment === undefined) break
    if (isTouched[n] === true) {
      const into = open()
      into.old.push(n)
      if (gap !== undefined) for (const put of gap.within) into.puts.push(put)
    } else {
      run = undefined
      parts.push({ kept: segment.entry })
    }
  }
  const touched = parts
    .flatMap((part) => ('run' in part ? part.run.old : []))
    .filter((n) => hasOther(old[n], gone))
  return { parts, touched, old, gone }
}

function goneOf(puts: readonly ListedRecord[], removed: ReadonlySet<number>): ReadonlySet<number> {
  if (puts.every(({ id }) => removed.has(id))) return removed
  const gone = new Set(removed)
  for (const { id } of puts) gone.add(id)
  return gone
}

function hasAny({ ids }: SegmentIndex, gone: ReadonlySet<number>): boolean {
  for (const id of ids) if (gone.has(id)) return true
  return false
}

/** Whether a segment has a record that stays. */
function hasOther(segment: OldSegment | undefined, gone: ReadonlySet<number>): boolean {
  for (const id of segment?.index.ids ?? []) if (!gone.has(id)) return true
  return false
}

/** The new records around one segment: those after the one before it, and those within it. */
interface Gap {
  readonly between: ListedRecord[]
  readonly within: ListedRecord[]
}

/** Finds where new records belong; a segment with some within it is touched. */
function placePuts(
  shape: ListingShape,
  old: readonly OldSegment[],
  puts: readonly ListedRecord[],
  isTouched: boolean[],
): readonly (Gap | undefined)[] {
  const gaps: (Gap | undefined)[] = []
  let n = 0
  for (const put of puts) {
    // The first segment whose last record is not before it.
    while (n < old.length && compareOrder(shape, lastOf(old[n]), put) < 0) n += 1
    const gap = (gaps[n] ??= { between: [], within: [] })
    const segment = old[n]
    if (segment === undefined || compareOrder(shape, put, firstOf(segment)) < 0) {
      gap.between.push(put)
    } else {
      gap.within.push(put)
      isTouched[n] = true
    }
  }
  return gaps
}

function firstOf({ index }: OldSegment) {
  return { id: index.ids[0] ?? 0, sort: index.sorts[0] ?? 0 }
}

function lastOf(segment: OldSegment | undefined) {
  const at = (segment?.index.count ?? 0) - 1
  return { id: segment?.index.ids[at] ?? 0, sort: segment?.index.sorts[at] ?? 0 }
}

/** Records between two segments join one that is written anyway, or the one that has more room. */
function chooseHosts(
  old: readonly OldSegment[],
  gaps: readonly (Gap | undefined)[],
  isTouched: boolean[],
): void {
  for (const [n, gap] of gaps.entries()) {
    if (gap === undefined || gap.between.length === 0) continue
    if (isTouched[n - 1] === true || isTouched[n] === true) continue
    const before = roomFor(gap.between[0], old[n - 1])
    const behind = roomFor(gap.between.at(-1), old[n])
    if (Math.max(before, behind) >= 0) isTouched[before >= behind ? n - 1 : n] = true
  }
}

/** The bytes that a segment has left with a record more; negative if it has no room for it. */
function roomFor(put: ListedRecord | undefined, segment: OldSegment | undefined): number {
  if (put === undefined || segment === undefined) return -1
  const { entry, index } = segment
  const bytes = entry.bytes + index.bytes
  return segmentBytesMax - bytes - put.text.length - Math.ceil(index.bytes / index.count)
}

/** A segment to be stored. */
export interface NewSegment {
  readonly segment: number
  readonly entries: Buffer
  readonly texts: Buffer
}

export interface Merged {
  /** The directory's entries, in order. */
  readonly entries: readonly DirectoryEntry[]
  readonly written: readonly NewSegment[]
}

/**
 * Makes the new segments.
 *
 * @param textsOf the texts of an old segment that is touched, by its index.
 */
export function applyPlan(
  shape: ListingShape,
  plan: MergePlan,
  textsOf: (old: number) => Uint8Array,
  newNumber: () => number,
): Merged {
  const entries: DirectoryEntry[] = []
  const written: NewSegment[] = []
  const touched = new Set(plan.touched)
  for (const part of plan.parts) {
    if ('kept' in part) {
      entries.push(part.kept)
      continue
    }
    const kept = keptRecords(
      plan,
      part.run.old.filter((n) => touched.has(n)),
      textsOf,
    )
    const records = mergeRecords(shape, kept, part.run.puts)
    const growth = growthOf(shape, kept, part.run.puts)
    for (const { encoded, count, largest } of cutSegments(shape, records, growth)) {
      const segment = newNumber()
      written.push({ segment, ...encoded })
      entries.push({ segment, records: count, bytes: encoded.texts.length, largest })
    }
  }
  return { entries, written }
}

/** The records of a run's old segments that stay. */
function keptRecords(
  { old, gone }: MergePlan,
  numbers: readonly number[],
  textsOf: (old: number) => Uint8Array,
): ListedRecord[] {
  const records: ListedRecord[] = []
  for (const number of numbers) {
    const index = old[number]?.index
    if (index === undefined) continue
    const texts = textsOf(number)
    let at = 0
    for (let n = 0; n < index.count; n++) {
      if (!gone.has(index.ids[n] ?? 0)) records.push(recordAt(index, texts, n, at))
      at += (index.lengths[n] ?? 0) + 1
    }
  }
  return records
}

function mergeRecords(
  shape: ListingShape,
  kept: readonly ListedRecord[],
  puts: readonly ListedRecord[],
): readonly ListedRecord[] {
  if (kept.length === 0) return puts
  if (puts.length === 0) return kept
  const records: ListedRecord[] = []
  let at = 0
  for (const put of puts) {
    for (let next = kept[at]; next !== undefined; next = kept[at]) {
      if (compareOrder(shape, next, put) > 0) break
      records.push(next)
      at += 1
    }
    records.push(put)
  }
  for (; at < kept.length; at++) {
    const next = kept[at]
    if (next !== undefined) records.push(next)
  }
  return records
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
