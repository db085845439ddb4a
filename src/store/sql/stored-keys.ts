// Keys in the database, for both stores.

import { OperatorError } from '../../config/operator-error.ts'
import type { HandOver, KeyRecord, NewKey, Rotation } from '../keys.ts'
import type { LockWait } from '../work-watch.ts'
import { type RegistryDatabase, numberIn } from './database.ts'

export const keyColumns = 'id, name, hint, scopes, created_at, expires_at, revoked_at, rate'

export type KeyColumns = readonly [
  id: number,
  name: string,
  hint: string,
  scopes: string | null,
  createdAt: number,
  expiresAt: number | null,
  revokedAt: number | null,
  rate: string | null,
]

/** Converts a row of `keys`. */
export function keyRecord(row: KeyColumns): KeyRecord {
  const [id, name, hint, scopes, createdAt, expiresAt, revokedAt, rate] = row
  return {
    id,
    name,
    hint,
    createdAt,
    scopes: scopes === null ? undefined : (JSON.parse(scopes) as readonly string[]),
    expiresAt: expiresAt ?? undefined,
    revokedAt: revokedAt ?? undefined,
    rate: rate ?? undefined,
  }
}

/**
 * Adds a key.
 *
 * @param handOver runs once the key is stored.
 * @throws OperatorError if a key of that name is in use.
 */
export async function addKey(
  db: RegistryDatabase,
  key: NewKey,
  wait: LockWait,
  handOver?: HandOver,
): Promise<void> {
  await db.withKeysLocked(wait, async () => {
    if ((await findInUse(db, key.name, key.createdAt)) !== undefined) {
      throw new OperatorError(
        `a key named ${key.name} already exists; rotate it, revoke it, or choose another name`,
      )
    }
    await insertKey(db, key)
  })
  await handOverOrRemove(db, key, wait, handOver)
}

/** Only a stored key is handed over, so a key in a client's hands works. */
async function handOverOrRemove(
  db: RegistryDatabase,
  { name, hash }: Pick<NewKey, 'name' | 'hash'>,
  wait: LockWait,
  handOver: HandOver | undefined,
): Promise<void> {
  try {
    await handOver?.()
  } catch (error) {
    try {
      await db.withKeysLocked(wait, async () => {
        await db.run('delete from keys where hash = $1', hash)
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
 * Adds a key besides the keys in use with its name, and lets these expire.
 *
 * @param rotate receives the newest key in use of that name.
 * @param handOver as for `addKey`; only then do the others expire.
 * @returns false if no key of that name is in use.
 */
export async function rotateKey(
  db: RegistryDatabase,
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
      `update keys set expires_at = case when expires_at < $2 then expires_at else $2 end
       where name = $1 and revoked_at is null and id <= $3`,
      name,
      othersEndAt,
      last,
    )
  })
  return true
}

/** The newest key in use of a name; a rotation leaves several. */
async function findInUse(
  db: RegistryDatabase,
  name: string,
  now: number,
): Promise<KeyRecord | undefined> {
  const keys = await listKeys(db)
  return keys.findLast((key) => {
    return key.name === name && key.revokedAt === undefined && (key.expiresAt ?? Infinity) > now
  })
}

/**
 * Ids grow with time: uses and rates are counted by id, and after a restore a new key must not get
 * the counts of one that is no longer in the store. From here, 31 bits of seconds last until 2088.
 */
const idEpoch = Date.UTC(2020)

async function insertKey(db: RegistryDatabase, key: NewKey): Promise<void> {
  // Not in one statement: SQLite would write a journal of it to a temporary file.
  const last = await numberIn(db, 'select max(id) from keys')
  const id = Math.max(last + 1, Math.floor((key.createdAt - idEpoch) / 1_000))
  const scopes = key.scopes === undefined ? null : JSON.stringify(key.scopes)
  await db.run(
    `insert into keys (id, name, hint, hash, scopes, created_at, expires_at, rate)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    id,
    key.name,
    key.hint,
    key.hash,
    scopes,
    key.createdAt,
    key.expiresAt ?? null,
    key.rate ?? null,
  )
}

export async function listKeys(db: RegistryDatabase): Promise<KeyRecord[]> {
  const rows = await db.rows<KeyColumns>(`select ${keyColumns} from keys order by id`)
  return rows.map(keyRecord)
}

/** Revokes every key of that name; returns false if all are revoked, or there is none. */
export async function revokeKey(
  db: RegistryDatabase,
  name: string,
  now: number,
  wait: LockWait,
): Promise<boolean> {
  return db.withKeysLocked(wait, async () => {
    const sql = 'update keys set revoked_at = $2 where name = $1 and revoked_at is null'
    return (await db.run(sql, name, now)) > 0
  })
}
