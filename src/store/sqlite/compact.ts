// Writes a store anew without its free room, while others read it.

import { statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import type { LockWait } from '../work-watch.ts'
import type { Compacted } from '../writing.ts'
import { isBusy } from './errors.ts'
import { beginWriting } from './transaction.ts'
import { emptyWal } from './wal.ts'

/**
 * Rewrites the whole file, in place: `vacuum` is one transaction of the log, so a kill leaves the
 * file as it was, and servers go on. What was deleted before files were overwritten
 * (`secure_delete`) is gone afterwards, too. On a full disk, what it wrote is removed.
 */
export async function compact(db: DatabaseSync, wait: LockWait): Promise<Compacted> {
  const bytesBefore = sizeOf(db)
  try {
    await vacuum(db, wait)
  } catch (error) {
    // The log has what was written until the disk was full, and no commit follows to empty it.
    emptyWal(db)
    throw error
  }
  const isEmptied = emptyWal(db)
  return {
    bytesBefore,
    bytesAfter: sizeOf(db),
    notes: isEmptied
      ? []
      : ['A reader keeps an earlier state; the room is given back by the next import after it.'],
  }
}

/** `vacuum` begins its own transaction, so the lock is free for a moment before it. */
async function vacuum(db: DatabaseSync, wait: LockWait): Promise<void> {
  for (;;) {
    await beginWriting(db, wait)
    db.exec('rollback')
    try {
      db.exec('vacuum')
      return
    } catch (error) {
      if (!isBusy(error)) throw error
    }
  }
}

/** The bytes of the file and its log. */
function sizeOf(db: DatabaseSync): number {
  const path = db.location() ?? ''
  const sizes = ['', '-wal'].map(
    (ending) => statSync(path + ending, { throwIfNoEntry: false })?.size ?? 0,
  )
  return sizes.reduce((sum, size) => sum + size)
}
