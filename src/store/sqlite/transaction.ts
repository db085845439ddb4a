// One writer at a time: a second one waits, and is notified of that. None writes to a file that has
// been replaced.

import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LockWait } from '../work-watch.ts'
import { isBusy } from './errors.ts'
import { busyMs } from './open.ts'
import { pragma } from './statements.ts'
import { statSync } from 'node:fs'
import { OperatorError } from '../../config/operator-error.ts'

const retryMs = 200

/**
 * Begins a transaction that may write, as soon as no other process holds the lock.
 *
 * @throws OperatorError if the file was replaced by another one, which would not get the changes.
 */
export async function beginWriting(db: DatabaseSync, wait: LockWait): Promise<void> {
  db.exec('pragma busy_timeout = 0')
  await untilFree(wait, () => {
    try {
      // With a log, others can still read. Without one, they must not: a server that opened the
      // file before it is written would stall from then on.
      db.exec('begin exclusive')
      checkFiles(db)
    } catch (error) {
      if (db.isTransaction) db.exec('rollback')
      throw error
    }
  })
  db.exec(`pragma busy_timeout = ${busyMs}`)
}

/** Does work as soon as no other process holds the lock that it needs. */
export async function untilFree<T>(
  { onWait, signal }: LockWait,
  work: () => T | Promise<T>,
): Promise<T> {
  for (let isWaiting = false; ; isWaiting = true) {
    try {
      return await work()
    } catch (error) {
      if (!isBusy(error)) throw error
    }
    if (!isWaiting) onWait()
    await sleep(retryMs)
    signal?.throwIfAborted()
  }
}

/** Commits. If it throws, nothing is changed, not even by a recovery after a crash. */
export function commit(db: DatabaseSync): void {
  try {
    db.exec('commit')
  } catch (error) {
    if (db.isTransaction) db.exec('rollback')
    if (pragma(db, 'journal_mode') === 'wal') invalidateInLog(db)
    throw error
  }
}

/**
 * A commit whose sync failed was rolled back, but is still in the log, where recovery after a crash
 * would find it complete. Any small commit overwrites its beginning, which invalidates the
 * checksums of the rest. It is made without a sync, because syncs are what fails.
 */
function invalidateInLog(db: DatabaseSync): void {
  try {
    db.exec('pragma synchronous = off; begin immediate')
    db.exec(`pragma user_version = ${Number(pragma(db, 'user_version'))}; commit`)
  } catch {
    // The error of the failed commit says more than this one.
    if (db.isTransaction) db.exec('rollback')
  } finally {
    db.exec('pragma synchronous = full')
  }
}

/** Runs `work` in a transaction of its own; rolls back if it throws. */
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

/** The checks of connections that are watched. */
const pathChecks = new WeakMap<DatabaseSync, () => void>()

/**
 * Watches the paths of an open store: a file that was replaced can still be read and written, but
 * nobody else would see the changes.
 *
 * @param advice is for the OperatorError of `checkFiles`.
 */
export function watchFiles(db: DatabaseSync, paths: readonly string[], advice: string): void {
  const watched = paths.map((path) => ({ path, isReplaced: watchPath(path) }))
  pathChecks.set(db, () => {
    const replaced = watched.find(({ isReplaced }) => isReplaced())
    if (replaced !== undefined) throw new OperatorError(`${replaced.path} was replaced ${advice}`)
  })
}

/** @throws OperatorError if a watched file of the store was replaced or removed. */
export function checkFiles(db: DatabaseSync): void {
  pathChecks.get(db)?.()
}

/** Returns a check whether a file was created, replaced or removed since. */
export function watchPath(path: string): () => boolean {
  const before = statSync(path, { throwIfNoEntry: false })
  return () => {
    const now = statSync(path, { throwIfNoEntry: false })
    return now?.ino !== before?.ino || now?.dev !== before?.dev
  }
}
