// The connection of one import into SQLite.

import type { DatabaseSync } from 'node:sqlite'
import type { ImportConnection } from '../sql/import.ts'
import { createTables } from '../sql/merge.ts'
import { databaseOf } from './database.ts'
import { dialect } from './dialect.ts'
import { createStage, openStage } from './stage.ts'
import { beginWriting, commit } from './transaction.ts'
import { emptyWal } from './wal.ts'

/** Makes a connection one import's own, until that is committed or discarded. */
export function openImport(db: DatabaseSync): ImportConnection {
  // What an earlier import of this connection has left.
  dropTemporaryTables(db)
  for (const sql of [createStage, ...createTables(dialect)]) db.exec(sql)
  // Rows that are staged in one transaction are not written to disk one by one.
  db.exec('begin')
  const database = databaseOf(db)
  let hasWritten = false
  return {
    ...database,
    stage: openStage(db),
    step: (sql, values) => database.run(sql, values),
    async begin(wait) {
      db.exec('commit')
      await beginWriting(db, wait)
      hasWritten = true
    },
    commit: () => commit(db),
    settle: () => emptyWal(db),
    discard() {
      if (db.isTransaction) db.exec('rollback')
      // A large merge has overflown into the log.
      if (hasWritten) emptyWal(db)
    },
  }
}

function dropTemporaryTables(db: DatabaseSync): void {
  const tables = db.prepare(`select name from temp.sqlite_schema where type = 'table'`).all()
  for (const { name } of tables) db.exec(`drop table temp.${String(name)}`)
}
