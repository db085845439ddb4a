// The seam of listings (../listing/tables.ts), written once for both databases: reads are
// statements on one table each, with lists of keys as parameters; a database contributes how rows
// are written.

import { after } from '../awaitable.ts'
import type {
  ListedId,
  ListingLookups,
  ListingReads,
  ListingTables,
  RecordKey,
} from '../listing/tables.ts'
import { changeLookups, traceTables } from './change-tables.ts'
import { companyLookups, companyTables } from './company-tables.ts'
import {
  headLookups,
  headTables,
  segmentLookup,
  segmentTables,
  textRangeLookup,
} from './head-tables.ts'
import { numberIn } from './database.ts'
import { lookup, type RowReader, type RowWriter, type Target } from './dialect.ts'

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
    table: 'record_keys',
    fixed: { listing },
    columns: ['source_id', 'key', 'id'],
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
    // Citus distributes the table by keys, so they cannot be altered.
    async changeKeys(listing, rows) {
      const ids = rows.map(({ id }) => [id])
      await db.drop({ table: 'record_keys', fixed: { listing }, columns: ['id'] }, ids)
      const made = rows.map(({ source, key, id }) => [source, key, id])
      await db.insert(into(listing), made)
    },
  } satisfies Partial<ListingTables>
}
