// Takes back what versions have changed in the listings of a resource: what their source has in
// each is again as it was in the head before them. What other sources have stays.
//
// Segments never change, so where nothing else has changed since, the new head names the segments
// of that former head, and no text is read.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { emptyDirectory } from '../listing/directory.ts'
import { compareOrder } from '../listing/merge.ts'
import {
  type PutReader,
  createOutput,
  type MergeContext,
  mergeListing,
  type Output,
} from '../listing/write-listings.ts'
import { addToCount, metaText, parseMeta, type ListingShape } from '../listing/shape.ts'
import { keysOf } from '../listing/open-listings.ts'
import { decodeEntries, type ListedRecord, recordsOf } from '../listing/segment.ts'
import { inBatches, type ListingTables } from '../listing/tables.ts'
import { type RegistryDatabase, type Database, readNumbers } from '../sql/database.ts'
import type { OnShare } from '../work-watch.ts'
import { type StateDifference, openPairs, findDifferences, type Pair } from './compare-states.ts'

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
  const out = createOutput(context, shape)
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
  const sql = `
    select distinct company_id from heads where listing = '${listing}' and version >= ${first}
    order by company_id`
  const changed = await readNumbers(db, sql)
  let done = 0
  for (const companies of inBatches(changed, companiesAtOnce)) {
    done += companies.length
    yield { companies, share: done / changed.length }
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
