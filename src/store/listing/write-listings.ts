// Writes new states of listings in batches: their segments, the nodes of their directories, and
// their heads.

import type { CutSegment } from './cut.ts'
import {
  buildDirectory,
  type DirectoryEntry,
  type KnownNode,
  markDirectory,
  sumOf,
} from './directory.ts'
import { cutRun, type Part } from './merge.ts'
import type { ListingShape } from './shape.ts'
import type { HeadRow, ListingTables, SegmentKey, SegmentRow, WholeSegment } from './tables.ts'

/** Segments are written as soon as they have this many bytes. */
const bytesAtOnce = 4_194_304

/** Where listings are written, and as which version. */
export interface MergeContext {
  readonly tables: ListingTables
  readonly version: number
  readonly numbers: SegmentNumbers
}

export type SegmentNumbers = Awaited<ReturnType<typeof numberSegments>>

export async function numberSegments(tables: ListingTables) {
  let last = await tables.lastSegment()
  return {
    next: () => (last += 1),
    /** Keeps the last number in the registry. */
    note: () => tables.noteLastSegment(last),
  }
}

export type Output = ReturnType<typeof createOutput>

/** How consecutive segments of a listing are kept and replaced. */
interface PlannedMerge {
  readonly companyId: number
  readonly parts: readonly Part[]
  /** Receives the entries of the listing's new directory. */
  readonly entries: DirectoryEntry[]
}

/** A listing whose parts have been merged. */
interface NewState {
  readonly companyId: number
  readonly meta: string | null
  readonly entries: readonly DirectoryEntry[]
  /** The nodes that are already stored. */
  readonly known: readonly KnownNode[]
  /** If this replaces the head of an earlier version: the version, and the new head's mark. */
  readonly rewrites?: { readonly version: number; readonly mark: string }
}

/**
 * Collects changes of listings, and makes many of them at a time, so that one statement reads the
 * texts of many listings.
 */
export function createOutput({ tables, version, numbers }: MergeContext, shape: ListingShape) {
  let steps: (PlannedMerge | NewState)[] = []
  /** The segments whose texts they need. */
  let needed: SegmentKey[] = []
  let segments: SegmentRow[] = []
  let heads: HeadRow[] = []
  let bytes = 0

  function addSegment(companyId: number, cut: CutSegment): DirectoryEntry {
    const { entries, texts, count, largest } = cut
    const segment = numbers.next()
    bytes += entries.length + texts.length
    segments.push({ companyId, segment, entries, texts })
    return { segment, records: count, bytes: texts.length, largest }
  }

  function merge({ companyId, parts, entries }: PlannedMerge, textsOf: TextsOf): void {
    for (const part of parts) {
      if ('kept' in part) entries.push(part.kept)
      else for (const cut of cutRun(shape, part, textsOf)) entries.push(addSegment(companyId, cut))
    }
  }

  /** Makes a head, and the nodes of its directory. */
  function addHeadOf(state: NewState): void {
    const { directory, nodes } = buildDirectory(state.entries, state.known, numbers.next)
    for (const node of nodes) segments.push({ companyId: state.companyId, ...node, texts: null })
    heads.push(headOf(state, version, directory))
  }

  return {
    addMerge(merged: PlannedMerge): void {
      const { companyId, parts } = merged
      const runs = parts.filter((part) => 'puts' in part)
      const isBehindOther = 'parts' in (steps.at(-1) ?? {})
      const needsTexts = runs.some(({ old }) => old.length > 0)
      // What needs no texts is encoded immediately, since that takes less memory.
      if (!needsTexts && !isBehindOther) return merge(merged, noTexts)
      for (const { old, puts } of runs) {
        for (const { entry, index } of old) {
          needed.push({ companyId, segment: entry.segment })
          bytes += entry.bytes + index.bytes
        }
        for (const { text } of puts) bytes += text.length
      }
      steps.push(merged)
    },
    /** Adds a segment of a listing; returns its entry of the directory. */
    addSegment,
    /** Ends a listing whose parts or segments have been added. */
    addListing: (state: NewState) => void steps.push(state),
    addHead: (row: HeadRow) => void heads.push(row),
    isFull: () => bytes > bytesAtOnce,
    async flush(): Promise<void> {
      const textsOf = textsIn(await tables.segments(needed, 'both'))
      for (const step of steps) {
        if ('parts' in step) merge(step, textsOf)
        else addHeadOf(step)
      }
      await tables.putHeads(shape.listing, heads, segments)
      steps = []
      needed = []
      segments = []
      heads = []
      bytes = 0
    },
  }
}

function headOf(
  { companyId, meta, entries, rewrites }: NewState,
  version: number,
  directory: string,
): HeadRow {
  const { records: total, largest } = sumOf(entries)
  const head = { companyId, version, total, meta, largest, directory }
  if (rewrites === undefined) return head
  return { ...head, version: rewrites.version, directory: markDirectory(directory, rewrites.mark) }
}

type TextsOf = (entry: DirectoryEntry) => Uint8Array

/** Finds the texts of segments that have been read. */
function textsIn(rows: readonly WholeSegment[]): TextsOf {
  const texts = new Map(rows.map((row) => [row.segment, row.texts]))
  return ({ segment }) => {
    const own = texts.get(segment)
    if (own === undefined) throw new Error(`the texts of segment ${segment} were not read`)
    return own
  }
}

const noTexts = textsIn([])
