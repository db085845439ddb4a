// A connection to SQLite, as used by the logic that both stores share.

import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import { inBatches } from '../listing/in-batches.ts'
import type { RegistryDatabase, Database, Row, Values } from '../sql/database.ts'
import { tablesOver } from '../sql/tables.ts'
import { listingReadsOf } from './reads.ts'
import { bound, dialect, writerOf } from './tables.ts'
import { inTransaction } from './transaction.ts'

const batchSize = 10_000

export function registryOf(db: DatabaseSync): RegistryDatabase {
  const writer = writerOf(db)
  return { ...writer, ...databaseOf(db), tables: tablesOver(writer, listingReadsOf(db)) }
}

export function databaseOf(db: DatabaseSync): Database {
  return {
    dialect,
    run: (sql, values) => Number(prepare(db, sql).run(boundValues(values)).changes),
    rows: (sql, values) => prepare(db, sql).all(boundValues(values)),
    batches: (sql) => inBatches<Row>(db.prepare(sql).iterate(), batchSize),
    withKeysLocked: (wait, work) => inTransaction(db, wait, work),
  }
}

/** Prepares a statement that ignores values which it does not name. */
function prepare(db: DatabaseSync, sql: string): StatementSync {
  const statement = db.prepare(sql)
  statement.setAllowUnknownNamedParameters(true)
  return statement
}

function boundValues(values: Values = {}): Record<string, SQLInputValue> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, bound(value)]))
}
