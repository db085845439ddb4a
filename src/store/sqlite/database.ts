// A connection to SQLite, as used by the logic that both stores share.

import type { DatabaseSync } from 'node:sqlite'
import { inBatches } from '../listing/in-batches.ts'
import type { RegistryDatabase } from '../sql/database.ts'
import { tablesOver } from '../sql/tables.ts'
import { listingReadsOf } from './reads.ts'
import { prepareRow } from './statements.ts'
import { writerOf } from './tables.ts'
import { inTransaction } from './transaction.ts'

const batchSize = 10_000

export function registryOf(db: DatabaseSync): RegistryDatabase {
  const writer = writerOf(db)
  return {
    ...writer,
    tables: tablesOver(writer, listingReadsOf(db)),
    batches: (sql) => inBatches(prepareRow(db, sql).iterate(), batchSize) as never,
    withKeysLocked: (wait, work) => inTransaction(db, wait, work),
  }
}
