// Stores that are files, for cases: the embedded store.

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Course, ImportCase, WatchedStores } from './cases.ts'
import { startDossier } from './processes.ts'
import { readFileState } from './sqlite-state.ts'
import { copyStore, removeStore, sizeOf } from './store-files.ts'

/** When an import into a file does what. */
export interface FileCourse extends Course {
  /** When it begins to write what it has merged, in milliseconds after its start. */
  readonly writingMs: number
  /** How far the store's log has grown by then, in bytes: larger means that it is writing. */
  readonly writingBytes: number
  /** The size of the store after it. */
  readonly bytes: number
}

export type FileCase = ImportCase<FileCourse>

export const fileStores: WatchedStores<FileCourse> = {
  at: (folder, name) => join(folder, `${name}.db`),
  clear: removeStore,
  copy: copyStore,
  readState: readFileState,
  // What a process holds of files goes with it.
  faultOfRest: () => Promise.resolve(undefined),
  measure,
  cases: new Map(),
}

/** Runs an import undisturbed, and watches when its log grows. */
async function measure(db: string, args: readonly string[]): Promise<FileCourse> {
  const startedAt = performance.now()
  const sizes: { readonly atMs: number; readonly bytes: number }[] = []
  const { child, ended } = startDossier(args)
  while (child.exitCode === null) {
    sizes.push({ atMs: performance.now() - startedAt, bytes: sizeOf(`${db}-wal`) })
    await sleep(1)
  }
  const { code, ms, err } = await ended
  if (code !== 0) throw new Error(`the undisturbed import ended with ${String(code)}: ${err}`)
  // A first load makes the tables at its start: that is not yet what is looked for.
  const writingBytes = Math.max(...sizes.map(({ bytes }) => bytes)) / 3
  const writingMs = sizes.find(({ bytes }) => bytes > writingBytes)?.atMs ?? ms / 2
  return { durationMs: ms, writingMs, writingBytes, bytes: sizeOf(db) }
}
