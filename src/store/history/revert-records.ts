// Takes back what versions have changed in the listings of a resource: what their source has in
// each is again as it was in the head before them. What other sources have stays.
//
// Segments never change, so where nothing else has changed since, the new head names the segments
// of that former head, and no text is read.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { type DirectoryEntry, emptyDirectory, without } from '../listing/directory.ts'
import { compareOrder } from '../listing/merge.ts'
import {
  type PutReader,
  createOutput,
  type MergeContext,
  mergeListing,
  type Output,
} from '../listing/write-listings.ts'
import { addToCount, metaText, parseMeta, type ListingShape } from '../listing/shape.ts'
import { keysOf, leavesOf, type OpenListing } from '../listing/open-listings.ts'
import {
  decodeEntries,
  type ListedRecord,
  recordsOf,
  type SegmentIndex,
} from '../listing/segment.ts'
import { type HeadRow, inBatches, type ListingTables, type SegmentRow } from '../listing/tables.ts'
import type { RegistryDatabase, Database } from '../sql/database.ts'
import type { OnShare } from '../work-watch.ts'
import { compareStates, type StateDifference } from './compare-states.ts'

/** What is taken back. */
export interface TakenBack {
  /** The number of the source. */
  readonly source: number
  /** The first of the versions. */
  readonly first: number
  /** Receives companies that get something back. */
  readonly onRestored: (companies: readonly number[]) => Promise<void>
  readonly onShare: OnShare
}

/** Records or companies that came back, have their former content again, and are gone. */
export interface Changes {
  restored: number
  updated: number
  removed: number
}

const companiesAtOnce = 400
/** How many segments are read at once. */
const segmentsAtOnce = 1_000

/** Takes back what versions have changed in a resource's listings. */
export async function revertRecords(
  db: RegistryDatabase,
  context: MergeContext,
  shape: ListingShape,
  taken: TakenBack,
): Promise<Changes> {
  const { tables } = context
  const { listing } = shape
  const { first, onShare, onRestored } = taken
  const changes: Changes = { restored: 0, updated: 0, removed: 0 }
  const out = createOutput(context, listing)
  const ids = collectIds(tables, listing, taken.source)
  for await (const { companies, share } of changedCompanies(db, listing, first)) {
    const restored: number[] = []
    const pairs = await openPairs(tables, shape, companies, first)
    for await (const { pair, difference } of findDifferences(tables, shape, pairs, taken.source)) {
      if (!(await revertListing(context, shape, { pair, difference, taken }, out))) continue
      const { companyId } = pair
      changes.restored += difference.restored.length
      changes.updated += difference.updated.length
      changes.removed += difference.removed.length
      if (difference.restored.length + difference.taken.length > 0) restored.push(companyId)
      await ids.note(companyId, difference)
      if (out.isFull()) await out.flush()
    }
    await out.flush()
    await onRestored(restored)
    onShare(share)
    await nextTurn()
  }
  await ids.finish()
  return changes
}

/** Companies whose listing has changed since a version, and the share of them that is done then. */
export async function* changedCompanies(
  db: Database,
  listing: string,
  first: number,
): AsyncGenerator<{ readonly companies: readonly number[]; readonly share: number }> {
  // Read before anything is changed.
  const changed: number[] = []
  const sql = `
    select distinct company_id from heads where listing = '${listing}' and version >= ${first}
    order by company_id`
  for await (const rows of db.batches(sql)) {
    for (const row of rows) changed.push(Number(row['company_id']))
  }
  let done = 0
  for (const companies of inBatches(changed, companiesAtOnce)) {
    done += companies.length
    yield { companies, share: done / changed.length }
  }
}

/** The present and the former state of a listing, which may not have been there. */
interface Pair {
  readonly companyId: number
  readonly present: OpenListing
  readonly former: HeadRow | undefined
  /** The segments that only one of the two states has. */
  readonly presentOnly: readonly DirectoryEntry[]
  readonly formerOnly: readonly DirectoryEntry[]
}

async function openPairs(
  tables: ListingTables,
  { listing }: ListingShape,
  companies: readonly number[],
  first: number,
): Promise<Pair[]> {
  const former = new Map(
    (await tables.heads(listing, companies, first - 1)).map((head) => [head.companyId, head]),
  )
  const pairs: Pair[] = []
  for (const head of await tables.heads(listing, companies, Number.MAX_SAFE_INTEGER)) {
    const { companyId } = head
    const before = former.get(companyId)
    const leaves = await leavesOf(tables, head)
    const formerLeaves = before === undefined ? [] : await leavesOf(tables, before)
    pairs.push({
      ...{ companyId, present: { head, leaves }, former: before },
      presentOnly: without(leaves, formerLeaves),
      formerOnly: without(formerLeaves, leaves),
    })
  }
  return pairs
}

/** Compares the states of listings, in their order, reading segments of many at once. */
async function* findDifferences(
  tables: ListingTables,
  shape: ListingShape,
  pairs: readonly Pair[],
  source: number,
): AsyncGenerator<{ readonly pair: Pair; readonly difference: StateDifference }> {
  const weightOf = ({ formerOnly, presentOnly }: Pair) => formerOnly.length + presentOnly.length
  for (const some of inBatches(pairs, Infinity, weightOf, segmentsAtOnce)) {
    const keys = some.flatMap(({ companyId, formerOnly, presentOnly }) => [
      ...keysOf(companyId, formerOnly),
      ...keysOf(companyId, presentOnly),
    ])
    const read = indexReader(tables, shape, keys)
    for (const pair of some) {
      const states = compareStates(shape, source)
      for (let n = 0; n < pair.formerOnly.length; n++) {
        if (read.isAtEnd()) await read.more()
        states.addFormer(read.next())
      }
      for (let n = 0; n < pair.presentOnly.length; n++) {
        if (read.isAtEnd()) await read.more()
        states.addPresent(read.next())
      }
      yield { pair, difference: states.finish() }
    }
  }
}

/** Reads the indexes of segments, in their order, some at once. */
function indexReader(tables: ListingTables, shape: ListingShape, keys: ReturnType<typeof keysOf>) {
  const wanted = shape.metaColumn === undefined ? [] : [shape.metaColumn]
  let rows: readonly SegmentRow[] = []
  let [n, read] = [0, 0]
  return {
    isAtEnd: () => n === rows.length,
    async more(): Promise<void> {
      rows = await tables.segments(keys.slice(read, read + segmentsAtOnce), 'entries')
      read += rows.length
      n = 0
    },
    next(): SegmentIndex {
      const row = rows[n++]
      if (row === undefined) throw new Error('there are fewer segments than were asked for')
      return decodeEntries(shape, row.entries, wanted)
    },
  }
}

/** The change of one listing. */
interface ListingRevert {
  readonly pair: Pair
  readonly difference: StateDifference
  readonly taken: TakenBack
}

/** Makes the listing's new head; returns false if it stays as it is. */
async function revertListing(
  context: MergeContext,
  shape: ListingShape,
  { pair, difference, taken }: ListingRevert,
  out: Output,
): Promise<boolean> {
  const { restored, updated, removed, hasOthers, goneTypes } = difference
  if (restored.length + updated.length + removed.length === 0) return false
  const { companyId, former, present } = pair
  if (!hasOthers) {
    out.addHead({ ...(former ?? emptyHead(shape)), companyId, version: context.version })
    return true
  }
  const types = parseMeta(present.head.meta ?? '[]')
  for (const [type, count] of goneTypes) addToCount(types, type, -count)
  await mergeListing(
    context,
    shape,
    {
      ...{ company: companyId, listing: present, indexes: undefined, types },
      gone: new Set([...updated, ...removed]),
      puts: readFormer(context.tables, shape, pair, {
        source: taken.source,
        ids: new Set([...restored, ...updated]),
      }),
    },
    out,
  )
  return true
}

function emptyHead({ metaColumn }: ListingShape) {
  const meta = metaColumn === undefined ? null : metaText(new Map())
  return { total: 0, meta, largest: 0, directory: emptyDirectory }
}

/** Some records of a source. */
interface Chosen {
  readonly source: number
  readonly ids: ReadonlySet<number>
}

/** How many segments are read at once, with their texts. */
const textsAtOnce = 100

/** Reads records of the former state in the order of the listing, as they are needed. */
function readFormer(
  tables: ListingTables,
  shape: ListingShape,
  { companyId, formerOnly }: Pair,
  { source, ids }: Chosen,
): PutReader {
  let at = 0
  let records: ListedRecord[] = []
  let n = 0
  async function peek(): Promise<ListedRecord | undefined> {
    for (; n === records.length && at < formerOnly.length; at += textsAtOnce) {
      const keys = keysOf(companyId, formerOnly.slice(at, at + textsAtOnce))
      const rows = await tables.segments(keys, 'both')
      const all = rows.flatMap(({ entries, texts }) => [
        ...recordsOf(decodeEntries(shape, entries), texts ?? new Uint8Array()),
      ])
      records = all.filter((one) => one.source === source && ids.has(one.id))
      n = 0
    }
    return records[n]
  }
  return {
    async take(before, most = Infinity) {
      const taken: ListedRecord[] = []
      while (taken.length < most) {
        const record = await peek()
        if (record === undefined) break
        if (before !== undefined && compareOrder(shape, record, before) >= 0) break
        taken.push(record)
        n += 1
      }
      return taken
    },
  }
}

/** So many are sorted in memory: tables take ids faster in their order. */
const idsAtOnce = 200_000

/** Collects in which listings the source's records are, and writes that. */
function collectIds(tables: ListingTables, listing: string, source: number) {
  let gone: { readonly id: number; readonly companyId: number }[] = []
  let made: { readonly id: number; readonly companyId: number; readonly source: number }[] = []
  async function flush(): Promise<void> {
    for (const some of inBatches(inOrder(gone), 5_000)) await tables.dropIds(listing, some)
    for (const some of inBatches(inOrder(made), 5_000)) await tables.putIds(listing, some)
    gone = []
    made = []
  }
  return {
    async note(companyId: number, difference: StateDifference): Promise<void> {
      for (const id of difference.removed) gone.push({ id, companyId })
      for (const id of difference.restored) made.push({ id, companyId, source })
      for (const id of difference.taken) made.push({ id, companyId, source })
      if (gone.length + made.length > idsAtOnce) await flush()
    },
    finish: flush,
  }
}

function inOrder<T extends { readonly id: number }>(rows: T[]): T[] {
  return rows.sort((a, b) => a.id - b.id)
}
