// Queries that see one state of a file. A transaction cannot stay open for them, since all requests
// share a connection: it is checked afterwards that no other process has committed meanwhile.

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { InSnapshot, Snapshot } from '../sql/snapshot.ts'
import { dialect } from './dialect.ts'

/** How often work is done again; imports are seconds apart, the work takes milliseconds. */
const attemptsMax = 5

/** A statement with its parameters `$1`, `$2` … as SQLite has them, with a question mark. */
export function numbered(sql: string): string {
  return sql.replaceAll(/\$(\d)/g, '?$1')
}

export function createSnapshots(db: DatabaseSync): InSnapshot {
  const statements = new Map<string, StatementSync>()
  const state = db.prepare('pragma data_version')
  state.setReturnArrays(true)
  const stateNow = () => (state.get() as unknown as [number])[0]

  // The rows of queries without parameters, which ask for the state of the registry: the same until
  // another process commits. What was read too late is dropped by the next attempt.
  const constant = new Map<string, readonly unknown[]>()
  let stateOfConstant = NaN

  function prepare(sql: string): StatementSync {
    const known = statements.get(sql)
    if (known !== undefined) return known
    const statement = db.prepare(numbered(sql))
    statement.setReturnArrays(true)
    statements.set(sql, statement)
    return statement
  }

  const snapshot: Snapshot = {
    dialect,
    rows<Row>(sql: string, ...parameters: readonly (string | number)[]) {
      if (parameters.length > 0) return prepare(sql).all(...parameters) as unknown as Row[]
      const rows = constant.get(sql) ?? prepare(sql).all()
      constant.set(sql, rows)
      return rows as unknown as Row[]
    },
  }

  return async (work) => {
    for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
      const before = stateNow()
      if (before !== stateOfConstant) constant.clear()
      stateOfConstant = before
      const result = await work(snapshot)
      if (stateNow() === before) return result
    }
    throw new Error(`the store has changed during each of ${attemptsMax} attempts to read it`)
  }
}
