// Keys in the embedded store.

import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import type { KeyRecord, NewKey, Rotation } from '../keys.ts'
import type { Turn } from '../turn.ts'
import { OperatorError } from '../../operator-error.ts'
import { inTransaction } from './transaction.ts'

const columns = 'id, name, hint, scopes, created_at, expires_at, revoked_at, rate'

/**
 * Gives a row in any case, of nulls where there is no such key: it takes about as long to read as
 * one of a key that is over, so that the time of a refusal hardly tells which of them it was.
 */
export const findKeySql = `select ${columns} from (select 1) left join keys on hash = ?`

/** A row of `keys` as the seam has it. */
export function keyRecord(row: Record<string, SQLOutputValue>): KeyRecord {
  return {
    id: Number(row['id']),
    name: String(row['name']),
    hint: String(row['hint']),
    scopes:
      row['scopes'] === null ? undefined : (JSON.parse(String(row['scopes'])) as readonly string[]),
    createdAt: Number(row['created_at']),
    expiresAt: optionalNumber(row['expires_at']),
    revokedAt: optionalNumber(row['revoked_at']),
    rate: row['rate'] === null ? undefined : String(row['rate']),
  }
}

function optionalNumber(value: SQLOutputValue | undefined): number | undefined {
  return value === null || value === undefined ? undefined : Number(value)
}

export async function addKey(db: DatabaseSync, key: NewKey, turn: Turn): Promise<void> {
  await inTransaction(db, turn, () => {
    if (findInUse(db, key.name, key.createdAt) !== undefined) {
      throw new OperatorError(
        `a key named ${key.name} is in use; revoke it first, rotate it, or choose another`,
      )
    }
    insertKey(db, key)
  })
}

export async function rotateKey(
  db: DatabaseSync,
  name: string,
  now: number,
  rotate: (replaced: KeyRecord) => Rotation,
  turn: Turn,
): Promise<boolean> {
  return inTransaction(db, turn, () => {
    const replaced = findInUse(db, name, now)
    if (replaced === undefined) return false
    const { key, othersEndAt } = rotate(replaced)
    // One that a rotation before this one has left, too; none is given a later end than it had.
    db.prepare(
      `update keys set expires_at = min(coalesce(expires_at, $end), $end)
       where name = $name and revoked_at is null`,
    ).run({ name, end: othersEndAt })
    insertKey(db, { ...key, scopes: replaced.scopes, rate: replaced.rate })
    return true
  })
}

/** The youngest key of a name that is in use; a rotation leaves several. */
function findInUse(db: DatabaseSync, name: string, now: number): KeyRecord | undefined {
  const row = db
    .prepare(
      `select ${columns} from keys
       where name = ? and revoked_at is null and (expires_at is null or expires_at > ?)
       order by id desc limit 1`,
    )
    .get(name, now)
  return row && keyRecord(row)
}

function insertKey(db: DatabaseSync, key: NewKey): void {
  db.prepare(
    `insert into keys (name, hint, hash, scopes, created_at, expires_at, rate)
     values (?, ?, ?, ?, ?, ?, ?)`,
  ).run(
    key.name,
    key.hint,
    key.hash,
    key.scopes === undefined ? null : JSON.stringify(key.scopes),
    key.createdAt,
    key.expiresAt ?? null,
    key.rate ?? null,
  )
}

export function listKeys(db: DatabaseSync): KeyRecord[] {
  return db.prepare(`select ${columns} from keys order by id`).all().map(keyRecord)
}

export async function revokeKey(
  db: DatabaseSync,
  name: string,
  now: number,
  turn: Turn,
): Promise<boolean> {
  return inTransaction(db, turn, () => {
    const revoke = db.prepare(
      'update keys set revoked_at = ? where name = ? and revoked_at is null',
    )
    return revoke.run(now, name).changes > 0
  })
}
