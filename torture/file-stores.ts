// SQLite stores, for cases.

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Course, ImportCase, WatchedStores } from './cases.ts'
import { sizeWithLog } from '../src/store/sqlite/wal.ts'
import { startDossier } from './processes.ts'
import { readFileState } from './sqlite-state.ts'
import { copyStore, removeStore, sizeOf } from './store-files.ts'

/** The timing of an import into a file. */
export interface FileCourse extends Course {
  /** When it starts to write what it has merged, in milliseconds after its start. */
  readonly writingMs: number
  /** The size of the store and its log beyond which the import is writing, in bytes. */
  readonly writingBytes: number
  /** The size of the store after the import, in bytes. */
  readonly bytes: number
}

export type FileCase = ImportCase<FileCourse>

export const fileStores: WatchedStores<FileCourse> = {
  at: (folder, name) => join(folder, `${name}.db`),
  clear: removeStore,
  copy: copyStore,
  readState: readFileState,
  // The system releases a process's files when it ends.
  faultOfRest: () => Promise.resolve(undefined),
  measure,
  cases: new Map(),
}

/** Runs an import undisturbed, and observes when the store or its log grows. */
async function measure(db: string, args: readonly string[]): Promise<FileCourse> {
  const startedAt = performance.now()
  const sizes: { readonly atMs: number; readonly bytes: number }[] = []
  const { child, ended } = startDossier(args)
  while (child.exitCode === null) {
    sizes.push({ atMs: performance.now() - startedAt, bytes: sizeWithLog(db) })
    await sleep(1)
  }
  const { code, ms, err } = await ended
  if (code !== 0) throw new Error(`the undisturbed import ended with ${String(code)}: ${err}`)
  // Half of the growth: a first load writes a little at its start, when it creates the tables.
  const peak = Math.max(...sizes.map(({ bytes }) => bytes))
  const writingBytes = (peak + (sizes[0]?.bytes ?? 0)) / 2
  const writingMs = sizes.find(({ bytes }) => bytes > writingBytes)?.atMs ?? ms / 2
  return { durationMs: ms, writingMs, writingBytes, bytes: sizeOf(db) }
}
