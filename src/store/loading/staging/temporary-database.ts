// A temporary SQLite database for one piece of work: SQL that sorts and joins what does not fit
// into memory.

import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'

export type StagedValue = SQLInputValue
type StagedValues = Readonly<Record<string, StagedValue>>

export type TemporaryDatabase = ReturnType<typeof openTemporaryDatabase>

/** @param tables the statements that create its tables; its file is deleted when it is closed. */
export function openTemporaryDatabase(tables: string) {
  // Without a name, it is a temporary file, little of which is in memory.
  const db = new DatabaseSync('')
  db.exec('pragma journal_mode = off; pragma synchronous = off; pragma locking_mode = exclusive')
  db.exec('pragma cache_size = -8192; pragma threads = 2; pragma temp_store = file')
  db.exec(tables)
  db.exec('begin')
  const inserts = new Map<string, StatementSync>()
  const prepared = new Map<string, StatementSync>()

  function prepare(sql: string): StatementSync {
    const statement = db.prepare(sql)
    statement.setReturnArrays(true)
    statement.setAllowUnknownNamedParameters(true)
    return statement
  }

  function prepareOnce(sql: string): StatementSync {
    let statement = prepared.get(sql)
    if (statement === undefined) prepared.set(sql, (statement = prepare(sql)))
    return statement
  }

  function insert(table: string, ...values: readonly StagedValue[]): void {
    let statement = inserts.get(table)
    if (statement === undefined) {
      const row = Array(values.length).fill('?').join()
      inserts.set(table, (statement = db.prepare(`insert into ${table} values (${row})`)))
    }
    statement.run(...values)
  }

  function rows(sql: string, ...values: readonly StagedValue[]) {
    return prepareOnce(sql).all(...values) as unknown as (readonly StagedValue[])[]
  }

  return {
    /** Writes a row to a table. */
    insert,
    /** Runs statements in their order, with values by name. */
    run(sql: string | readonly string[], values: StagedValues = {}): void {
      for (const one of typeof sql === 'string' ? [sql] : sql) prepareOnce(one).run(values)
    },
    /** The rows of a query as arrays of their columns. */
    rows,
    /** The same rows, one after another. */
    iterate(sql: string, ...values: readonly StagedValue[]) {
      // A statement of its own, since a prepared one can only be at one row.
      return prepare(sql).iterate(...values) as unknown as Iterable<readonly StagedValue[]>
    },
    /** The first column of the first row. */
    value: (sql: string, ...values: readonly StagedValue[]) => rows(sql, ...values)[0]?.[0],
    close: () => db.close(),
  }
}
