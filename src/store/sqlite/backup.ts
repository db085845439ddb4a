// A copy of a store, taken while others read it and write it.

import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { backup, type DatabaseSync } from 'node:sqlite'
import { OperatorError } from '../../operator-error.ts'
import { storeError } from './open.ts'

/** All pages in one step: SQLite begins anew where another process commits between two steps. */
const pagesPerStep = 2 ** 31 - 1

/**
 * Copies the store as it stands at one moment; gives the copy's bytes.
 *
 * The copy bears its name only once it is whole and on the disk. Its file is written from the
 * start, so what stood there before is never half-replaced: an existing file is refused.
 *
 * @throws OperatorError where the file exists or cannot be written.
 */
export async function backUp(db: DatabaseSync, path: string): Promise<number> {
  if (existsSync(path)) throw new OperatorError(`${path} exists; name a new file for the copy`)
  const folder = dirname(resolve(path))
  if (!existsSync(folder)) throw new OperatorError(`${folder} does not exist; make it first`)
  const part = `${path}.part`
  rmSync(part, { force: true })
  try {
    await backup(db, part, { rate: pagesPerStep })
    flush(part)
    renameSync(part, path)
    flush(folder)
    return statSync(path).size
  } catch (error) {
    throw explain(path, error)
  } finally {
    for (const ending of ['', '-journal', '-wal', '-shm']) rmSync(part + ending, { force: true })
  }
}

function flush(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

function explain(path: string, error: unknown): unknown {
  const known = storeError(path, error)
  if (known instanceof OperatorError || !(error instanceof Error)) return known
  return new OperatorError(`${path} cannot be written: ${error.message}`, { cause: error })
}
