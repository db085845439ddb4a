// The parts of verifying a store (../history/verify.ts) that are specific to SQLite.

import type { DatabaseSync } from 'node:sqlite'
import type { Resource } from '../../resources/resource.ts'
import type { StoredChecks, Verification } from '../inspecting.ts'
import { type VerifiedDatabase, verifyStore } from '../history/verify.ts'
import { registryOf } from './database.ts'

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
