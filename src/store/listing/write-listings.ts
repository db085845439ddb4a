// Writes new states of listings in batches: their segments, the nodes of their directories, and
// their heads.

import type { CutSegment } from './cut.ts'
import { buildDirectory, type DirectoryEntry, type KnownNode, totalsOf } from './directory.ts'
import { applyPlan, elementOf, type MergePlan } from './merge.ts'
import { keysOf } from './open-listings.ts'
import type { ListingShape } from './shape.ts'
import type { HeadRow, ListingTables, SegmentRow } from './tables.ts'

/** Segments are written when there are so many bytes of them. */
const bytesAtOnce = 4_194_304

/** Where listings are written, and as which version. */
export interface MergeContext {
  readonly tables: ListingTables
  readonly version: number
  readonly numbers: SegmentNumbers
}

/** Numbers new segments. */
export interface SegmentNumbers {
  readonly next: () => number
  /** Keeps the last number in the registry. */
  readonly note: () => Promise<void>
}

export async function numberSegments(tables: ListingTables): Promise<SegmentNumbers> {
  let last = await tables.lastSegment()
  return {
    next: () => (last += 1),
    note: async () => {
      await tables.noteLastSegment(last)
    },
  }
}

export type Output = ReturnType<typeof createOutput>

/** A part of a listing that is to be merged, of consecutive segments. */
interface PlannedPart {
  readonly company: number
  readonly plan: MergePlan
  /** Receives those of the listing's new directory. */
  readonly entries: DirectoryEntry[]
}

/**
 * Collects what is planned; writes it when that is much, so that the texts of many listings are
 * read at once.
 */
export function createOutput(context: MergeContext, shape: ListingShape) {
  const { tables } = context
  let steps: (PlannedPart | NewState)[] = []
  let segments: SegmentRow[] = []
  let heads: HeadRow[] = []
  let bytes = 0
  function applyNow(part: PlannedPart, texts: Texts): void {
    for (const row of applyPart(context, shape, part, texts)) segments.push(row)
  }
  return {
    addPart(part: PlannedPart): void {
      bytes += bytesOf(part.plan)
      const last = steps.at(-1)
      const isBehindOther = last !== undefined && 'plan' in last
      // What needs no texts does not wait: as bytes, records take less memory.
      if (part.plan.touched.length === 0 && !isBehindOther) applyNow(part, noTexts)
      else steps.push(part)
    },
    /** Adds a segment of a listing that is cut already; returns what its directory has of it. */
    addSegment(companyId: number, { encoded, count, largest }: CutSegment): DirectoryEntry {
      const segment = context.numbers.next()
      const { entries, texts } = encoded
      bytes += entries.length + texts.length
      segments.push({ companyId, segment, entries, texts })
      return { segment, records: count, bytes: texts.length, largest }
    },
    /** Ends a listing whose parts or segments have been added. */
    addListing: (state: NewState) => void steps.push(state),
    addHead: (row: HeadRow) => void heads.push(row),
    isFull: () => bytes > bytesAtOnce,
    async flush(): Promise<void> {
      const texts = await readTexts(tables, steps)
      for (const step of steps) {
        if ('plan' in step) applyNow(step, texts)
        else heads.push(makeHead(context, step, segments))
      }
      await tables.putSegments(segments)
      await tables.putHeads(shape.listing, heads)
      steps = []
      segments = []
      heads = []
      bytes = 0
    },
  }
}

/** The texts of segments, by their numbers. */
type Texts = ReadonlyMap<number, Uint8Array>

const noTexts: Texts = new Map()

/** The bytes that a plan keeps in memory, or about as many. */
function bytesOf({ parts, touched, old }: MergePlan): number {
  let bytes = 0
  for (const { index } of old) bytes += index.bytes
  for (const n of touched) bytes += old[n]?.entry.bytes ?? 0
  for (const part of parts) {
    if ('run' in part) for (const { text } of part.run.puts) bytes += text.length
  }
  return bytes
}

/** Reads the texts that plans need. */
async function readTexts(
  tables: ListingTables,
  steps: readonly (PlannedPart | NewState)[],
): Promise<Texts> {
  const keys = steps.flatMap((step) =>
    'plan' in step ? keysOf(step.company, touchedOf(step.plan)) : [],
  )
  const texts = new Map<number, Uint8Array>()
  for (const row of await tables.segments(keys, 'both')) {
    if (row.texts !== null) texts.set(row.segment, row.texts)
  }
  return texts
}

const touchedOf = ({ touched, old }: MergePlan) => touched.map((n) => elementOf(old, n).entry)

/** Makes the new segments of a part. */
function applyPart(
  { numbers }: MergeContext,
  shape: ListingShape,
  { company, plan, entries }: PlannedPart,
  texts: Texts,
): readonly SegmentRow[] {
  const textsOf = (n: number) => texts.get(elementOf(plan.old, n).entry.segment) ?? new Uint8Array()
  const merged = applyPlan(shape, plan, textsOf, numbers.next)
  for (const entry of merged.entries) entries.push(entry)
  return merged.written.map((row) => ({ companyId: company, ...row }))
}

/** What a listing consists of when its parts have been merged. */
interface NewState {
  readonly companyId: number
  readonly meta: string | null
  readonly entries: readonly DirectoryEntry[]
  /** The nodes that there are already. */
  readonly known: readonly KnownNode[]
}

/** Makes a head, and the nodes of its directory, which are added to the segments. */
function makeHead(
  { numbers, version }: MergeContext,
  { companyId, meta, entries: listed, known }: NewState,
  segments: SegmentRow[],
): HeadRow {
  const { directory, nodes } = buildDirectory(listed, known, numbers.next)
  for (const { segment, entries } of nodes) {
    segments.push({ companyId, segment, entries, texts: null })
  }
  return { companyId, version, ...totalsOf(listed), meta, directory }
}
