// Creates files that only their owner may read, and flushes files to the disk.

import { closeSync, existsSync, fchmodSync, fsyncSync, openSync, statSync } from 'node:fs'
import { systemCode } from '../config/operator-error.ts'

/** Read and write access for the owner only. */
export const privateMode = 0o600
/** The same for a folder. */
export const privateFolderMode = 0o700

/**
 * Creates an empty file with exactly these permissions, whatever the umask. An existing file is
 * left unchanged.
 *
 * @throws the system's error if the file cannot be created.
 */
export function makeFile(path: string, mode = privateMode): void {
  let file: number
  try {
    file = openSync(path, 'wx', mode)
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error
    // A link to a missing file exists, but its target does not.
    if (!existsSync(path)) closeSync(openSync(path, 'a', mode))
    return
  }
  try {
    fchmodSync(file, mode)
  } finally {
    closeSync(file)
  }
}

/** A file's read and write permissions, always including the owner's; 0600 for a missing file. */
export function rightsOf(path: string): number {
  const stat = statSync(path, { throwIfNoEntry: false })
  return privateMode | ((stat?.mode ?? 0) & 0o666)
}

/** Waits until a file, or the list of names in a folder, is on the disk. */
export function flush(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
