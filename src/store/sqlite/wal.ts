// The write-ahead log (WAL) of a file: how it begins, and how it is emptied.

import type { DatabaseSync } from 'node:sqlite'
import { isBusy } from './errors.ts'

const retryMs = 10
/** How long the readers of a state before may be waited for, in milliseconds. */
const readersMs = 1_000

/**
 * Has a file keep a write-ahead log (WAL) from now on.
 *
 * Of two processes that ask for it at once, each may hold the lock that the other one waits for;
 * SQLite then gives up at once, whatever `busy_timeout` says. So one that comes second tries again.
 *
 * @throws SQLite's error where another process is in the way for longer than `patienceMs`.
 */
export function enterWal(db: DatabaseSync, patienceMs: number): void {
  const startedAt = performance.now()
  for (;;) {
    try {
      db.exec('pragma journal_mode = wal')
      return
    } catch (error) {
      if (!isBusy(error) || performance.now() - startedAt > patienceMs) throw error
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, retryMs)
  }
}

/**
 * Moves what has been committed from the log into the file, and empties the log.
 *
 * A commit does so by itself, but gives up where somebody reads at that moment: under a loaded
 * server the log would grow with every import, and each page that is still in it costs its readers
 * a copy. Whoever reads a state before for long, such as a backup, is not waited for; then the next
 * import does it.
 */
export function emptyWal(db: DatabaseSync): void {
  const before = Number(db.prepare('pragma busy_timeout').get()?.['timeout'])
  db.exec(`pragma busy_timeout = ${readersMs}`)
  try {
    db.exec('pragma wal_checkpoint(truncate)')
  } catch {
    // What is committed stays so, and a disk that fails is told by whoever next needs it.
  } finally {
    db.exec(`pragma busy_timeout = ${before}`)
  }
}
