// Reads and writes the tables of a store in PostgreSQL: lists are arrays. Citus pushes
// the same statements down to its nodes.

import { type Cell, onConflict, type Parameter, type RowWriter } from '../sql/dialect.ts'
import { type Client, type PoolClient, types } from 'pg'
import { type ListingReads, MissingSegmentError } from '../listing/tables.ts'
import type { ImportConnection, RegistryDatabase } from '../sql/database.ts'
import { tablesOver } from '../sql/tables.ts'
import { binaryList, type BinaryQuery, freeRows } from './binary.ts'
import { beginDistributed } from './citus/hold.ts'
import { dialect, distributedDialect } from './dialect.ts'
import { beginWithKeys, beginWriting, commit, inTransaction } from './transaction.ts'

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
    const bySegment = new Map(found)
    return asked.map((segment) => {
      const bytes = bySegment.get(segment)
      if (bytes === undefined) throw new MissingSegmentError({ companyId, segment })
      return bytes
    })
  }
  return {
    texts: (companyId, segments) => read('texts', companyId, segments),
    entries: (companyId, segments) => read('entries', companyId, segments),
    free: freeRows,
  }
}

type FoundSegment = readonly [segment: number, bytes: Uint8Array]

const batchSize = 1_000

/**
 * Settings of a session that writes to the nodes of Citus: one connection to each node, so that a
 * change is committed there in one step, and its readers never see a part of it.
 */
export const distributedSettings = {
  'citus.multi_shard_modify_mode': 'sequential',
  'citus.max_adaptive_executor_pool_size': 1,
}

/** @param isDistributed whether Citus has distributed the tables over several nodes. */
export function registryOf(client: Client, db: string, isDistributed = false): RegistryDatabase {
  const writer = writerOf(client, isDistributed)
  let cursors = 0
  return {
    ...writer,
    tables: tablesOver(writer, listingReads(writer.rows)),
    run: async (sql, ...values) => (await client.query(binaryQuery(sql, values))).rowCount ?? 0,
    async *batches<Row extends readonly unknown[]>(sql: string) {
      const cursor = `batches_${(cursors += 1)}`
      await client.query(`declare ${cursor} no scroll cursor for ${sql}`)
      for (;;) {
        const rows = await writer.rows<Row>(`fetch ${batchSize} from ${cursor}`)
        yield rows
        if (rows.length < batchSize) break
      }
      await client.query(`close ${cursor}`)
    },
    withKeysLocked: (wait, work) => inTransaction(client, db, wait, work, beginWithKeys),
  }
}

/** Makes one change of the registry in a session, which ends when it is committed or discarded. */
export function importIn(client: PoolClient, db: string, isDistributed: boolean): ImportConnection {
  // When the session ends, the server rolls back, and frees the lock.
  let ended: Promise<void> | undefined
  const end = () => (ended ??= client.end().then(() => client.release()))
  const registry = registryOf(client, db, isDistributed)
  return {
    ...registry,
    begin: (wait) =>
      isDistributed ? beginDistributed(client, db, wait) : beginWriting(client, wait),
    commit: () => commit(client, db).then(end),
    discard: end,
  }
}
