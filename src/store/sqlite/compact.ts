// Rewrites a store without its free space, while others read it.

import { dirname, resolve } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { removeAbandoned } from '../../files/unfinished.ts'
import type { LockWait } from '../work-watch.ts'
import type { Compacted } from '../writing.ts'
import { isBusy } from './errors.ts'
import { beginWriting } from './transaction.ts'
import { emptyWal, sizeWithLog } from './wal.ts'

/**
 * Rewrites the whole file in place: `vacuum` is one transaction of the log, so a kill leaves the
 * file as it was, and servers go on. Afterwards nothing is left of content that was deleted without
 * being overwritten (`secure_delete`), nor of the files of killed commands. On a full disk, what it
 * wrote is removed.
 */
export async function compact(db: DatabaseSync, wait: LockWait): Promise<Compacted> {
  const path = db.location() ?? ''
  removeAbandoned(dirname(resolve(path)))
  const bytesBefore = sizeWithLog(path)
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
    bytesAfter: sizeWithLog(path),
    notes: isEmptied
      ? []
      : ['A reader still uses an earlier state; the next import after it frees the space.'],
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
