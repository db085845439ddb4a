// Puts a backup in the place of a store.
//
// A store is overwritten by one transaction of its own log: servers go on, see the old state or the
// new one, and a kill leaves either. A file put in its place instead would be read with the log and
// the locks of the old one by processes that still have that one open.

import { existsSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { flush } from '../../files/new-file.ts'
import { nameUnfinished } from '../../files/unfinished.ts'
import { OperatorError } from '../../config/operator-error.ts'
import type { RestoreWatch } from '../inspecting.ts'
import { backUp, copyPages, refuseOldLog } from './backup.ts'
import { isBusy, isDamaged, storeError } from './errors.ts'
import { pragma } from './statements.ts'
import { busyMs } from './open.ts'
import { beginWriting, watchFiles } from './transaction.ts'
import { applicationId } from './schema.ts'
import { emptyWal, enterWal } from './wal.ts'

/**
 * Puts a copy in a store's place, and keeps the replaced one next to it.
 *
 * @param copy an open and verified store.
 * @param path the store to replace; it may be missing.
 * @param check throws if the copy must not be restored; the lock of a store that can be opened is
 *   held, and that store is passed.
 * @returns the path of the replaced store; undefined if there was none.
 */
export async function restore(
  copy: DatabaseSync,
  path: string,
  watch: RestoreWatch,
  check: (replaced?: DatabaseSync) => Promise<void>,
): Promise<string | undefined> {
  if (!existsSync(path)) {
    refuseOldLog(path)
    await putFile(copy, path, watch, check)
    return undefined
  }
  refuseItself(copy, path)
  try {
    return await overwrite(copy, path, watch, check)
  } catch (error) {
    if (!isDamaged(error)) throw storeError(path, error)
    throw new OperatorError(
      `${path} is not a store, or too damaged to be overwritten; stop its servers, move it away ` +
        'with its -wal and -journal, and run the command again',
    )
  }
}

const restoring = 'restoring'

function refuseItself(copy: DatabaseSync, path: string): void {
  const source = copy.location() ?? ''
  const [a, b] = [statSync(source), statSync(path)]
  if (a.dev === b.dev && a.ino === b.ino) {
    throw new OperatorError(`${source} is the store itself; name a backup of it`)
  }
}

/**
 * Saves the state of the store under the write lock, and overwrites exactly that state.
 *
 * @returns the path of the saved state.
 */
async function overwrite(
  copy: DatabaseSync,
  path: string,
  watch: RestoreWatch,
  check: (replaced?: DatabaseSync) => Promise<void>,
): Promise<string> {
  const target = openTarget(path, copy)
  const reader = new DatabaseSync(resolve(path), { readOnly: true })
  try {
    for (;;) {
      await beginWriting(target, watch)
      await check(reader)
      const kept = keptPath(path, watch.startedAt)
      const keptState = pragma(reader, 'data_version')
      await backUp(reader, kept, watch.copying('keeping the replaced store'))
      target.exec('rollback')
      let isLocked = false
      try {
        await copyPages(copy, path, watch.copying(restoring), () => {
          if (!isLocked && pragma(reader, 'data_version') !== keptState) throw overtaken
          isLocked = true
        })
        emptyWal(target)
        return kept
      } catch (error) {
        // Another command has written while the lock was free for a moment; or the disk is full.
        rmSync(kept)
        emptyWal(target)
        if (error !== overtaken && !isBusy(error)) throw error
      }
    }
  } finally {
    if (target.isTransaction) target.exec('rollback')
    reader.close()
    target.close()
  }
}

/** Opens a store of any format. */
function openTarget(path: string, copy: DatabaseSync): DatabaseSync {
  const target = new DatabaseSync(resolve(path))
  try {
    target.exec('pragma synchronous = full')
    if (pragma(target, 'application_id') !== applicationId) {
      throw new OperatorError(`${path} is not a Dossier store; check --db, or move it away`)
    }
    if (pragma(target, 'page_size') !== pragma(copy, 'page_size')) {
      throw new OperatorError(
        `${copy.location() ?? ''} has pages of another size; make a copy with: dossier backup`,
      )
    }
    // Without a log, as a killed first import leaves it, our own lock would keep our reader out.
    enterWal(target, busyMs)
    watchFiles(target, [path], 'meanwhile; run the command again')
    return target
  } catch (error) {
    target.close()
    throw error
  }
}

/** Thrown within a copy, which aborts it. */
const overtaken = new Error('another command has written to the store')

/** Puts a new file where there is none. */
async function putFile(
  copy: DatabaseSync,
  path: string,
  watch: RestoreWatch,
  check: () => Promise<void>,
): Promise<void> {
  // Another restore may be doing the same.
  using next = nameUnfinished(path, 'restoring')
  await backUp(copy, next.path, watch.copying(restoring))
  await check()
  if (existsSync(path)) {
    throw new OperatorError(`another command has created ${path} meanwhile; run the command again`)
  }
  rmSync(`${path}-shm`, { force: true })
  renameSync(next.path, path)
  flush(dirname(resolve(path)))
}

/** A new name under which a replaced store is kept. @param at in milliseconds since 1970. */
function keptPath(path: string, at: number): string {
  const moment = new Date(at).toISOString().slice(0, 19).replace('T', '-').replaceAll(':', '')
  const kept = `${path.replace(/\.db$/, '')}-replaced-${moment}.db`
  return existsSync(kept) ? keptPath(path, at + 1_000) : kept
}
