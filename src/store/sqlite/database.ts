// A connection to SQLite, as used by the logic that both stores share: queries, changes of the
// registry, and what verifying a store takes.

import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import type { RegistryDatabase, ImportConnection, Database, Row, Values } from '../sql/database.ts'
import { dialect, tablesOf } from './tables.ts'
import { inTransaction, beginWriting, commit } from './transaction.ts'
import { emptyWal } from './wal.ts'
import type { Resource } from '../../resources/resource.ts'
import type { StoredChecks, Verification } from '../inspecting.ts'
import type { VerifiedDatabase } from '../history/verify.ts'

const batchSize = 10_000

export function registryOf(db: DatabaseSync): RegistryDatabase {
  return { ...databaseOf(db), tables: tablesOf(db) }
}

export function databaseOf(db: DatabaseSync): Database {
  return {
    dialect,
    run: (sql, values) => Number(prepare(db, sql).run(bound(values)).changes),
    rows: (sql, values) => prepare(db, sql).all(bound(values)),
    *batches(sql) {
      let rows: Row[] = []
      for (const row of db.prepare(sql).iterate()) {
        rows.push(row)
        if (rows.length < batchSize) continue
        yield rows
        rows = []
      }
      yield rows
    },
    // SQLite has one lock for everything.
    async inTransaction(lock, wait, work) {
      const result = await inTransaction(db, wait, work)
      // Large changes to the registry leave a long log.
      if (lock === 'registry') emptyWal(db)
      return result
    },
  }
}

/** Prepares a statement that ignores values which it does not name. */
function prepare(db: DatabaseSync, sql: string): StatementSync {
  const statement = db.prepare(sql)
  statement.setAllowUnknownNamedParameters(true)
  return statement
}

function bound(values: Values = {}): Record<string, SQLInputValue> {
  const entries = Object.entries(values)
  return Object.fromEntries(
    entries.map(([name, value]) => [name, typeof value === 'boolean' ? Number(value) : value]),
  )
}

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

/**
 * Checks everything that is stored, and changes nothing.
 *
 * @param onStep is called often with what is being checked; throwing in it stops the verification.
 */
export async function verify(
  db: DatabaseSync,
  resources: readonly Resource[],
  checks: StoredChecks,
  onStep: (step: string) => void,
): Promise<Verification> {
  // A server never verifies, and does not load the code.
  const { verifyStore } = await import('../history/verify.ts')
  db.exec('begin')
  try {
    const found = await verifyStore(verifiedDatabase(db), resources, checks, onStep)
    return { ...found, notes: [] }
  } finally {
    if (db.isTransaction) db.exec('rollback')
  }
}

function verifiedDatabase(db: DatabaseSync): VerifiedDatabase {
  return {
    ...registryOf(db),
    *damage() {
      for (const { integrity_check: said } of db.prepare('pragma integrity_check').iterate()) {
        if (said !== 'ok') yield String(said)
      }
    },
    damageIn: (error) => (isDamage(error) ? error.message : undefined),
    rules: {},
  }
}

function isDamage(error: unknown): error is Error {
  const code = error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : 0
  // SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_IOERR
  return [10, 11, 26].includes(code)
}
