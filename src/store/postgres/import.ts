// The session of an import or another change of the registry in PostgreSQL.

import type { ImportConnection } from '../registry-connection.ts'
import { beginSpread } from './citus-hold.ts'
import { watchNodes } from './citus-watch.ts'
import { commit } from './commit.ts'
import { openSession } from './connect.ts'
import { registryOf, spreadSettings } from './database.ts'
import { beginWriting } from './transaction.ts'

/**
 * Opens a session for one change of the registry, until it is committed or discarded.
 *
 * @param isSpread whether Citus has distributed the tables over several nodes.
 */
export async function openImport(db: string, isSpread = false): Promise<ImportConnection> {
  const client = await openSession(db, isSpread ? spreadSettings : {})
  let endWatch: (() => void) | undefined
  // When the session ends, the server rolls back, and frees the lock.
  const end = () => {
    endWatch?.()
    return client.end().catch(() => undefined)
  }
  return {
    ...registryOf(client, db, isSpread),
    begin(wait) {
      if (!isSpread) return beginWriting(client, wait)
      endWatch = watchNodes(client, db, wait)
      return beginSpread(client, db, wait)
    },
    commit: () => commit(client, db),
    settle: end,
    discard: end,
  }
}
