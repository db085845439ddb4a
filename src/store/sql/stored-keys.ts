// Keys in the database, for both stores.

import { OperatorError } from '../../config/operator-error.ts'
import type { HandOver, KeyRecord, NewKey, Rotation } from '../keys.ts'
import type { LockWait } from '../work-watch.ts'
import { type Database, optionalNumber, optionalText, type Row } from './database.ts'

export const keyColumns = 'id, name, hint, scopes, created_at, expires_at, revoked_at, rate'

/** Converts a row of `keys`. */
export function keyRecord(row: Row): KeyRecord {
  const scopes = optionalText(row['scopes'])
  return {
    id: Number(row['id']),
    name: String(row['name']),
    hint: String(row['hint']),
    scopes: scopes === undefined ? undefined : (JSON.parse(scopes) as readonly string[]),
    createdAt: Number(row['created_at']),
    expiresAt: optionalNumber(row['expires_at']),
    revokedAt: optionalNumber(row['revoked_at']),
    rate: optionalText(row['rate']),
  }
}

/**
 * Adds a key.
 *
 * @param handOver runs once the key is stored.
 * @throws OperatorError if a key of that name is in use.
 */
export async function addKey(
  db: Database,
  key: NewKey,
  wait: LockWait,
  handOver?: HandOver,
): Promise<void> {
  await db.withKeysLocked(wait, async () => {
    if ((await findInUse(db, key.name, key.createdAt)) !== undefined) {
      throw new OperatorError(
        `a key named ${key.name} exists; rotate it, revoke it first, or choose another name`,
      )
    }
    await insertKey(db, key)
  })
  await handOverOrRemove(db, key, wait, handOver)
}

/** Only a stored key is handed over, so a key in a client's hands works. */
async function handOverOrRemove(
  db: Database,
  { name, hash }: Pick<NewKey, 'name' | 'hash'>,
  wait: LockWait,
  handOver: HandOver | undefined,
): Promise<void> {
  try {
    await handOver?.()
  } catch (error) {
    try {
      await db.withKeysLocked(wait, async () => {
        await db.run('delete from keys where hash = $hash', { hash })
      })
    } catch {
      throw new OperatorError(
        `a key named ${name} is stored that could neither be printed nor removed; revoke it`,
      )
    }
    throw error
  }
}

/**
 * Adds a key beside those in use that have its name, and lets those expire.
 *
 * @param rotate receives the newest key in use of that name.
 * @param handOver as for `addKey`; only then do the others expire.
 * @returns false if no key of that name is in use.
 */
export async function rotateKey(
  db: Database,
  name: string,
  now: number,
  rotate: (replaced: KeyRecord) => Rotation,
  wait: LockWait,
  handOver?: HandOver,
): Promise<boolean> {
  const added = await db.withKeysLocked(wait, async () => {
    const replaced = await findInUse(db, name, now)
    if (replaced === undefined) return undefined
    const { key, othersEndAt } = rotate(replaced)
    await insertKey(db, { ...key, scopes: replaced.scopes, rate: replaced.rate })
    return { key, othersEndAt, last: replaced.id }
  })
  if (added === undefined) return false
  const { key, othersEndAt, last } = added
  await handOverOrRemove(db, key, wait, handOver)
  // Not before the new key has been handed over. Includes keys left by an earlier rotation; no key
  // gets a later expiry than it had.
  await db.withKeysLocked(wait, async () => {
    await db.run(
      `update keys set expires_at = case when expires_at < $end then expires_at else $end end
       where name = $name and revoked_at is null and id <= $last`,
      { name, end: othersEndAt, last },
    )
  })
  return true
}

/** The newest key in use of a name; a rotation leaves several. */
async function findInUse(db: Database, name: string, now: number): Promise<KeyRecord | undefined> {
  const [row] = await db.rows(
    `select ${keyColumns} from keys
     where name = $name and revoked_at is null and (expires_at is null or expires_at > $now)
     order by id desc limit 1`,
    { name, now },
  )
  return row && keyRecord(row)
}

async function insertKey(db: Database, key: NewKey): Promise<void> {
  // Not in one statement: SQLite would write a journal of it to a temporary file.
  const [last] = await db.rows('select max(id) as id from keys', {})
  await db.run(
    `insert into keys (id, name, hint, hash, scopes, created_at, expires_at, rate)
     values ($id, $name, $hint, $hash, $scopes, $createdAt, $expiresAt, $rate)`,
    {
      id: Number(last?.['id'] ?? 0) + 1,
      name: key.name,
      hint: key.hint,
      hash: key.hash,
      scopes: key.scopes === undefined ? null : JSON.stringify(key.scopes),
      createdAt: key.createdAt,
      expiresAt: key.expiresAt ?? null,
      rate: key.rate ?? null,
    },
  )
}

export async function listKeys(db: Database): Promise<KeyRecord[]> {
  const rows = await db.rows(`select ${keyColumns} from keys order by id`)
  return rows.map(keyRecord)
}

/** Revokes every key of that name; returns false if all are revoked, or there is none. */
export async function revokeKey(
  db: Database,
  name: string,
  now: number,
  wait: LockWait,
): Promise<boolean> {
  return db.withKeysLocked(wait, async () => {
    const sql = 'update keys set revoked_at = $now where name = $name and revoked_at is null'
    return (await db.run(sql, { name, now })) > 0
  })
}
