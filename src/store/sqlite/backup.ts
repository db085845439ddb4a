// Copies a store while others read and write it.

import { existsSync, renameSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { backup, type DatabaseSync } from 'node:sqlite'
import { isAbsent } from '../../files/absent.ts'
import { flush, makeFile, rightsOf } from '../../files/new-file.ts'
import { nameUnfinished } from '../../files/unfinished.ts'
import { isStoreFile } from '../../config/store-file.ts'
import { OperatorError } from '../../config/operator-error.ts'
import type { CopyWatch } from '../inspecting.ts'
import { storeError } from './errors.ts'
import { pragma } from './statements.ts'

/** A few MiB: after each step, progress is reported, and the copy may be aborted. */
const pagesPerStep = 128

/**
 * Copies the store as it is at one moment, and returns the copy's size in bytes.
 *
 * The copy gets its name only when it is complete and on disk. An existing file is refused, so that
 * none is ever half replaced. The copy gets the store's read and write permissions.
 *
 * @throws OperatorError if the file exists or cannot be written; the signal's reason.
 */
export async function backUp(db: DatabaseSync, path: string, watch: CopyWatch): Promise<number> {
  const folder = dirname(resolve(path))
  try {
    // SQLite would delete a copy with the name of the store's journal.
    if (isStoreFile(db.location() ?? '', path)) {
      throw new OperatorError(`${path} is a file of the store; name another`)
    }
    if (isAbsent(folder)) throw new OperatorError(`${folder} does not exist; create it first`)
    refuseExisting(path)
    // Another backup may be writing under the same name.
    using part = nameUnfinished(path, 'part')
    makeFile(part.path, rightsOf(db.location() ?? ''))
    await copyPages(db, part.path, watch)
    flush(part.path)
    refuseExisting(path)
    renameSync(part.path, path)
    flush(folder)
    return statSync(path).size
  } catch (error) {
    watch.signal.throwIfAborted()
    throw explain(path, error)
  }
}

function refuseExisting(path: string): void {
  if (!isAbsent(path)) {
    throw new OperatorError(`${path} already exists; name a new file for the copy`)
  }
  refuseOldLog(path)
}

/** What SQLite adds to a file's name for what a killed command has written of it. */
export const logEndings = ['-wal', '-journal']

/** Refuses a path next to which SQLite would find the changes of a file that was there before. */
export function refuseOldLog(path: string): void {
  const log = logEndings.map((end) => path + end).find((name) => existsSync(name))
  if (log === undefined) return
  throw new OperatorError(
    `${log} is left over from another store and may have its changes; ` +
      'move it to where that store is now, or delete it',
  )
}

/**
 * Copies the pages of a store as it is at one moment.
 *
 * @param check is called at each step; what it throws ends the copy.
 */
export async function copyPages(
  db: DatabaseSync,
  path: string,
  watch: CopyWatch,
  check: () => void = () => undefined,
): Promise<void> {
  const pageBytes = Number(pragma(db, 'page_size'))
  const pages = Number(pragma(db, 'page_count'))
  watch.onProgress(0, pages * pageBytes)
  // Without a snapshot, SQLite would start again whenever another process commits between steps.
  db.exec('begin')
  try {
    db.prepare('select count(*) from sqlite_schema').get()
    await backup(db, resolve(path), {
      // In two steps at least: after the first one, the copy holds the write lock of its file.
      rate: Math.min(pagesPerStep, Math.ceil(pages / 2)),
      progress({ totalPages, remainingPages }) {
        watch.signal.throwIfAborted()
        check()
        watch.onProgress((totalPages - remainingPages) * pageBytes, totalPages * pageBytes)
      },
    })
  } finally {
    db.exec('rollback')
  }
}

function explain(path: string, error: unknown): unknown {
  const known = storeError(path, error)
  if (known instanceof OperatorError || !(error instanceof Error)) return known
  return new OperatorError(`${path} cannot be written: ${error.message}`, { cause: error })
}
