// Writes new states of listings: their segments, the nodes of their directories, and their heads.
// A long listing is merged in windows, so that neither its segments nor what an import puts into it
// have to be in memory as a whole.

import {
  buildDirectory,
  type KnownNode,
  openDirectory,
  totalsOf,
  type DirectoryEntry,
} from './directory.ts'
import { metaText, addToCount, type ListingShape } from './shape.ts'
import { type OpenListing, keysOf } from './open-listings.ts'
import { type SegmentIndex, decodeEntries, type ListedRecord } from './segment.ts'
import type { HeadRow, ListingTables, SegmentRow } from './tables.ts'
import type { Awaitable } from '../awaitable.ts'
import { applyPlan, compareOrder, type MergePlan, planMerge } from './merge.ts'

/** How many segments of a listing are read at once. */
export const segmentsAtOnce = 300
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
    /** Ends a listing whose parts have been added. */
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

/** What changes in a listing. */
interface ListingMerge {
  readonly company: number
  readonly listing: OpenListing | undefined
  /** Those of its segments, if they have been read. */
  readonly indexes: readonly SegmentIndex[] | undefined
  readonly puts: PutReader
  /** The ids of the records that it loses or replaces. */
  readonly gone: ReadonlySet<number>
  /** How many of its other records have each type. */
  readonly types: Map<string, number>
}

/** Merges what is put into a listing, and makes its new head. */
export async function mergeListing(
  context: MergeContext,
  shape: ListingShape,
  { company, listing, indexes, puts, gone, types }: ListingMerge,
  out: Output,
): Promise<void> {
  const window = createWindow(context, shape, { company, gone, types }, out)
  const leaves = listing?.leaves ?? []
  for (let at = 0; at < leaves.length; at += segmentsAtOnce) {
    const some = leaves.slice(at, at + segmentsAtOnce)
    const own = indexes ?? (await window.read(some))
    const following = leaves[at + segmentsAtOnce]
    const [next] = following === undefined ? [] : await window.read([following])
    await window.merge(some, own, puts, next)
  }
  // What comes after all that there was, or the first records of a listing.
  for (;;) {
    const more = await puts.take(undefined, recordsAtOnce)
    if (more.length === 0) break
    await window.merge([], [], { take: () => more.splice(0) }, undefined)
    if (out.isFull()) await out.flush()
  }
  const known = listing === undefined ? [] : await knownNodes(context, listing)
  const meta = metaOf(shape, types)
  out.addListing({ companyId: company, meta, entries: window.entries, known })
}

/** Makes a listing of all the records that it has from now on, which may be in any order. */
export function addWhole(
  shape: ListingShape,
  { company, records }: { readonly company: number; readonly records: ListedRecord[] },
  out: Output,
): void {
  const types = new Map<string, number>()
  addTypes(shape, types, records)
  records.sort((a, b) => compareOrder(shape, a, b))
  const plan = planMerge(shape, [], { puts: records, removed: new Set() })
  const entries: DirectoryEntry[] = []
  out.addPart({ company, plan, entries })
  out.addListing({ companyId: company, meta: metaOf(shape, types), entries, known: [] })
}

function addTypes(
  { metaColumn }: ListingShape,
  types: Map<string, number>,
  records: readonly ListedRecord[],
): void {
  if (metaColumn === undefined) return
  for (const { values } of records) addToCount(types, values[metaColumn] ?? null, 1)
}

function metaOf({ metaColumn }: ListingShape, types: ReadonlyMap<string, number>): string | null {
  return metaColumn === undefined ? null : metaText(types)
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

async function knownNodes(
  { tables }: MergeContext,
  { head }: OpenListing,
): Promise<readonly KnownNode[]> {
  const readNodes = (nodes: readonly number[]) => tables.entries(head.companyId, nodes)
  return (await openDirectory(head.directory, readNodes)).nodes
}

/** A place in the order of a listing. */
type OrderKey = Pick<ListedRecord, 'id' | 'sort'>

export interface PutReader {
  /** The next records before a place, at most so many. */
  take(before: OrderKey | undefined, most?: number): Awaitable<ListedRecord[]>
}

/** How many records are merged at once. */
const recordsAtOnce = 20_000

/** Merges a listing a window of consecutive segments at a time, in the listing's order. */
function createWindow(
  { tables }: MergeContext,
  shape: ListingShape,
  { company, gone, types }: Pick<ListingMerge, 'company' | 'gone' | 'types'>,
  out: Output,
) {
  const entries: DirectoryEntry[] = []

  function planPart(
    leaves: readonly DirectoryEntry[],
    indexes: readonly SegmentIndex[],
    records: readonly ListedRecord[],
  ): void {
    const old = leaves.map((entry, at) => ({ entry, index: elementOf(indexes, at) }))
    out.addPart({ company, entries, plan: planMerge(shape, old, { puts: records, removed: gone }) })
    addTypes(shape, types, records)
  }

  /** Puts the records before a place, most of them in segments of their own; returns the rest. */
  async function mergeBefore(puts: PutReader, first: OrderKey): Promise<ListedRecord[]> {
    for (;;) {
      const records = await puts.take(first, recordsAtOnce)
      if (records.length < recordsAtOnce) return records
      planPart([], [], records)
      if (out.isFull()) await out.flush()
    }
  }

  return {
    entries,
    async read(leaves: readonly DirectoryEntry[]): Promise<SegmentIndex[]> {
      const rows = await tables.segments(keysOf(company, leaves), 'entries')
      return rows.map((row) => decodeEntries(shape, row.entries))
    },
    /** @param next the segment after the window, if there is one. */
    async merge(
      leaves: readonly DirectoryEntry[],
      indexes: readonly SegmentIndex[],
      puts: PutReader,
      next: SegmentIndex | undefined,
    ): Promise<void> {
      const [first] = indexes
      if (first === undefined) return planPart([], [], await puts.take(undefined))
      let records = await mergeBefore(puts, keyAt(first, 0))
      if (next !== undefined) records = records.concat(await puts.take(keyAt(next, 0)))
      else {
        const last = elementOf(indexes, indexes.length - 1)
        records = records.concat(await puts.take(keyAt(last, last.count - 1)))
        records = records.concat(await puts.take(undefined, recordsAtOnce))
      }
      planPart(leaves, indexes, records)
    },
  }
}

function elementOf<T>(list: readonly T[], n: number): T {
  const found = list[n]
  if (found === undefined) throw new Error(`there is no element ${n} of ${list.length}`)
  return found
}

function keyAt({ ids, sorts }: SegmentIndex, n: number) {
  return { id: ids[n] ?? 0, sort: sorts[n] ?? 0 }
}
