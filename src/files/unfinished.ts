// Temporary files and folders next to the file that they become or help to make. Their names
// contain the process's number, so that a later command can remove what a killed process has left.

import { randomBytes } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { systemCode } from '../config/operator-error.ts'

type Ending = 'part' | 'restoring' | 'withholding'

const unfinished =
  /\.(\d{1,10})\.[\da-f]{8}\.(?:part|restoring|withholding)(?:-journal|-wal|-shm)?$/

/** The files and folders of this process. */
const current = new Set<string>()

/**
 * Names a new file or folder next to a path. It and SQLite's files next to it are removed at the
 * end, unless it has been renamed.
 */
export function nameUnfinished(
  path: string,
  ending: Ending,
): Disposable & { readonly path: string } {
  removeAbandoned(dirname(resolve(path)))
  const own = `${path}.${process.pid}.${randomBytes(4).toString('hex')}.${ending}`
  current.add(basename(own))
  return {
    path: own,
    [Symbol.dispose]() {
      for (const end of ['', '-journal', '-wal', '-shm']) remove(own + end)
      current.delete(basename(own))
    },
  }
}

/** Removes the unfinished files and folders in a folder whose processes have ended. */
export function removeAbandoned(folder: string): void {
  for (const name of readdirSync(folder)) {
    const [own, pid] = unfinished.exec(name) ?? []
    if (own === undefined || isRunning(Number(pid))) continue
    if ([...current].some((one) => name.startsWith(one))) continue
    remove(join(folder, name))
  }
}

function remove(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true })
  } catch {
    // Another command removes it, of the user to whom it belongs: an error here would hide others.
  }
}

/** Whether another process has this number: in a container, each command may have the same one. */
export function isRunning(pid: number): boolean {
  if (pid === process.pid) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return systemCode(error) === 'EPERM'
  }
}
