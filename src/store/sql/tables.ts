// The seam of listings (../listing/tables.ts), said once for both databases: reads are statements
// of one table each, with lists of keys as parameters; a database contributes how rows are written.

import type { RowWriter, RowReader, Parameter, Target } from './dialect.ts'
import { after } from '../awaitable.ts'
import { firstSegment } from '../listing/directory.ts'
import type { FirstTexts } from '../listing/read-page.ts'
import {
  type HeadRow,
  type ListedId,
  type ListingLookups,
  type ListingReads,
  type ListingTables,
  MissingSegmentError,
  type RecordKey,
  type SegmentRow,
} from '../listing/tables.ts'
import type { ReadWithHead } from '../serving/reads.ts'
import { changeLookups, traceTables } from './change-tables.ts'
import { companyLookups, companyTables } from './company-tables.ts'

/** Reads and writes the tables of a store, within the transaction of the caller. */
export function tablesOver(db: RowWriter, reads: ListingReads): ListingTables {
  return {
    ...lookupsOver(db, reads),
    ...headTables(db),
    ...segmentTables(db),
    ...idTables(db),
    ...keyTables(db),
    ...companyTables(db),
    ...traceTables(db),
  }
}

/** Looks up listings of many companies at once. */
export function lookupsOver(db: RowReader, reads: ListingReads): ListingLookups {
  return {
    ...reads,
    ...headLookups(db),
    segments: segmentLookup(db),
    textRanges: textRangeLookup(db),
    ...changeLookups(db),
    ...companyLookups(db),
  }
}

/** The columns of heads, which `headOf` takes. */
const headColumns = 'h.company_id, h.version, h.total, h.meta, h.largest, h.directory'

export type HeadColumns = readonly [
  companyId: number,
  version: number,
  total: number,
  meta: string | null,
  largest: number,
  directory: string,
  texts?: Uint8Array | null,
]

/** @param row begins with `headColumns`. */
export function headOf(row: HeadColumns): HeadRow {
  const [companyId, version, total, meta, largest, directory] = row
  return { companyId, version, total, meta, largest, directory }
}

/** What was read with a head, if anything was: its first segment, perhaps all others. */
export const firstTexts = (
  texts: Uint8Array | null | undefined,
  others?: Uint8Array | null,
): FirstTexts | undefined => (texts ? { texts, others: others ?? undefined } : undefined)

/**
 * Reads a head; the texts of its first segment may be in the same row, since a second statement
 * costs as much as what it reads.
 */
export const headSql = (beside: ReadWithHead) => `
  select ${headColumns}${beside === 'texts' ? ', t.texts' : ''} from heads h
  ${beside === 'texts' ? textsOfHead : ''}
  where h.company_id = $1 and h.listing = $2 and h.version <= $3 order by h.version desc limit 1`

/** Joins the first segment of a head `h` of the company $1. */
export const textsOfHead = 'left join segments t on t.company_id = $1 and t.segment = h.segment'

/** The version that had made the company $1 known at the version $2; null if it was not. */
export const knownSinceSql = `
  select coalesce(
    (select version from companies where id = $1 and version <= $2),
    (select version from companies_past where company_id = $1 and version <= $2 and until > $2)
  )`

/** The import that made the version $1. */
export const changeSql = 'select lineage, committed_at from imports where version = $1'

/** A version as PostgreSQL can compare it. */
export const comparable = (version: number) => Math.min(version, 2 ** 31 - 1)

/** Makes a look-up of rows, each as `of` makes it of its columns. */
export function lookup<T>(db: RowReader, sql: string, of: (columns: never) => T) {
  return (...asked: readonly Parameter[]) =>
    after(db.rows<never>(sql, ...asked), (rows) => rows.map((row) => of(row)))
}

/** The number in a row of one. */
export const onlyNumber = ([number]: readonly [number]) => number

function headLookups(db: RowReader) {
  const { dialect: d } = db
  const inForce = lookup(db, d.headsInForce(headColumns), headOf)
  const all = `
    select ${headColumns} from heads h
    where ${d.isOneOf('company_id', '$2', 'bigint')} and listing = $1
    order by company_id, version`
  // Without an order, PostgreSQL would look for the first one among those of all listings.
  const first = 'select 1 from heads where listing = $1 order by version limit 1'
  const hasHeads = lookup(db, first, onlyNumber)
  // Not an equation, by which SQLite would take the index of versions, and sort each time.
  const companies = `
    select distinct company_id from heads
    where company_id > $1 and not listing <> $2 order by company_id limit $3`
  const companiesWith = lookup(db, companies, onlyNumber)
  return {
    heads: (listing, companies, version) => inForce(listing, companies, comparable(version)),
    headsOf: lookup(db, all, headOf),
    hasHeads: (listing) => after(hasHeads(listing), ({ length }) => length > 0),
    companiesWith: (listing, { after: last, limit }) => companiesWith(last, listing, limit),
  } satisfies Partial<ListingTables>
}

/** The first value of a query; 0 if there is none. */
export async function numberIn(
  db: RowReader,
  sql: string,
  ...asked: readonly Parameter[]
): Promise<number> {
  const [row] = await db.rows<readonly [number | null]>(sql, ...asked)
  return row?.[0] ?? 0
}

function segmentLookup(db: RowReader): ListingLookups['segments'] {
  type Columns = readonly [number, number, Uint8Array, Uint8Array | null]
  const sqlOf = (texts: string) => `
    select company_id, segment, entries, ${texts} from segments where ${db.dialect.isOfSegments}`
  const [withTexts, withoutTexts] = [sqlOf('texts'), sqlOf('cast(null as bytea)')]
  return async (keys, what) => {
    if (keys.length === 0) return []
    const found = await db.rows<Columns>(
      what === 'both' ? withTexts : withoutTexts,
      keys.map(({ companyId }) => companyId),
      keys.map(({ segment }) => segment),
    )
    const bySegment = new Map(found.map((row) => [row[1], row]))
    return keys.map((key): SegmentRow => {
      const [companyId, segment, entries, texts = null] = bySegment.get(key.segment) ?? []
      if (companyId !== key.companyId || segment === undefined || entries === undefined) {
        throw new MissingSegmentError(key)
      }
      return { companyId, segment, entries, texts }
    })
  }
}

function textRangeLookup(db: RowReader): ListingLookups['textRanges'] {
  return async (ranges) => {
    if (ranges.length === 0) return []
    const asked = ranges.map(({ companyId, segment, from, length }) => {
      return [companyId, segment, from + 1, length]
    })
    type Columns = readonly [place: number, bytes: Uint8Array | null]
    const found = await db.rows<Columns>(db.dialect.textRanges, JSON.stringify(asked))
    const byPlace = new Map(found)
    return ranges.map((range, place) => {
      const bytes = byPlace.get(place)
      if (!(bytes instanceof Uint8Array)) throw new MissingSegmentError(range)
      return bytes
    })
  }
}

/**
 * Tells heads that may have been written before. Those of a new version have not, if their
 * companies come after all that this connection has written: imports go by company.
 */
function watchHeads(db: RowReader) {
  let committed: number | undefined
  const last = new Map<string, number>()
  return async (listing: string, heads: readonly HeadRow[]) => {
    committed ??= await numberIn(db, 'select max(version) from imports')
    const [oldest, greatest] = [committed, last.get(listing) ?? 0]
    for (const { companyId } of heads) {
      if (companyId > (last.get(listing) ?? 0)) last.set(listing, companyId)
    }
    return heads.filter(({ version, companyId }) => version <= oldest || companyId <= greatest)
  }
}

function headTables(db: RowWriter) {
  const mayBeWritten = watchHeads(db)
  const columns = ['company_id', 'version', 'total', 'meta', 'largest', 'directory', 'segment']
  const dropHeads: ListingTables['dropHeads'] = (listing, heads) =>
    db.drop(
      { table: 'heads', fixed: { listing }, columns: ['company_id', 'version'] },
      heads.map(({ companyId, version }) => [companyId, version]),
    )
  return {
    dropHeads,
    async putHeads(listing, heads) {
      if (heads.length === 0) return
      await dropHeads(listing, await mayBeWritten(listing, heads))
      await db.insert(
        { table: 'heads', fixed: { listing }, columns },
        heads.map(({ companyId, version, total, meta, largest, directory }) => [
          ...[companyId, version, total, meta, largest, directory, firstSegment(directory)],
        ]),
      )
    },
  } satisfies Partial<ListingTables>
}

function segmentTables(db: RowWriter) {
  const holding = `
    select distinct company_id from segments where ${db.dialect.placeOfBytes}(texts, $1) > 0`
  return {
    companiesHolding: lookup(db, holding, onlyNumber),
    putSegments: (rows) =>
      db.insert(
        { table: 'segments', columns: ['company_id', 'segment', 'entries', 'texts'] },
        rows.map(({ companyId, segment, entries, texts }) => [companyId, segment, entries, texts]),
      ),
    dropSegments: (keys) =>
      db.drop(
        { table: 'segments', columns: ['company_id', 'segment'] },
        keys.map(({ companyId, segment }) => [companyId, segment]),
      ),
    lastSegment: () => numberIn(db, 'select segments from store'),
    async noteLastSegment(segment) {
      await db.rows('update store set segments = $1', segment)
    },
  } satisfies Partial<ListingTables>
}

type IdColumns = readonly [id: number, companyId: number, source: number]

function idTables(db: RowWriter) {
  const whereListed = `
    select id, company_id, source_id from record_ids
    where listing = $1 and ${db.dialect.isOneOf('id', '$2', 'bigint')}`
  return {
    whereListed: lookup(db, whereListed, ([id, companyId, source]: IdColumns): ListedId => {
      return { id, companyId, source }
    }),
    putIds: (listing, rows) =>
      db.insert(
        {
          table: 'record_ids',
          fixed: { listing },
          columns: ['id', 'company_id', 'source_id'],
          replacing: { key: ['listing', 'id', 'company_id'], columns: ['source_id'] },
        },
        rows.map(({ id, companyId, source }) => [id, companyId, source]),
      ),
    dropIds: (listing, rows) =>
      db.drop(
        { table: 'record_ids', fixed: { listing }, columns: ['id', 'company_id'] },
        rows.map(({ id, companyId }) => [id, companyId]),
      ),
    async lastId(listing, below) {
      const ids = 'select max(id) from record_ids where listing = $1 and id < $2'
      const keys = 'select max(id) from record_keys where listing = $1'
      return Math.max(await numberIn(db, ids, listing, below), await numberIn(db, keys, listing))
    },
  } satisfies Partial<ListingTables>
}

type KeyColumns = readonly [id: number, source: number, key: string]

function keyTables(db: RowWriter) {
  const { dialect: d } = db
  const keyIds = `
    select key, id from record_keys
    where listing = $1 and source_id = $2 and ${d.isOneOf('key', '$3', 'text')}`
  const recordKeys = `
    select id, source_id, key from record_keys ${d.useIndex('record_keys_by_id')}
    where listing = $1 and ${d.isOneOf('id', '$2', 'bigint')}`
  const into = (listing: string): Target => ({
    ...{ table: 'record_keys', fixed: { listing }, columns: ['source_id', 'key', 'id'] },
  })
  return {
    keyIds: (listing, source, keys) =>
      after(
        db.rows<readonly [string, number]>(keyIds, listing, source, keys),
        (rows) => new Map(rows),
      ),
    putKeys: (listing, source, rows) =>
      db.insert(
        into(listing),
        rows.map(({ key, id }) => [source, key, id]),
      ),
    recordKeys: lookup(db, recordKeys, ([id, source, key]: KeyColumns): RecordKey => {
      return { id, source, key }
    }),
    // Citus distributes the table by keys, which cannot be altered then.
    async changeKeys(listing, rows) {
      const ids = rows.map(({ id }) => [id])
      await db.drop({ table: 'record_keys', fixed: { listing }, columns: ['id'] }, ids)
      const made = rows.map(({ source, key, id }) => [source, key, id])
      await db.insert(into(listing), made)
    },
  } satisfies Partial<ListingTables>
}
