// The dialect of SQLite, and how the tables of a file are read and written: lists are JSON, and
// rows are written several with one statement.

import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { keepStatements } from './statements.ts'
import type { RegistryDatabase } from '../sql/database.ts'
import {
  type Dialect,
  onConflict,
  type Parameter,
  type RowWriter,
  type Target,
} from '../sql/dialect.ts'

/** A parameter as SQLite takes it. */
function bound(value: Parameter): SQLInputValue {
  if (typeof value === 'boolean') return Number(value)
  return isList(value) ? JSON.stringify(value) : value
}

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value)

/** Reads and writes rows over a connection. */
export function writerOf(db: DatabaseSync) {
  const prepare = keepStatements(db)
  return {
    dialect,
    rows: (sql, ...values) => prepare(sql).all(...values.map(bound)) as never,
    run: (sql: string, ...values: readonly Parameter[]) =>
      Number(prepare(sql).run(...values.map(bound)).changes),
    insert(into, rows) {
      const one = prepare(insertSql(into, 1))
      const some = prepare(insertSql(into, rowsPerStatement))
      for (let at = 0; at < rows.length; at += rowsPerStatement) {
        const batch = rows.slice(at, at + rowsPerStatement)
        const isWhole = batch.length === rowsPerStatement
        if (isWhole && some.run(...batch.flat()).changes === rowsPerStatement) continue
        for (const row of batch) one.run(...row)
      }
    },
    drop({ table, fixed = {}, columns }, rows) {
      const given = Object.entries(fixed).map(([column, value]) => `${column} = ${literal(value)}`)
      const conditions = [...given, ...columns.map((column) => `${column} = ?`)]
      const statement = prepare(`delete from ${table} where ${conditions.join(' and ')}`)
      for (const row of rows) statement.run(...row)
    },
  } satisfies RowWriter & Pick<RegistryDatabase, 'run'>
}

// One statement for each id of a record takes 0.52 us of processor time, one for sixteen 0.22.
const rowsPerStatement = 16

/**
 * The statement that inserts so many rows. If it could undo some of them, as `or abort` does,
 * SQLite would first copy each page that changes to a temporary file, which takes up to ten times
 * as long: so it fails along with the whole transaction, or ignores rows that already exist.
 */
function insertSql({ table, fixed = {}, columns, replacing }: Target, rows: number): string {
  const values = [...Object.values(fixed).map(literal), ...columns.map(() => '?')]
  const isOne = rows === 1
  return `
    insert ${isOne ? '' : replacing === undefined ? 'or fail' : 'or ignore'}
      into ${table} (${[...Object.keys(fixed), ...columns].join(', ')})
      values ${Array(rows)
        .fill(`(${values.join(', ')})`)
        .join(', ')}
    ${isOne && replacing !== undefined ? onConflict(replacing) : ''}`
}

/** A name of ours as SQL: it costs less than a parameter for each row. */
const literal = (name: string) => `'${name.replaceAll("'", "''")}'`

/** The last head of each company, or of each listing, in the list $2. */
const lastHeads = (columns: string, company: string, listing: string) => `
  select ${columns} from json_each($2) e
  cross join heads h on h.company_id = ${company} and h.listing = ${listing} and h.version = (
    select max(version) from heads l
    where l.company_id = ${company} and l.listing = ${listing} and l.version <= $3
  )`

export const dialect: Dialect = {
  headsInForce: (columns) => lastHeads(columns, 'e.value', '$1'),
  headsOfCompany: (columns) => lastHeads(columns, '$1', 'e.value'),
  // One more row costs 1 us, and rows of kilobytes would leave pages of heads half empty.
  holdsSegments: false,
  // Segments have numbers of their own.
  isOfSegments: 'segment in (select value from json_each($2))',
  textRanges: `
    select e.key, substr(s.texts, e.value ->> 2, e.value ->> 3)
    from json_each($1) e
    cross join segments s on s.segment = e.value ->> 1 and s.company_id = e.value ->> 0`,
  useIndex: (name) => `indexed by ${name}`,
  hexOf: (bytes) => `lower(hex(${bytes}))`,
  textOf: (bytes) => `cast(${bytes} as text)`,
  placeOfBytes: 'instr',
  companyNames: { table: 'companies', id: 'id' },
  isOneOf: (column, list) => `${column} in (select value from json_each(${list}))`,
  atCompany: '',
}
