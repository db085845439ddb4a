// Rewrites listings, present and past: the segments that have what is withheld, and the heads that
// name these. Everything else is kept.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { cutSegments } from '../listing/cut.ts'
import type { DirectoryEntry } from '../listing/directory.ts'
import { addToCount, metaText, parseMeta, type ListingShape, typesOf } from '../listing/shape.ts'
import {
  leavesOf,
  namedSegments,
  openHead,
  readSegments,
  type SizedKey,
  textsTogether,
} from '../listing/open-listings.ts'
import { decodeEntries, type ListedRecord, recordsOf } from '../listing/segment.ts'
import { inBatches, inTurns } from '../listing/in-batches.ts'
import type { HeadRow, ListingTables, WholeSegment } from '../listing/tables.ts'
import { createOutput, type MergeContext, type Output } from '../listing/write-listings.ts'
import type { Touched, TouchedColumns } from './touched.ts'

export interface Rewriting extends MergeContext {
  /** The lineage of the version of the rewrite, which marks rewritten heads. */
  readonly lineage: string
  /** Receives what is rewritten. */
  readonly touched: TouchedColumns
}

/** A listing, and how its records change. */
export interface ListingRewrite {
  readonly shape: ListingShape
  readonly companyId: number
  /** Returns the same record if it is kept as it is; undefined if it is removed. */
  readonly change: (record: ListedRecord) => ListedRecord | undefined
}

const rowsAtOnce = 1_000

/** Rewrites a listing, and returns the records that were changed. */
export async function rewriteListing(
  context: Rewriting,
  rewrite: ListingRewrite,
): Promise<IteratorObject<Touched>> {
  const { tables, touched } = context
  const { companyId, shape } = rewrite
  const { listing } = shape
  const heads = await tables.headsOf(listing, [companyId])
  const named = await namedSegments(tables, heads)
  const last = heads.at(-1)
  const leaves = last === undefined ? [] : await leavesOf(tables, last)
  const present = new Set(leaves.map(({ segment }) => segment))
  const from = touched.length
  const places = new Map<number, number>()
  const replaced = new Map<number, Replaced>()
  const out = createOutput(context, shape)
  const inOrder = keysOfNamed(companyId, named).sort((a, b) => a.segment - b.segment)
  for (const keys of textsTogether(inOrder)) {
    for (const row of await tables.segments(keys, 'both')) {
      const isPresent = present.has(row.segment)
      const made = replaceSegment(out, rewrite, row, ({ id, sort }, isGone) => {
        const place = places.get(id) ?? touched.length
        places.set(id, place)
        const isKnown = place < touched.length
        const known = isKnown ? touched.at(place) : { listing, companyId, id, sort, ...unchanged }
        touched.put(place, stateOf(known, { sort, isGone, isPresent }))
      })
      if (made !== undefined) replaced.set(row.segment, made)
    }
    if (out.isFull()) await out.flush()
    await nextTurn()
  }
  if (replaced.size === 0) return [].values()
  const lost = touched.values(from).filter((one) => one.isPresent && one.isGone)
  for await (const some of inTurns(lost, rowsAtOnce)) await tables.dropIds(listing, some)
  for (const head of heads) await rewriteHead(context, listing, head, replaced, out)
  const now = await tables.headsOf(listing, [companyId])
  for (const segment of (await namedSegments(tables, now)).keys()) named.delete(segment)
  for await (const some of inTurns(named.keys(), rowsAtOnce)) {
    await tables.dropSegments(some.map((segment) => ({ companyId, segment })))
  }
  return touched.values(from)
}

/** The segments among those named, without nodes, which have no texts. */
function keysOfNamed(companyId: number, named: ReadonlyMap<number, number>): SizedKey[] {
  const segments = [...named].filter(([, bytes]) => bytes > 0)
  return segments.map(([segment, bytes]) => ({ companyId, segment, bytes }))
}

const unchanged = { isPresent: false, isGone: true, states: 0 }

/** Adds a state of a record; if the listing has a present state, that one decides. */
function stateOf(
  known: Touched,
  { isPresent, isGone, sort }: Pick<Touched, 'isPresent' | 'isGone' | 'sort'>,
): Touched {
  const states = known.states + 1
  if (isPresent) return { ...known, sort, isPresent, isGone, states }
  return { ...known, isGone: known.isGone && (known.isPresent || isGone), states }
}

/** What replaces a segment. */
interface Replaced {
  readonly entries: readonly DirectoryEntry[]
  /** How many of the changed records had each type before, and how many have it now. */
  readonly former: ReadonlyMap<string, number>
  readonly now: ReadonlyMap<string, number>
}

/** Rewrites a segment; undefined if all of its records are kept as they are. */
function replaceSegment(
  out: Output,
  { shape, companyId, change }: ListingRewrite,
  { entries, texts }: WholeSegment,
  onChanged: (record: ListedRecord, isGone: boolean) => void,
): Replaced | undefined {
  const records: ListedRecord[] = []
  const [former, changed]: [ListedRecord[], ListedRecord[]] = [[], []]
  for (const record of recordsOf(decodeEntries(shape, entries), texts)) {
    const now = change(record)
    if (now !== undefined) records.push(now)
    if (now === record) continue
    former.push(record)
    if (now !== undefined) changed.push(now)
    onChanged(record, now === undefined)
  }
  if (former.length === 0) return undefined
  return {
    entries: cutSegments(shape, records, 'within').map((cut) => out.addSegment(companyId, cut)),
    former: typesOf(shape, former),
    now: typesOf(shape, changed),
  }
}

/** Rewrites a head if it names segments that were replaced. */
async function rewriteHead(
  { tables, lineage: mark }: Rewriting,
  listing: string,
  head: HeadRow,
  replaced: ReadonlyMap<number, Replaced>,
  out: Output,
): Promise<void> {
  const { leaves, nodes } = await openHead(tables, head)
  if (!leaves.some(({ segment }) => replaced.has(segment))) return
  const { companyId, version } = head
  out.addListing({
    companyId,
    meta: head.meta === null ? null : metaAfter(head.meta, leaves, replaced),
    entries: leaves.flatMap((one) => replaced.get(one.segment)?.entries ?? [one]),
    known: nodes,
    rewrites: { version, mark },
  })
  await tables.dropHeads(listing, [head])
  await out.flush()
}

function metaAfter(
  meta: string,
  leaves: readonly DirectoryEntry[],
  replaced: ReadonlyMap<number, Replaced>,
): string {
  const counts = parseMeta(meta)
  for (const { segment } of leaves) {
    const made = replaced.get(segment)
    for (const [type, count] of made?.former ?? []) addToCount(counts, type, -count)
    for (const [type, count] of made?.now ?? []) addToCount(counts, type, count)
  }
  return metaText(counts)
}

const [companiesAtOnce, segmentsAtOnce] = [1_000, 100]

/**
 * The records of listings of a kind, in each of their states.
 *
 * @param companies those that may have such a listing; all by default.
 */
export async function* allRecords(
  tables: ListingTables,
  shape: ListingShape,
  companies?: readonly number[],
) {
  const range = { after: -1, limit: Number.MAX_SAFE_INTEGER }
  const having = companies ?? (await tables.companiesWith(shape.listing, range))
  for (const some of inBatches(having, companiesAtOnce)) {
    const keys: SizedKey[] = []
    const heads = await tables.headsOf(shape.listing, some)
    for (const [companyId, own] of Map.groupBy(heads, (head) => head.companyId)) {
      for (const key of keysOfNamed(companyId, await namedSegments(tables, own))) keys.push(key)
    }
    for await (const own of inTurns(keys, segmentsAtOnce)) {
      for await (const { companyId, records } of readSegments(tables, shape, own)) {
        for (const record of records) yield { companyId, record }
      }
    }
  }
}
