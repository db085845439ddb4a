// One writer at a time: who comes second waits, and is told so.

import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { isBusy } from './open.ts'

const retryMs = 200

/** Begins a transaction that may write, as soon as no other process holds one. */
export async function beginWriting(db: DatabaseSync, onWait: () => void): Promise<void> {
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
    }
  }
  db.exec('pragma busy_timeout = 5000')
}

/** Runs `work` in a transaction of its own; a throw in it leaves the state before. */
export async function inTransaction<T>(
  db: DatabaseSync,
  onWait: () => void,
  work: () => T,
): Promise<T> {
  await beginWriting(db, onWait)
  try {
    const result = work()
    db.exec('commit')
    return result
  } catch (error) {
    if (db.isTransaction) db.exec('rollback')
    throw error
  }
}
