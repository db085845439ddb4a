// The session of one import into PostgreSQL.

import type { ImportConnection } from '../sql/import.ts'
import { createTables } from '../sql/merge.ts'
import { openSpreadImport } from './citus-import.ts'
import { commit } from './commit.ts'
import { openSession } from './connect.ts'
import { databaseOf } from './database.ts'
import { dialect } from './dialect.ts'
import { createNewCompanies } from './named-companies.ts'
import { writeIn } from './parameters.ts'
import { settle } from './settle.ts'
import { createStage, openStage } from './stage.ts'
import { beginWriting } from './transaction.ts'

// For sorts and hashes of millions of rows; a merge runs few of them at once.
const importSettings = { work_mem: '64MB', maintenance_work_mem: '128MB', temp_buffers: '32MB' }

/**
 * @param filters the number of filter values in a staged row.
 * @param isSpread whether Citus has spread the tables.
 */
export async function openImport(
  db: string,
  filters: number,
  isSpread = false,
): Promise<ImportConnection> {
  const client = await openSession(db, importSettings)
  try {
    if (isSpread) return await openSpreadImport(client, db, filters)
    await client.query(
      [createStage(filters), createNewCompanies, ...createTables(dialect)].join(';'),
    )
  } catch (error) {
    await client.end()
    throw error
  }
  const opened = openStage(client, filters)
  return {
    ...databaseOf(client, db),
    stage: opened.stage,
    step: async (sql, values) => (await client.query(writeIn(sql, values))).rowCount ?? 0,
    begin: (wait) => beginWriting(client, wait),
    commit: () => commit(client, db),
    settle: (written) => settle(client, written),
    async discard() {
      await opened.abandon()
      // When the session ends, the server rolls back, drops temporary tables and frees the lock.
      await client.end().catch(() => undefined)
    },
  }
}
