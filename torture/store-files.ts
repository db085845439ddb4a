// The files of a store: SQLite keeps its log and the log's index next to it.

import { copyFileSync, existsSync, rmSync, statSync } from 'node:fs'

const endings = ['', '-wal', '-journal', '-shm'] as const

/** Removes a store with the files that SQLite keeps next to it. */
export function removeStore(db: string): void {
  for (const ending of endings) rmSync(db + ending, { force: true })
}

/** Makes `to` what would be left of `from` after a reboot: the log's index, in memory, is lost. */
export function copyStore(from: string, to: string): void {
  removeStore(to)
  for (const ending of ['', '-wal', '-journal']) {
    if (existsSync(from + ending)) copyFileSync(from + ending, to + ending)
  }
}

/** The size of a file; 0 if it does not exist. */
export function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}
