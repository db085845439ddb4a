// The connection of an import or another change of the registry in SQLite.

import type { DatabaseSync } from 'node:sqlite'
import type { ImportConnection } from '../registry-connection.ts'
import { registryOf } from './database.ts'
import { beginWriting, commit } from './transaction.ts'
import { emptyWal } from './wal.ts'

/** Prepares a connection for one change of the registry, until it is committed or discarded. */
export function openImport(db: DatabaseSync): ImportConnection {
  let hasWritten = false
  return {
    ...registryOf(db),
    async begin(wait) {
      await beginWriting(db, wait)
      hasWritten = true
    },
    commit: () => commit(db),
    settle: () => void emptyWal(db),
    discard() {
      if (db.isTransaction) db.exec('rollback')
      // A large merge spills into the log before it is committed.
      if (hasWritten) emptyWal(db)
    },
  }
}
