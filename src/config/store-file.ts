// The files of a store that is a file: itself, and those that SQLite writes and deletes next to it.

import { realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'

/** What the names of the files of a store end with; some exist only while it is written to. */
export const fileEndings = ['', '-wal', '-shm', '-journal']

/** Whether a path leads to a file of the store at `db`, by whatever name. */
export function isStoreFile(db: string, path: string): boolean {
  const [store, other] = [realPath(db), realPath(path)]
  return fileEndings.some((ending) => other === store + ending)
}

/** The path without links; of a missing file, in its folder without links. */
function realPath(path: string): string {
  const whole = resolve(path)
  return linked(whole) ?? join(linked(dirname(whole)) ?? dirname(whole), basename(whole))
}

function linked(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}
