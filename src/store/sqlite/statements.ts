// Prepared statements of a connection.

import type { DatabaseSync, StatementSync } from 'node:sqlite'

/**
 * A statement whose rows are arrays, which cost less than objects.
 *
 * @param sql its parameters may be `$1`, `$2` …, which SQLite writes with a question mark.
 */
export function prepareRow(db: DatabaseSync, sql: string): StatementSync {
  // SQLite plans by the value of a bare limit, so each new one would prepare the statement again.
  const limited = sql.replaceAll(/limit (\$\d)/g, 'limit ($1 + 0)')
  const statement = db.prepare(limited.replaceAll(/\$(\d)/g, '?$1'))
  statement.setReturnArrays(true)
  return statement
}

/** Returns a `prepareRow` that prepares each statement when it is first asked for, and keeps it. */
export function keepStatements(db: DatabaseSync): (sql: string) => StatementSync {
  const statements = new Map<string, StatementSync>()
  return (sql) => {
    let statement = statements.get(sql)
    if (statement === undefined) {
      statement = prepareRow(db, sql)
      statements.set(sql, statement)
    }
    return statement
  }
}

/** The value of a setting, or of what SQLite knows about a file. */
export function pragma(db: DatabaseSync, name: string): unknown {
  const [value] = Object.values(db.prepare(`pragma ${name}`).get() ?? {})
  return value
}

/** Writes in one transaction, without a pause in between; rolls back if `work` throws. */
export function writeAtOnce(db: DatabaseSync, work: () => void): void {
  db.exec('begin immediate')
  try {
    work()
    db.exec('commit')
  } catch (error) {
    if (db.isTransaction) db.exec('rollback')
    throw error
  }
}
