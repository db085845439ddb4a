// New files for what not everybody on the machine may read.

import { closeSync, existsSync, fchmodSync, openSync, statSync } from 'node:fs'

/** Its owner may read and write it, and nobody else may do anything. */
export const privateMode = 0o600

/**
 * Makes an empty file that has exactly these rights, whatever the umask is. A file that is there
 * already stays as it is.
 *
 * @throws what the system says, where the file cannot be made.
 */
export function makeFile(path: string, mode = privateMode): void {
  let file: number
  try {
    file = openSync(path, 'wx', mode)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    // A link to a file that is not there yet.
    if (!existsSync(path)) closeSync(openSync(path, 'a', mode))
    return
  }
  try {
    fchmodSync(file, mode)
  } finally {
    closeSync(file)
  }
}

/** Who may read and write a file, and its owner both; `privateMode` where there is none. */
export function rightsOf(path: string): number {
  const stat = statSync(path, { throwIfNoEntry: false })
  return privateMode | ((stat?.mode ?? 0) & 0o666)
}
