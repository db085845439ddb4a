// A new file's way into write-ahead logging.

import type { DatabaseSync } from 'node:sqlite'
import { isBusy } from './errors.ts'

const retryMs = 10

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
