// Keys in PostgreSQL.

import type { Client } from 'pg'
import { OperatorError } from '../../operator-error.ts'
import type { KeyRecord, NewKey, Rotation } from '../keys.ts'
import { inTransaction } from './transaction.ts'

const columns = 'id, name, hint, scopes, created_at, expires_at, revoked_at, rate'

export const findKeySql = `select ${columns} from keys where hash = $1`

/** A row of `keys`, its columns in the order above. */
export type KeyRow = [
  id: number,
  name: string,
  hint: string,
  scopes: string | null,
  createdAt: number,
  expiresAt: number | null,
  revokedAt: number | null,
  rate: string | null,
]

/** A row of `keys` as the seam has it. */
export function keyRecord(row: KeyRow): KeyRecord {
  const [id, name, hint, scopes, createdAt, expiresAt, revokedAt, rate] = row
  return {
    id,
    name,
    hint,
    scopes: scopes === null ? undefined : (JSON.parse(scopes) as readonly string[]),
    createdAt,
    expiresAt: expiresAt ?? undefined,
    revokedAt: revokedAt ?? undefined,
    rate: rate ?? undefined,
  }
}

// Who makes or revokes a key waits for another who does, and for no import.
const lockKeys = 'lock table keys in share row exclusive mode'

export async function addKey(client: Client, db: string, key: NewKey): Promise<void> {
  await inTransaction(client, db, lockKeys, async () => {
    if ((await findInUse(client, key.name, key.createdAt)) !== undefined) {
      throw new OperatorError(
        `a key named ${key.name} is in use; revoke it first, rotate it, or choose another`,
      )
    }
    await insertKey(client, key)
  })
}

export async function rotateKey(
  client: Client,
  db: string,
  name: string,
  now: number,
  rotate: (replaced: KeyRecord) => Rotation,
): Promise<boolean> {
  return inTransaction(client, db, lockKeys, async () => {
    const replaced = await findInUse(client, name, now)
    if (replaced === undefined) return false
    const { key, othersEndAt } = rotate(replaced)
    // One that a rotation before this one has left, too; none is given a later end than it had.
    await client.query(
      `update keys set expires_at = least(coalesce(expires_at, $1), $1)
       where name = $2 and revoked_at is null`,
      [othersEndAt, name],
    )
    await insertKey(client, { ...key, scopes: replaced.scopes, rate: replaced.rate })
    return true
  })
}

/** The youngest key of a name that is in use; a rotation leaves several. */
async function findInUse(
  client: Client,
  name: string,
  now: number,
): Promise<KeyRecord | undefined> {
  const { rows } = await client.query<KeyRow>({
    text: `select ${columns} from keys
      where name = $1 and revoked_at is null and (expires_at is null or expires_at > $2)
      order by id desc limit 1`,
    values: [name, now],
    rowMode: 'array',
  })
  return rows[0] && keyRecord(rows[0])
}

async function insertKey(client: Client, key: NewKey): Promise<void> {
  await client.query(
    `insert into keys (id, name, hint, hash, scopes, created_at, expires_at, rate)
     select coalesce(max(id), 0) + 1, $1, $2, $3, $4, $5, $6, $7 from keys`,
    [
      ...[key.name, key.hint, Buffer.from(key.hash)],
      key.scopes === undefined ? null : JSON.stringify(key.scopes),
      ...[key.createdAt, key.expiresAt ?? null, key.rate ?? null],
    ],
  )
}

export async function listKeys(client: Client): Promise<KeyRecord[]> {
  const text = `select ${columns} from keys order by id`
  const { rows } = await client.query<KeyRow>({ text, rowMode: 'array' })
  return rows.map(keyRecord)
}

export async function revokeKey(
  client: Client,
  db: string,
  name: string,
  now: number,
): Promise<boolean> {
  return inTransaction(client, db, lockKeys, async () => {
    const sql = 'update keys set revoked_at = $1 where name = $2 and revoked_at is null'
    return (await client.query(sql, [now, name])).rowCount !== 0
  })
}
