// Reads and writes the tables of an SQLite store: lists are JSON, and rows are written one by one.

import type { DatabaseSync } from 'node:sqlite'
import type { ListingTables } from '../listing/tables.ts'
import {
  onConflict,
  type Parameter,
  type RowWriter,
  tablesOver,
  type Target,
} from '../sql/tables.ts'
import { dialect } from './dialect.ts'
import { listingReadsOf } from './reads.ts'
import { keepStatements, numbered, prepareRow } from './statements.ts'

/** Reads and writes the tables of an open store, within the transaction of the caller. */
export function tablesOf(db: DatabaseSync): ListingTables {
  return tablesOver(rowsOf(db), listingReadsOf(db))
}

/** A parameter as SQLite takes it. */
export const bound = (value: Parameter) =>
  typeof value === 'object' ? JSON.stringify(value) : value

function rowsOf(db: DatabaseSync): RowWriter {
  const prepare = keepStatements((sql) => prepareRow(db, numbered(sql)))
  return {
    dialect,
    rows: (sql, ...values) => prepare(sql).all(...values.map(bound)) as never,
    insert(into, rows) {
      const statement = prepare(insertSql(into))
      for (const row of rows) statement.run(...row)
    },
    drop({ table, fixed = {}, columns }, rows) {
      const given = Object.entries(fixed).map(([column, value]) => `${column} = ${literal(value)}`)
      const conditions = [...given, ...columns.map((column) => `${column} = ?`)]
      const statement = prepare(`delete from ${table} where ${conditions.join(' and ')}`)
      for (const row of rows) statement.run(...row)
    },
  }
}

function insertSql({ table, fixed = {}, columns, replacing }: Target): string {
  const values = [...Object.values(fixed).map(literal), ...columns.map(() => '?')]
  return `
    insert into ${table} (${[...Object.keys(fixed), ...columns].join(', ')})
      values (${values.join(', ')})
    ${replacing === undefined ? '' : onConflict(replacing)}`
}

/** A name of ours, which costs less than a parameter for each row. */
const literal = (name: string) => `'${name.replaceAll("'", "''")}'`
