// The seam of listings in SQLite: statements of one table each, with lists of keys as JSON.

import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import type { IdentifyingName } from '../inspecting.ts'
import { firstSegment } from '../listing/directory.ts'
import {
  type CompanyRow,
  type ListedId,
  type ListingTables,
  MissingSegmentError,
  type PastCompanyRow,
  type SegmentRow,
} from '../listing/tables.ts'
import { changeTables } from './change-tables.ts'
import { headColumns, headOf, listingReadsOf } from './reads.ts'
import { keepStatements, prepareRow } from './statements.ts'

type Columns = readonly SQLInputValue[]

/** Reads and writes the tables of an open store, within the transaction of the caller. */
export function tablesOf(db: DatabaseSync): ListingTables {
  const prepare = keepStatements((sql) => prepareRow(db, sql))
  const rows = (sql: string, ...values: Columns) =>
    prepare(sql).all(...values) as unknown as (readonly SQLInputValue[])[]
  const value = (sql: string, ...values: Columns) => Number(rows(sql, ...values)[0]?.[0] ?? 0)
  const each = (sql: string, all: Iterable<Columns>) => {
    const statement = prepare(sql)
    for (const values of all) statement.run(...values)
  }
  return {
    ...listingReadsOf(db),
    ...headTables(rows, each),
    ...changeTables(rows, each),
    ...segmentTables(rows, each),
    lastSegment: () => value('select segments from store'),
    noteLastSegment: (segment) => each('update store set segments = ?', [[segment]]),
    ...idTables(rows, each, value),
    ...keyTables(rows, each),
    ...companyTables(rows, each, value),
  }
}

export type Rows = (sql: string, ...values: Columns) => (readonly SQLInputValue[])[]
export type Each = (sql: string, all: Iterable<Columns>) => void
type ValueOf = (sql: string, ...values: Columns) => number

function headTables(rows: Rows, each: Each) {
  const headsIn = `
    select ${headColumns} from json_each(?2) e
    cross join heads h on h.company_id = e.value and h.listing = ?1 and h.version = (
      select max(version) from heads l
      where l.company_id = e.value and l.listing = ?1 and l.version <= ?3
    )`
  return {
    heads: (listing, companies, version) =>
      rows(headsIn, listing, JSON.stringify(companies), version).map(headOf),
    headsOf: (listing, companies) =>
      rows(
        `select ${headColumns} from json_each(?) e
         cross join heads h on h.company_id = e.value and h.listing = ?
         order by h.company_id, h.version`,
        ...[JSON.stringify(companies), listing],
      ).map(headOf),
    hasHeads: (listing) =>
      rows('select 1 from heads where listing = ? limit 1', listing).length > 0,
    // The sign keeps it from the index of versions, which would have to be sorted each time.
    companiesWith: (listing, { after, limit }) =>
      rows(
        `select distinct company_id from heads
         where company_id > ? and +listing = ? order by company_id limit ?`,
        ...[after, listing, limit],
      ).map((row) => Number(row[0])),
    putHeads: (listing, heads) =>
      each(
        'insert or replace into heads values (?, ?, ?, ?, ?, ?, ?, ?)',
        heads.map((head) => [
          ...[head.companyId, listing, head.version, head.total, head.meta, head.largest],
          ...[head.directory, firstSegment(head.directory)],
        ]),
      ),
    dropHeads: (listing, heads) =>
      each(
        'delete from heads where company_id = ? and listing = ? and version = ?',
        heads.map(({ companyId, version }) => [companyId, listing, version]),
      ),
  } satisfies Partial<ListingTables>
}

function segmentTables(rows: Rows, each: Each) {
  return {
    companiesHolding: (bytes) =>
      rows('select distinct company_id from segments where instr(texts, ?) > 0', bytes).map((row) =>
        Number(row[0]),
      ),
    segments(keys, what) {
      const columns = what === 'both' ? 's.entries, s.texts' : 's.entries, null'
      const sql = `
        select s.segment, s.company_id, ${columns} from json_each(?) e
        cross join segments s on s.segment = e.value`
      const found = rows(sql, JSON.stringify(keys.map(({ segment }) => segment)))
      return keys.map(({ companyId, segment }, at): SegmentRow => {
        const [number, company, entries, texts] = found[at] ?? []
        if (number !== segment || company !== companyId)
          throw new MissingSegmentError({ companyId, segment })
        return {
          ...{ companyId, segment, entries: entries as Uint8Array },
          texts: (texts ?? null) as Uint8Array | null,
        }
      })
    },
    putSegments: (written) =>
      each(
        'insert into segments (segment, company_id, entries, texts) values (?, ?, ?, ?)',
        written.map(({ segment, companyId, entries, texts }) => [
          ...[segment, companyId, entries, texts],
        ]),
      ),
    dropSegments: (keys) =>
      each(
        'delete from segments where segment = ? and company_id = ?',
        keys.map(({ companyId, segment }) => [segment, companyId]),
      ),
  } satisfies Partial<ListingTables>
}

function idTables(rows: Rows, each: Each, value: ValueOf) {
  return {
    whereListed: (listing, ids) =>
      rows(
        `select r.id, r.company_id, r.source_id from json_each(?) e
         cross join record_ids r on r.listing = ? and r.id = e.value`,
        ...[JSON.stringify(ids), listing],
      ).map(([id, companyId, source]): ListedId => ({
        id: Number(id),
        companyId: Number(companyId),
        source: Number(source),
      })),
    putIds: (listing, ids) =>
      each(
        'insert or replace into record_ids values (?, ?, ?, ?)',
        ids.map(({ id, companyId, source }) => [listing, id, companyId, source]),
      ),
    dropIds: (listing, ids) =>
      each(
        'delete from record_ids where listing = ? and id = ? and company_id = ?',
        ids.map(({ id, companyId }) => [listing, id, companyId]),
      ),
    lastId: (listing, below) =>
      Math.max(
        value('select max(id) from record_ids where listing = ? and id < ?', listing, below),
        value('select max(id) from record_keys where listing = ?', listing),
      ),
  } satisfies Partial<ListingTables>
}

function keyTables(rows: Rows, each: Each) {
  return {
    keyIds: (listing, source, keys) =>
      new Map(
        rows(
          `select k.key, k.id from json_each(?) e cross join record_keys k
           on k.listing = ? and k.source_id = ? and k.key = e.value`,
          ...[JSON.stringify(keys), listing, source],
        ).map(([key, id]) => [key as string, Number(id)]),
      ),
    putKeys: (listing, source, keys) =>
      each(
        'insert into record_keys values (?, ?, ?, ?)',
        keys.map(({ key, id }) => [listing, source, key, id]),
      ),
    keySources: (listing, ids) =>
      rows(
        `select k.id, k.source_id from json_each(?) e
         cross join record_keys k indexed by record_keys_by_id
         on k.listing = ? and k.id = e.value`,
        ...[JSON.stringify(ids), listing],
      ).map(([id, source]) => ({ id: Number(id), source: Number(source) })),
    recordKeys: (listing, ids) =>
      rows(
        `select k.id, k.source_id, k.key from json_each(?) e
         cross join record_keys k indexed by record_keys_by_id
         on k.listing = ? and k.id = e.value`,
        ...[JSON.stringify(ids), listing],
      ).map(([id, source, key]) => ({
        id: Number(id),
        source: Number(source),
        key: key as string,
      })),
    changeKeys: (listing, keys) =>
      each(
        'update record_keys set key = ? where listing = ? and source_id = ? and id = ?',
        keys.map(({ id, source, key }) => [key, listing, source, id]),
      ),
  } satisfies Partial<ListingTables>
}

const companyColumns = 'c.id, c.jurisdiction, c.identifier, c.version'
const pastColumns = 'p.company_id, p.jurisdiction, p.identifier, p.version, p.until'

function companyTables(rows: Rows, each: Each, value: ValueOf) {
  const namesOf = (names: readonly IdentifyingName[]) => JSON.stringify(names)
  const named = (table: string) =>
    `${table}.jurisdiction = e.value ->> 0 and ${table}.identifier = e.value ->> 1`
  return {
    companiesByName: (names) =>
      rows(
        `select ${companyColumns} from json_each(?) e cross join companies c on ${named('c')}`,
        namesOf(names),
      ).map(companyOf),
    companiesById: (ids) =>
      rows(
        `select ${companyColumns} from json_each(?) e cross join companies c on c.id = e.value`,
        JSON.stringify(ids),
      ).map(companyOf),
    lastCompanyId: (below) =>
      Math.max(
        value('select max(id) from companies where id < ?', below),
        value('select max(company_id) from companies_past where company_id < ?', below),
      ),
    putCompanies: (companies) =>
      each(
        `insert into companies (id, jurisdiction, identifier, version) values (?, ?, ?, ?)
         on conflict (id) do update
           set jurisdiction = excluded.jurisdiction, identifier = excluded.identifier`,
        companies.map((one) => [one.id, one.jurisdiction, one.identifier, one.version]),
      ),
    dropCompanies: (ids) =>
      each(
        'delete from companies where id = ?',
        ids.map((id) => [id]),
      ),
    forgottenByName: (names) =>
      rows(
        `select ${pastColumns} from json_each(?) e
         cross join companies_past p indexed by companies_past_by_name on ${named('p')}
         where not exists (select 1 from companies c where c.id = p.company_id)`,
        namesOf(names),
      ).map(pastOf),
    pastCompanies: (ids) =>
      rows(
        `select ${pastColumns} from json_each(?) e
         cross join companies_past p on p.company_id = e.value order by p.company_id, p.until`,
        JSON.stringify(ids),
      ).map(pastOf),
    dropPastCompanies: (ids) =>
      each(
        'delete from companies_past where company_id = ?',
        ids.map((id) => [id]),
      ),
    putPastCompanies: (past) =>
      each(
        `insert into companies_past (company_id, until, version, jurisdiction, identifier)
         values (?, ?, ?, ?, ?)`,
        past.map((one) => [
          ...[one.companyId, one.until, one.version, one.jurisdiction, one.identifier],
        ]),
      ),
  } satisfies Partial<ListingTables>
}

function companyOf(row: readonly SQLInputValue[]): CompanyRow {
  const [id, jurisdiction, identifier, version] = row as [
    ...[number, string | null, string | null, number],
  ]
  return { id, jurisdiction, identifier, version }
}

function pastOf(row: readonly SQLInputValue[]): PastCompanyRow {
  const [companyId, jurisdiction, identifier, version, until] = row as [
    ...[number, string | null, string | null, number, number],
  ]
  return { companyId, jurisdiction, identifier, version, until }
}
