// Counts the use of keys in a file next to the store: one row per key and hour.

import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { makeFile, privateMode } from '../../files/new-file.ts'
import { OperatorError } from '../../config/operator-error.ts'
import { hourOf, type KeyUsage, type KeyUse, type KeyUses, midnightOf } from '../keys.ts'
import { isBusy, isNoDatabase, onFile, storeError } from './errors.ts'
import { isBlank, isMissing, openAsItIs } from './open.ts'
import { pragma, writeAtOnce } from './statements.ts'
import { watchPath } from './transaction.ts'
import { enterWal } from './wal.ts'

/** `DOSU`: the `PRAGMA application_id` of a usage file. */
const applicationId = 0x444f5355

/** How long a reader waits for another process, in milliseconds. */
const busyMs = 1_000
/** How long a writer waits before it tries again. */
const retryMs = 20

/** The `user_version`, raised whenever the table changes its meaning. */
const format = 2

const dayHours = 24
const monthHours = 30 * dayHours
/** One day more than is queried. */
const keptHours = 31 * dayHours

// The store's random id separates the counts of two registries that have used the same file name.
const table = `
  create table uses (
    store_id text not null,
    key_id integer not null,
    hour integer not null,
    requests integer not null,
    last_used_at integer not null,
    primary key (store_id, key_id, hour)
  ) without rowid;

  pragma application_id = ${applicationId};
  pragma user_version = ${format};
`

const addSql = `
  insert into uses (store_id, key_id, hour, requests, last_used_at)
    values ($store, $key, $hour, $requests, $at)
  on conflict do update set requests = requests + excluded.requests,
    last_used_at = max(last_used_at, excluded.last_used_at)`

// The last hour of a key is kept forever, to find keys that have not been used for a year.
const forgetSql = `
  delete from uses where store_id = $store and key_id = $key and hour <= $hour
    and hour < (select max(hour) from uses where store_id = $store and key_id = $key)`

const readSql = `
  select key_id as keyId, max(last_used_at) as lastUsedAt,
    coalesce(sum(requests) filter (where hour > $hour - ${dayHours}), 0) as requestsLastDay,
    coalesce(sum(requests) filter (where hour > $hour - ${monthHours}), 0) as requestsLast30Days
  from uses where store_id = $store group by key_id`

/**
 * Writes uses to the file, which the first call opens, and creates if it does not exist.
 *
 * @param mode the permissions of a new file.
 */
export function createUsageWriter(path: string, storeId: string, mode = privateMode) {
  const file = keepOpen(path, () => openFile(path, { mode }))

  function addNow(uses: readonly KeyUse[], now: number): void {
    const db = file.db()
    const [add, forget] = [db.prepare(addSql), db.prepare(forgetSql)]
    writeAtOnce(db, () => {
      for (const { keyId: key, hour, requests, lastUsedAt: at } of uses) {
        add.run({ store: storeId, key, hour, requests, at })
        forget.run({ store: storeId, key, hour: hourOf(now) - keptHours })
      }
    })
  }

  return {
    /** Whether what is added would be lost: the file was replaced or removed meanwhile. */
    isReplaced: file.isReplaced,
    /**
     * Adds uses, all or none, and deletes those of their keys that are older than 31 days.
     *
     * @param waitMs how long to wait, between turns of the event loop, for others that write.
     * @throws if it cannot be written: an OperatorError if there is advice, else the error.
     */
    async add(uses: readonly KeyUse[], now: number, waitMs: number): Promise<void> {
      const until = performance.now() + waitMs
      for (;;) {
        try {
          addNow(uses, now)
          return
        } catch (error) {
          if (isBusy(error) && performance.now() < until) await sleep(retryMs)
          else {
            file.close()
            throw storeError(path, error)
          }
        }
      }
    },
    /** Closes the file, which the next call of `add` opens again. */
    close: () => file.close(),
  }
}

/** Keeps a file open, from its first use until it is closed. */
function keepOpen(path: string, open: () => DatabaseSync) {
  let opened: { readonly db: DatabaseSync; readonly isReplaced: () => boolean } | undefined
  return {
    db: () => (opened ??= { db: open(), isReplaced: watchPath(path) }).db,
    isReplaced: () => opened?.isReplaced() === true,
    close(): void {
      opened?.db.close()
      opened = undefined
    },
  }
}

/**
 * The recorded use of each key of a store; empty if no server has written any yet.
 *
 * @param now in milliseconds since 1970.
 */
export function readUsage(path: string, storeId: string, now: number): readonly KeyUsage[] {
  if (isMissing(path)) return []
  using db = openAsItIs(path, (how) => openFile(path, { readOnly: true, how }))
  try {
    return db.prepare(readSql).all({ store: storeId, hour: hourOf(now) }) as unknown as KeyUsage[]
  } catch (error) {
    throw storeError(path, error)
  }
}

const usesOfKeySql = `
  select coalesce(sum(requests) filter (where hour >= $midnight), 0) as today,
    coalesce(sum(requests), 0) as last30Days
  from uses where store_id = $store and key_id = $key and hour > $hour - ${monthHours}`

/** Reads the uses of single keys; a file that does not exist yet has none. */
export function openUsageReader(path: string, storeId: string) {
  const file = keepOpen(path, () => openFile(path, { readOnly: true }))
  return {
    /** @param now in milliseconds since 1970. */
    readUses(keyId: number, now: number): KeyUses {
      if (file.isReplaced()) file.close()
      if (isMissing(path)) return { today: 0, last30Days: 0 }
      const hour = hourOf(now)
      const values = { store: storeId, key: keyId, hour, midnight: midnightOf(hour) }
      return file.db().prepare(usesOfKeySql).get(values) as unknown as KeyUses
    },
    close: () => file.close(),
  }
}

interface Opening {
  readonly readOnly?: boolean
  /** The permissions of a new file. */
  readonly mode?: number
  /** What follows the file in its URL. */
  readonly how?: string
}

/** Only a reader waits for the lock of another process. */
function openFile(
  path: string,
  { readOnly = false, mode = privateMode, how = '' }: Opening,
): DatabaseSync {
  let db: DatabaseSync | undefined
  // SQLite would call a folder a failing disk.
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) throw otherFile(path)
  try {
    if (!readOnly) onFile(path, () => makeFile(path, mode))
    const at = new URL(`${pathToFileURL(path).href}${how}`)
    db = new DatabaseSync(at, { readOnly, timeout: readOnly ? busyMs : 0 })
    if (!readOnly && isBlank(db)) createTable(db)
    if (pragma(db, 'application_id') !== applicationId || pragma(db, 'user_version') !== format) {
      throw otherFile(path)
    }
    return db
  } catch (error) {
    db?.close()
    throw isNoDatabase(error) ? otherFile(path) : storeError(path, error)
  }
}

function createTable(db: DatabaseSync): void {
  enterWal(db, 0)
  writeAtOnce(db, () => {
    // Another server may have created it meanwhile.
    if (isBlank(db)) db.exec(table)
  })
}

function otherFile(path: string): OperatorError {
  const advice = 'name another file with --usage-db'
  return new OperatorError(`${path} does not hold key usage of this version; ${advice}`)
}
