// Reads and writes the tables of a store in PostgreSQL: lists are arrays. Citus pushes
// the same statements down to its nodes.

import {
  type Cell,
  comparable,
  onConflict,
  type Parameter,
  type RowWriter,
} from '../sql/dialect.ts'
import { type Client, types } from 'pg'
import { inOrderAsked, type ListingReads } from '../listing/tables.ts'
import type { HeadInRegistry } from '../serving/reads.ts'
import { firstTexts, headOf, headSql, heldByHead, type ReadHead } from '../sql/head-tables.ts'
import { binaryList, type BinaryQuery, freeRows } from './binary.ts'
import { dialect, distributedDialect } from './dialect.ts'

/** Runs a statement, and returns its rows as arrays of their columns. */
export type Rows = <Row extends readonly unknown[]>(
  sql: string,
  ...values: readonly Parameter[]
) => Promise<readonly Row[]>

/** A statement whose rows are arrays, in binary form. */
export function binaryQuery(sql: string, values: readonly Parameter[]): BinaryQuery {
  return { text: sql, values: values.map(bound), rowMode: 'array', binary: true }
}

/** A list of numbers in PostgreSQL's own form, which costs less than what the driver makes. */
const bound = (value: Parameter) =>
  Array.isArray(value) && typeof value[0] === 'number' ? `{${value.join()}}` : value

/** Reads and writes rows over a session. */
export function writerOf(client: Client, isDistributed: boolean) {
  const rows: Rows = async (sql, ...values) =>
    (await client.query(binaryQuery(sql, values))).rows as never
  return {
    dialect: isDistributed ? distributedDialect : dialect,
    rows,
    async insert({ table, fixed = {}, columns, replacing }, all) {
      if (all.length === 0) return
      const fixedColumns = Object.keys(fixed)
      const given = fixedColumns.map((column, n) => `$${n + 1}::${typeOf(column)}`)
      const sql = `
        insert into ${table} (${[...fixedColumns, ...columns].join(', ')})
          select ${[...given, '*'].join(', ')} from ${listsOf(columns, given.length)} u
        ${replacing === undefined ? '' : onConflict(replacing)}`
      await rows(sql, ...Object.values(fixed), ...columnsOf(columns, all))
    },
    async drop({ table, fixed = {}, columns }, all) {
      if (all.length === 0) return
      const given = Object.keys(fixed).map((column, n) => `${column} = $${n + 1}`)
      const isListed = `(${columns.join(', ')}) in (
        select * from ${listsOf(columns, given.length)}
      )`
      const sql = `delete from ${table} where ${[...given, isListed].join(' and ')}`
      await rows(sql, ...Object.values(fixed), ...columnsOf(columns, all))
    },
  } satisfies RowWriter
}

/** The types of columns; a column has the same type in all tables. */
const columnTypes: Readonly<Record<string, 'bigint' | 'integer' | 'bytea'>> = {
  company_id: 'bigint',
  id: 'bigint',
  segment: 'bigint',
  sort: 'bigint',
  version: 'integer',
  since: 'integer',
  until: 'integer',
  source_id: 'integer',
  total: 'integer',
  largest: 'integer',
  entries: 'bytea',
  texts: 'bytea',
}

const typeOf = (column: string) => columnTypes[column] ?? 'text'

/** Lists of values, one for each column, as rows. */
function listsOf(columns: readonly string[], before: number): string {
  const lists = columns.map((column, n) => `$${before + n + 1}::${typeOf(column)}[]`)
  return `unnest(${lists.join(', ')})`
}

const { BYTEA, TEXT } = types.builtins

function columnsOf(columns: readonly string[], rows: readonly (readonly Cell[])[]): Parameter[] {
  return columns.map((column, n) => {
    const type = typeOf(column)
    const values = rows.map((row) => row[n] ?? null)
    if (type !== 'text' && type !== 'bytea') return `{${values.map((one) => one ?? 'null').join()}}`
    return binaryList(type === 'text' ? TEXT : BYTEA, values as (string | Uint8Array | null)[])
  })
}

/** Reads a head, and the texts of its only segment if the head holds it and they are asked for. */
export async function readHead(
  rows: Rows,
  [listing, companyId, version]: readonly [listing: string, companyId: number, version: number],
  withHeld: boolean,
): Promise<Pick<HeadInRegistry, 'head' | 'first'>> {
  const asked = [companyId, listing, comparable(version)] as const
  const [row] = await rows<ReadHead>(headSql(withHeld ? heldByHead : undefined), ...asked)
  return { head: row && headOf(row), first: firstTexts(row?.[6]) }
}

export const segmentsSql = (column: 'texts' | 'entries') => `
  select segment, ${column} from segments
  where company_id = $1 and segment = any($2::bigint[]) and ${column} is not null`

// With the list in its condition, PostgreSQL might read all heads of the company.
const heldSql = (column: 'texts' | 'entries') => `
  select e.segment, h.${column} from unnest($2::bigint[]) e (segment)
  cross join lateral (
    select * from heads o
    where o.company_id = $1 and o.segment = e.segment and o.texts is not null limit 1
  ) h`

/** Reads of a company's listings; prepared, since most of them serve requests. */
export function listingReads(rows: Rows): ListingReads {
  const read = async (column: 'texts' | 'entries', companyId: number, asked: readonly number[]) => {
    if (asked.length === 0) return []
    const found: FoundSegment[] = []
    // Between the first two, a prune may drop a head that held a segment, which then gets a row.
    for (const sql of [segmentsSql(column), heldSql(column), segmentsSql(column)]) {
      found.push(...(await rows<FoundSegment>(sql, companyId, asked)))
      if (found.length >= asked.length) break
    }
    return inOrderAsked(companyId, asked, new Map(found))
  }
  return {
    texts: (companyId, segments) => read('texts', companyId, segments),
    entries: (companyId, segments) => read('entries', companyId, segments),
    free: freeRows,
  }
}

type FoundSegment = readonly [segment: number, bytes: Uint8Array]
