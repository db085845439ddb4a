// A session of PostgreSQL, as used by the logic that both stores share.

import type { Client } from 'pg'
import type { Database, Row } from '../sql/database.ts'
import type { Dialect } from '../sql/dialect.ts'
import { dialect as together } from './dialect.ts'
import { isCreation, runStep } from './citus-tables.ts'
import { untilDecided } from './citus-undecided.ts'
import { bind, writeIn } from './parameters.ts'
import { inTransaction, withWriteLock } from './transaction.ts'

const batchSize = 1_000

// Changes of keys wait for each other, but not for imports.
const lockKeys = 'lock table keys in share row exclusive mode'

/** @param dialect that of Citus if its tables are spread. */
export function databaseOf(client: Client, db: string, dialect: Dialect = together): Database {
  return {
    dialect,
    run: async (sql, values = {}) =>
      dialect.isSpread && isCreation(sql)
        ? runStep(client, writeIn(sql, values))
        : ((await client.query(bind(sql, values))).rowCount ?? 0),
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
            if (dialect.isSpread) await untilDecided(db, wait)
            return work()
          }),
  }
}
