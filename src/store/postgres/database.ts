// A session of PostgreSQL, as used by the logic that both stores share.

import type { Client } from 'pg'
import type { RegistryDatabase } from '../registry-connection.ts'
import type { Row } from '../sql/database.ts'
import { untilDecided } from './citus-undecided.ts'
import { dialect, spreadDialect } from './dialect.ts'
import { bind, writeIn } from './parameters.ts'
import { tablesOf } from './tables.ts'
import { inTransaction, withWriteLock } from './transaction.ts'

const batchSize = 1_000

// Changes of keys wait for each other, but not for imports.
const lockKeys = 'lock table keys in share row exclusive mode'

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
        : withWriteLock(client, db, wait, async () => {
            if (isSpread) await untilDecided(db, wait)
            return work()
          }),
  }
}
