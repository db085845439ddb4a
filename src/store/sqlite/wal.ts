// The write-ahead log (WAL) of a file: switching it on and off, and emptying it.

import { existsSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { isBusy } from './errors.ts'
import { pragma } from './statements.ts'

const retryMs = 10
/** How long to wait for readers of an earlier state, in milliseconds. */
const readersMs = 1_000

/**
 * Switches a file to a write-ahead log.
 *
 * While another process does this, or writes without a log, SQLite fails immediately, whatever
 * `busy_timeout` says, since each may hold the lock that the other one needs; so this tries again.
 *
 * @throws SQLite's error if another process holds the lock for longer than `waitMs`.
 */
export function enterWal(db: DatabaseSync, waitMs: number): void {
  const startedAt = performance.now()
  for (;;) {
    try {
      db.exec('pragma journal_mode = wal')
      return
    } catch (error) {
      if (!isBusy(error) || performance.now() - startedAt > waitMs) throw error
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, retryMs)
  }
}

/**
 * Switches a file to a rollback journal, unless another connection has it open: a transaction then
 * adds to the file directly, instead of to the log first. Meanwhile nobody else can read, and a
 * kill leaves a file that only a command that writes can open.
 */
export function leaveWal(db: DatabaseSync): void {
  withPatience(db, 0, () => db.exec('pragma journal_mode = delete'))
}

/** Switches a file that has left its log back to it, and empties the log, unless others read. */
export function returnToWal(db: DatabaseSync): void {
  try {
    enterWal(db, readersMs)
  } catch {
    // The next command that writes tries again.
  }
  emptyWal(db)
}

/**
 * Moves committed changes from the log into the file, and empties the log.
 *
 * A commit does so by itself, but not while others read: under load, the log would grow with every
 * import, and readers have to copy each page that is still in it. This does not wait for a long
 * read of an earlier state, such as a backup; the next import tries again.
 *
 * @returns whether the log is empty now.
 */
export function emptyWal(db: DatabaseSync): boolean {
  // Commits are not affected, and a failing disk is reported by its next use.
  return withPatience(db, readersMs, () => pragma(db, 'wal_checkpoint(truncate)') === 0) ?? false
}

/** Waits for others up to so many milliseconds; returns undefined if the work fails. */
function withPatience<T>(db: DatabaseSync, waitMs: number, work: () => T): T | undefined {
  const before = Number(pragma(db, 'busy_timeout'))
  db.exec(`pragma busy_timeout = ${waitMs}`)
  try {
    return work()
  } catch {
    return undefined
  } finally {
    db.exec(`pragma busy_timeout = ${before}`)
  }
}

/** The bytes of a file; 0 if there is none. */
export const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0

/** The bytes of a file and its log. */
export const sizeWithLog = (path: string) => sizeOf(path) + sizeOf(`${path}-wal`)

/** Removes, at its end, the files that reading leaves next to a store; existing ones are kept. */
export function watchLog(path: string): Disposable {
  const hasLog = () => existsSync(`${path}-shm`)
  const hadLog = hasLog()
  return { [Symbol.dispose]: () => !hadLog && hasLog() && removeLog(path) }
}

/**
 * SQLite itself removes these files, under its locks, when the last connection that may write is
 * closed; one that only reads cannot.
 */
function removeLog(path: string): void {
  try {
    // Unlike a path, a URL can say that a store that was moved meanwhile is not made anew.
    using db = new DatabaseSync(new URL(`${pathToFileURL(path).href}?mode=rw`))
    db.exec('select 1 from sqlite_schema limit 1')
  } catch {
    // A folder that may not be written to has no such files.
  }
}
