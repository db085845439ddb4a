// What verifying a store (../verify.ts) needs to be told of SQLite.

import type { DatabaseSync } from 'node:sqlite'
import type { Resource } from '../../resources/resource.ts'
import type { StoredChecks, Verification } from '../store.ts'
import { type VerifiedDatabase, type VerifiedRow, verifyStore } from '../verify.ts'

const batchSize = 10_000

/**
 * Looks at everything that is stored, and changes nothing.
 *
 * @param onStep is called with what is being looked at, often; what it throws ends the work.
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
    *damage() {
      for (const { integrity_check: said } of db.prepare('pragma integrity_check').iterate()) {
        if (said !== 'ok') yield String(said)
      }
    },
    *batches(sql) {
      let rows: VerifiedRow[] = []
      for (const row of db.prepare(sql).iterate()) {
        rows.push(row)
        if (rows.length < batchSize) continue
        yield rows
        rows = []
      }
      yield rows
    },
    damageIn: (error) => (isDamage(error) ? error.message : undefined),
    toldId: `iif(json_valid(record), record ->> 'id', null)`,
    metaOfListings: (name, metaOf) => `
      select company_id, '[' || group_concat(
          '{"type":' || type || ',"count":' || n || '}', ',' order by n desc, type ->> '$'
        ) || ']' as meta
      from (
        select company_id, record -> '${metaOf}' as type, count(*) as n
        from ${name} group by company_id, record -> '${metaOf}'
      ) group by company_id`,
    metaLength: 'json_array_length(h.meta)',
    rules: {},
  }
}

function isDamage(error: unknown): error is Error {
  const code = error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : 0
  // SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_IOERR
  return [10, 11, 26].includes(code)
}
