// One writer at a time: who comes second waits, and is told so.

import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LockWait } from '../lock-wait.ts'
import { isBusy } from './errors.ts'
import { busyMs } from './open.ts'

const retryMs = 200

/** Begins a transaction that may write, as soon as no other process holds one. */
export async function beginWriting(db: DatabaseSync, { onWait, signal }: LockWait): Promise<void> {
  db.exec('pragma busy_timeout = 0')
  let hasWaited = false
  for (;;) {
    try {
      db.exec('begin immediate')
      break
    } catch (error) {
      if (!isBusy(error)) throw error
      if (!hasWaited) onWait()
      hasWaited = true
      await sleep(retryMs)
      signal?.throwIfAborted()
    }
  }
  db.exec(`pragma busy_timeout = ${busyMs}`)
}

/** Commits, or throws and leaves the state before, also for whoever recovers the store later. */
export function commit(db: DatabaseSync): void {
  try {
    db.exec('commit')
  } catch (error) {
    if (db.isTransaction) db.exec('rollback')
    takeBack(db)
    throw error
  }
}

/**
 * A commit whose sync failed has been taken back, but stands in the log: whoever recovers the store
 * after a crash would find it whole. Any small commit writes over its beginning, and then the
 * checksums of the rest are wrong. It goes without a sync, since that is what fails.
 */
function takeBack(db: DatabaseSync): void {
  try {
    db.exec('pragma synchronous = off; begin immediate')
    const version = db.prepare('pragma user_version').get()?.['user_version']
    db.exec(`pragma user_version = ${Number(version)}; commit`)
  } catch {
    // The fault that the commit met says more than that this has met it, too.
    if (db.isTransaction) db.exec('rollback')
  } finally {
    db.exec('pragma synchronous = full')
  }
}

/** Runs `work` in a transaction of its own; a throw in it leaves the state before. */
export async function inTransaction<T>(
  db: DatabaseSync,
  wait: LockWait,
  work: () => Promise<T>,
): Promise<T> {
  await beginWriting(db, wait)
  try {
    const result = await work()
    commit(db)
    return result
  } catch (error) {
    if (db.isTransaction) db.exec('rollback')
    throw error
  }
}
