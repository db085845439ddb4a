// A session of PostgreSQL, as used by the logic that both stores share: the parameters of its
// statements, and changes of the registry.

import type { Client } from 'pg'
import type { RegistryDatabase, ImportConnection } from '../sql/database.ts'
import { beginDistributed } from './citus/hold.ts'
import { tablesOver } from '../sql/tables.ts'
import { binaryQuery, listingReads, writerOf } from './tables.ts'
import { beginWithKeys, beginWriting, commit, inTransaction } from './transaction.ts'

const batchSize = 1_000

/**
 * Settings of a session that writes to the nodes of Citus: one connection to each node, so that a
 * change is committed there in one step, and its readers never see a part of it.
 */
export const distributedSettings = {
  'citus.multi_shard_modify_mode': 'sequential',
  'citus.max_adaptive_executor_pool_size': 1,
}

/** @param isDistributed whether Citus has distributed the tables over several nodes. */
export function registryOf(client: Client, db: string, isDistributed = false): RegistryDatabase {
  const writer = writerOf(client, isDistributed)
  let cursors = 0
  return {
    ...writer,
    tables: tablesOver(writer, listingReads(writer.rows)),
    run: async (sql, ...values) => (await client.query(binaryQuery(sql, values))).rowCount ?? 0,
    async *batches<Row extends readonly unknown[]>(sql: string) {
      const cursor = `batches_${(cursors += 1)}`
      await client.query(`declare ${cursor} no scroll cursor for ${sql}`)
      for (;;) {
        const rows = await writer.rows<Row>(`fetch ${batchSize} from ${cursor}`)
        yield rows
        if (rows.length < batchSize) break
      }
      await client.query(`close ${cursor}`)
    },
    withKeysLocked: (wait, work) => inTransaction(client, db, wait, work, beginWithKeys),
  }
}

/** Makes one change of the registry in a session, which ends when it is committed or discarded. */
export function importIn(client: Client, db: string, isDistributed: boolean): ImportConnection {
  // When the session ends, the server rolls back, and frees the lock.
  const end = () => client.end().catch(() => undefined)
  const registry = registryOf(client, db, isDistributed)
  return {
    ...registry,
    begin: (wait) =>
      isDistributed ? beginDistributed(client, db, wait) : beginWriting(client, wait),
    commit: () => commit(client, db).then(end),
    discard: end,
  }
}
