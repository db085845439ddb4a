// Queries that see one state of a file. A transaction cannot stay open for them, since all requests
// share a connection: it is checked afterwards that no other process has committed meanwhile.

import type { DatabaseSync } from 'node:sqlite'
import type { InSnapshot, Snapshot } from '../sql/snapshot.ts'
import { dialect } from './dialect.ts'
import { keepStatements, numbered, prepareRow } from './statements.ts'

/** How often work is done again; imports are seconds apart, the work takes milliseconds. */
const attemptsMax = 5

export function createSnapshots(db: DatabaseSync): InSnapshot {
  const prepare = keepStatements((sql) => prepareRow(db, numbered(sql)))
  const state = prepareRow(db, 'pragma data_version')
  const stateNow = () => (state.get() as unknown as [number])[0]

  // The rows of queries without parameters, which ask for the state of the registry: the same until
  // another process commits. What was read too late is dropped by the next attempt.
  const constant = new Map<string, readonly unknown[]>()
  let stateOfConstant = NaN

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
