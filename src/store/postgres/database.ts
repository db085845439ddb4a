// A session of PostgreSQL, as used by the logic that both stores share.

import type { Client } from 'pg'
import type { RegistryDatabase } from '../registry-connection.ts'
import type { Row } from '../sql/database.ts'
import type { LockWait } from '../lock-wait.ts'
import { beginSpread } from './citus-hold.ts'
import { watchNodes } from './citus-watch.ts'
import { dialect, spreadDialect } from './dialect.ts'
import { bind, writeIn } from './parameters.ts'
import { tablesOf } from './tables.ts'
import { inTransaction, withWriteLock } from './transaction.ts'

const batchSize = 1_000

// Changes of keys wait for each other, but not for imports.
const lockKeys = 'lock table keys in share row exclusive mode'

/**
 * Settings of a session that writes to the nodes of Citus: one connection to each node, so that a
 * change is committed there in one step, and its readers never see a part of it.
 */
export const spreadSettings = {
  'citus.multi_shard_modify_mode': 'sequential',
  'citus.max_adaptive_executor_pool_size': 1,
}

/** @param isSpread whether Citus has distributed the tables over several nodes. */
export function registryOf(client: Client, db: string, isSpread = false): RegistryDatabase {
  return {
    dialect: isSpread ? spreadDialect : dialect,
    tables: tablesOf(client, isSpread),
    run: async (sql, values = {}) => (await client.query(bind(sql, values))).rowCount ?? 0,
    rows: async (sql, values = {}) => (await client.query<Row>(bind(sql, values))).rows,
    async *batches(sql, values = {}) {
      await client.query(`declare batches no scroll cursor for ${writeIn(sql, values)}`)
      for (;;) {
        const { rows } = await client.query<Row>(`fetch ${batchSize} from batches`)
        yield rows
        if (rows.length < batchSize) break
      }
      await client.query('close batches')
    },
    inTransaction: (lock, wait, work) =>
      lock === 'keys'
        ? inTransaction(client, db, lockKeys, wait, work)
        : isSpread
          ? withSpreadLock(client, db, wait, work)
          : withWriteLock(client, db, wait, work),
  }
}

async function withSpreadLock<T>(
  client: Client,
  db: string,
  wait: LockWait,
  work: () => Promise<T>,
): Promise<T> {
  const endWatch = watchNodes(client, db, wait)
  try {
    return await withWriteLock(client, db, wait, work, () => beginSpread(client, db, wait))
  } finally {
    endWatch()
  }
}
