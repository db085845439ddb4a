// Counts the use of keys in a file beside the store: one row per key and hour.

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { privateMode } from '../../files/new-file.ts'
import { OperatorError } from '../../config/operator-error.ts'
import type { KeyUsage, KeyUses, UsageReader, UsageWriter } from '../keys.ts'
import { hourOf, midnightOf } from '../keys.ts'
import { makeDatabaseFile, storeError } from './errors.ts'
import { isBlank } from './open.ts'
import { enterWal } from './wal.ts'

/** `DOSU`: the `PRAGMA application_id` of a usage file. */
const applicationId = 0x444f5355

/** How long to wait for another process while the file is opened, in milliseconds. */
const busyMs = 1_000

const dayHours = 24
const monthHours = 30 * dayHours
/** One day more than is queried. */
const keptHours = 31 * dayHours

// The store's random id separates the counts of two registries that have used the same file name.
const tables = `
  create table uses (
    hour integer not null,
    store_id text not null,
    key_id integer not null,
    requests integer not null,
    primary key (hour, store_id, key_id)
  ) without rowid;

  -- Kept forever, to find keys that have not been used for a year.
  create table last_uses (
    store_id text not null,
    key_id integer not null,
    used_at integer not null,
    primary key (store_id, key_id)
  ) without rowid;

  pragma application_id = ${applicationId};
  pragma user_version = 1;
`

const addUseSql = `
  insert into uses (hour, store_id, key_id, requests) values ($hour, $store, $key, $requests)
  on conflict do update set requests = requests + excluded.requests`

const addLastUseSql = `
  insert into last_uses (store_id, key_id, used_at) values ($store, $key, $at)
  on conflict do update set used_at = max(used_at, excluded.used_at)`

const readSql = `
  with recent as (
    select key_id, sum(requests) as month,
      sum(requests) filter (where hour > $hour - ${dayHours}) as day
    from uses where hour > $hour - ${monthHours} and store_id = $store group by key_id
  )
  select l.key_id as keyId, l.used_at as lastUsedAt,
    coalesce(r.day, 0) as requestsLastDay, coalesce(r.month, 0) as requestsLast30Days
  from last_uses l left join recent r on r.key_id = l.key_id
  where l.store_id = $store`

/**
 * Opens the file, and creates it if it does not exist.
 *
 * @param mode the permissions of a new file.
 * @throws as `UsageWriter.add`.
 */
export function openUsage(path: string, storeId: string, mode = privateMode): UsageWriter {
  const db = openFile(path, false, mode)
  const addUse = db.prepare(addUseSql)
  const addLastUse = db.prepare(addLastUseSql)
  const forget = db.prepare('delete from uses where hour <= ?')
  return {
    add(uses, now, waitMs) {
      inOneCommit(path, db, waitMs, () => {
        for (const { keyId: key, hour, requests, lastUsedAt: at } of uses) {
          addUse.run({ store: storeId, key, hour, requests })
          addLastUse.run({ store: storeId, key, at })
        }
        forget.run(hourOf(now) - keptHours)
      })
    },
    close: () => db.close(),
  }
}

/**
 * The recorded use of each key of a store; empty if no server has written any yet.
 *
 * @param now in milliseconds since 1970.
 * @throws OperatorError if the file cannot be read.
 */
export function readUsage(path: string, storeId: string, now: number): readonly KeyUsage[] {
  if (!existsSync(path)) return []
  const db = openFile(path, true)
  try {
    return db.prepare(readSql).all({ store: storeId, hour: hourOf(now) }) as unknown as KeyUsage[]
  } catch (error) {
    throw storeError(path, error)
  } finally {
    db.close()
  }
}

// A look-up for each hour: the file has the uses of all keys in the order of hours.
const usesOfKeySql = `
  with recursive hours (hour) as (
    select $hour union all select hour - 1 from hours where hour > $hour - ${monthHours - 1}
  )
  select coalesce(sum(u.requests) filter (where u.hour >= $midnight), 0) as today,
    coalesce(sum(u.requests), 0) as last30Days
  from hours h cross join uses u
  where u.hour = h.hour and u.store_id = $store and u.key_id = $key`

/** Reads the uses of single keys; a file that does not exist yet has none. */
export function openUsageReader(path: string, storeId: string): UsageReader {
  let db: DatabaseSync | undefined
  let read: StatementSync | undefined
  return {
    readUses(keyId, now) {
      if (!existsSync(path)) return { today: 0, last30Days: 0 }
      db ??= openFile(path, true)
      read ??= db.prepare(usesOfKeySql)
      const hour = hourOf(now)
      const values = { store: storeId, key: keyId, hour, midnight: midnightOf(hour) }
      return read.get(values) as unknown as KeyUses
    },
    close: () => db?.close(),
  }
}

function openFile(path: string, readOnly: boolean, mode = privateMode): DatabaseSync {
  let db: DatabaseSync | undefined
  try {
    if (!readOnly) makeDatabaseFile(path, mode)
    db = new DatabaseSync(resolve(path), { readOnly, timeout: busyMs })
    if (!readOnly && isBlank(db)) createTables(path, db)
    if (db.prepare('pragma application_id').get()?.['application_id'] === applicationId) return db
  } catch (error) {
    db?.close()
    throw isNoDatabase(error) ? otherFile(path) : storeError(path, error)
  }
  db.close()
  throw otherFile(path)
}

function createTables(path: string, db: DatabaseSync): void {
  enterWal(db, busyMs)
  inOneCommit(path, db, busyMs, () => {
    // Another server may have created them while this one waited for the lock.
    if (isBlank(db)) db.exec(tables)
  })
}

function inOneCommit(path: string, db: DatabaseSync, waitMs: number, work: () => void): void {
  try {
    db.exec(`pragma busy_timeout = ${waitMs}; begin immediate`)
    work()
    db.exec('commit')
  } catch (error) {
    if (db.isTransaction) db.exec('rollback')
    throw storeError(path, error)
  }
}

function isNoDatabase(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === 26
}

function otherFile(path: string): OperatorError {
  return new OperatorError(`${path} does not hold key usage; name another file with --usage-db`)
}
