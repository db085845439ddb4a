// The connection of one import into SQLite.

import type { DatabaseSync } from 'node:sqlite'
import type { ImportConnection } from '../sql/import.ts'
import { createTables } from '../sql/merge.ts'
import { databaseOf } from './database.ts'
import { dialect } from './dialect.ts'
import { createStage, openStage } from './stage.ts'
import { beginWriting, commit } from './transaction.ts'
import { emptyWal } from './wal.ts'

/**
 * Prepares a connection for one import, until that is committed or discarded.
 *
 * @param filters the number of filter values in a staged row.
 */
export function openImport(db: DatabaseSync, filters: number): ImportConnection {
  // From an earlier import on this connection.
  dropTemporaryTables(db)
  for (const sql of [createStage(filters), ...createTables(dialect)]) db.exec(sql)
  // Staging in one transaction avoids a disk write per row.
  db.exec('begin')
  const database = databaseOf(db)
  let hasWritten = false
  return {
    ...database,
    stage: openStage(db, filters),
    step: (sql, values) => database.run(sql, values),
    async begin(wait) {
      db.exec('commit')
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

function dropTemporaryTables(db: DatabaseSync): void {
  const tables = db.prepare(`select name from temp.sqlite_schema where type = 'table'`).all()
  for (const { name } of tables) db.exec(`drop table temp.${String(name)}`)
}
