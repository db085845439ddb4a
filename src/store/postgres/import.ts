// The session of an import or another change of the registry in PostgreSQL.

import type { Client } from 'pg'
import type { LockWait } from '../lock-wait.ts'
import type { ImportConnection } from '../registry-connection.ts'
import { beginHolding } from './citus-moves.ts'
import { untilDecided } from './citus-undecided.ts'
import { commit } from './commit.ts'
import { openSession } from './connect.ts'
import { registryOf } from './database.ts'
import { beginWriting } from './transaction.ts'

/**
 * One connection to each node: a change is committed on a node in one step, so that its readers
 * never see a part of it.
 */
const spreadSettings = `
  set citus.multi_shard_modify_mode = 'sequential';
  set citus.max_adaptive_executor_pool_size = 1;
  set citus.propagate_set_commands = 'local'`

/**
 * Opens a session for one change of the registry, until it is committed or discarded.
 *
 * @param isSpread whether Citus has distributed the tables over several nodes.
 */
export async function openImport(db: string, isSpread = false): Promise<ImportConnection> {
  const client = await openSession(db)
  // When the session ends, the server rolls back, and frees the lock.
  const end = () => client.end().catch(() => undefined)
  try {
    if (isSpread) await client.query(spreadSettings)
  } catch (error) {
    await end()
    throw error
  }
  return {
    ...registryOf(client, db, isSpread),
    begin: (wait) => (isSpread ? beginSpread(client, db, wait) : beginWriting(client, wait)),
    commit: () => commit(client, db),
    settle: end,
    discard: end,
  }
}

async function beginSpread(client: Client, db: string, wait: LockWait): Promise<void> {
  await beginHolding(client, wait, async (once) => {
    await beginWriting(client, once)
    await untilDecided(db, once)
  })
}
