// Reads consecutive records of a listing: the directory of its head leads to their segments, whose
// texts are cut at both ends.

import { after, type Awaitable } from '../awaitable.ts'
import { findSeparator, separatorBytes } from '../record-texts.ts'
import { greatestLimit, type PageBudget } from '../page-size.ts'
import { decodeDirectory, type Directory, findRange, type LeafRange } from './directory.ts'
import { DamagedStoreError, type HeadRow, type ListingReads } from './tables.ts'

/** Records as they are served. */
export interface PageTexts {
  /**
   * The records' JSON texts, to be joined by commas; each may be several, so joined. They may be
   * parts of larger memory, which must not be kept.
   */
  readonly records: readonly Uint8Array[]
  /** Frees the memory of the records once they are copied, without the garbage collector. */
  readonly free: (() => void) | undefined
  /**
   * If the page would exceed `pageBytesMax` and was not built: the greatest limit with which any
   * page of the listing fits, or 0 if none does. Otherwise undefined.
   */
  readonly greatestLimit: number | undefined
}

/** Texts that were read with the head of a listing. */
export interface FirstTexts {
  /**
   * Those of its first segment; or of all segments that were found, joined by commas in the order
   * of their numbers.
   */
  readonly texts: Uint8Array
  /** Whether all segments were looked for. */
  readonly isWhole: boolean
}

/** A range of records, by their positions in the order served. */
export interface PageRange {
  readonly offset: number
  readonly limit: number
}

/**
 * Reads up to `limit` records after the first `offset`, if they fit into a page.
 *
 * @param first what was read of the listing's first records with its head.
 */
export function readPageTexts(
  reads: ListingReads,
  head: HeadRow,
  range: PageRange,
  budget: PageBudget,
  first?: FirstTexts,
): Awaitable<PageTexts> {
  const { companyId, total, directory } = head
  if (range.offset >= total) return fitTexts([], range, budget)
  const listed = decodeDirectory(directory)
  const whole = first?.isWhole === true ? inOrder(listed, first.texts) : undefined
  if (whole !== undefined) return fitTexts(whole, range, budget, createFree(reads, whole))
  const firstTexts = first?.isWhole === true ? undefined : first?.texts
  const end = Math.min(total, range.offset + range.limit)
  const readNodes = (nodes: readonly number[]) => reads.entries(companyId, nodes)
  const found = findRange(listed, range.offset, end - range.offset, readNodes)
  return after(found, (leaves) => {
    if (
      range.limit * budget.recordBytesMax > budget.bytesMax &&
      innerBytes(leaves) > budget.bytesMax
    ) {
      return leaveOut(range, budget)
    }
    return after(readTexts(reads, companyId, leaves, firstTexts), (texts) =>
      fitTexts(cutTexts(texts, leaves, range.offset, end), range, budget, createFree(reads, texts)),
    )
  })
}

/** The texts of all segments in the order of their listing; undefined if some were not found. */
function inOrder({ entries }: Directory, texts: Uint8Array): readonly Uint8Array[] | undefined {
  const ends = new Map<number, number>()
  let end = -1
  for (const { segment, bytes } of entries.toSorted((a, b) => a.segment - b.segment)) {
    end += 1 + bytes
    ends.set(segment, end)
  }
  if (end !== texts.length) return undefined
  const isInOrder = [...ends.keys()].every((segment, n) => segment === entries[n]?.segment)
  if (isInOrder) return [texts]
  return entries.map(({ segment, bytes }) => {
    const to = ends.get(segment) ?? 0
    return texts.subarray(to - bytes, to)
  })
}

function readTexts(
  reads: ListingReads,
  companyId: number,
  { entries, first }: LeafRange,
  firstTexts: Uint8Array | undefined,
): Awaitable<readonly Uint8Array[]> {
  const numbers = entries.map(({ segment }) => segment)
  if (firstTexts === undefined || first > 0) return reads.texts(companyId, numbers)
  if (numbers.length === 1) return [firstTexts]
  return after(reads.texts(companyId, numbers.slice(1)), (others) => [firstTexts, ...others])
}

/** The bytes of the segments whose records are all in the range. */
function innerBytes({ entries }: LeafRange): number {
  let sum = 0
  for (let n = 1; n < entries.length - 1; n++) sum += entries[n]?.bytes ?? 0
  return sum
}

/** The records; none if they are larger than a page. */
function fitTexts(
  records: readonly Uint8Array[],
  range: PageRange,
  budget: PageBudget,
  free?: () => void,
): PageTexts {
  if (range.limit * budget.recordBytesMax > budget.bytesMax) {
    let bytes = 0
    for (const { length } of records) bytes += length + 1
    if (bytes > budget.bytesMax) return leaveOut(range, budget)
  }
  return { records, free, greatestLimit: undefined }
}

export function leaveOut({ limit }: PageRange, budget: PageBudget): PageTexts {
  return { records: [], free: undefined, greatestLimit: greatestLimit(budget, limit) }
}

/** Frees the memory of texts that were read; undefined if other bytes may share it. */
export function createFree(
  { free }: ListingReads,
  texts: readonly Uint8Array[],
): (() => void) | undefined {
  return free && (() => free(texts))
}

/** The texts of segments, without the records at their ends that are not in the range. */
function cutTexts(
  texts: readonly Uint8Array[],
  { entries, first }: LeafRange,
  offset: number,
  end: number,
): readonly Uint8Array[] {
  let start = first
  return texts.map((text, n) => {
    const { records = 0 } = entries[n] ?? {}
    const from = Math.max(0, offset - start)
    const to = Math.min(records, end - start)
    start += records
    return from === 0 && to === records ? text : sliceTexts(text, records, from, to)
  })
}

/**
 * The texts of consecutive records of a resource, cut from a segment's texts without its index.
 *
 * @param count the records of the segment; those from `from` up to `to` are wanted.
 */
function sliceTexts(texts: Uint8Array, count: number, from: number, to: number): Uint8Array {
  const bytes = Buffer.from(texts.buffer, texts.byteOffset, texts.length)
  const start = from === 0 ? 0 : placeOf(bytes, count, from) + 1
  const end = to === count ? bytes.length : placeOf(bytes, count, to)
  return bytes.subarray(start, end)
}

/** Finds the comma before the nth record, from the nearer end. */
function placeOf(bytes: Buffer, count: number, n: number): number {
  let at: number
  if (n <= count / 2) {
    at = 0
    for (let found = 0; found < n; found++) at = findSeparator(bytes, at + 1)
  } else {
    at = bytes.length
    for (let found = count; found > n; found--) at = bytes.lastIndexOf(separatorBytes, at - 1)
  }
  if (at <= 0) {
    throw new DamagedStoreError('a segment has fewer records than its directory says')
  }
  return at
}
