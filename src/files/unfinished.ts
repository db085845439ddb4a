// Files that a command makes beside what they become, or only for a while. Their names tell which
// process makes them, so that a later command can remove what a killed one has left.

import { randomBytes } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'

type Ending = 'part' | 'restoring' | 'withholding'

const unfinished =
  /\.(\d{1,10})\.[\da-f]{8}\.(?:part|restoring|withholding)(?:-journal|-wal|-shm)?$/

/** Those of this process. */
const inWork = new Set<string>()

/**
 * Names a new file beside a path; it and what SQLite puts beside it are removed at the end, unless
 * it has got another name.
 */
export function nameUnfinished(
  path: string,
  ending: Ending,
): Disposable & { readonly path: string } {
  removeAbandoned(dirname(resolve(path)))
  const own = `${path}.${process.pid}.${randomBytes(4).toString('hex')}.${ending}`
  inWork.add(basename(own))
  return {
    path: own,
    [Symbol.dispose]() {
      for (const end of ['', '-journal', '-wal', '-shm']) rmSync(own + end, { force: true })
      inWork.delete(basename(own))
    },
  }
}

/** Removes the unfinished files in a folder whose processes have ended. */
export function removeAbandoned(folder: string): void {
  for (const name of readdirSync(folder)) {
    const [own, pid] = unfinished.exec(name) ?? []
    if (own === undefined || isRunning(Number(pid))) continue
    if ([...inWork].some((one) => name.startsWith(one))) continue
    try {
      rmSync(join(folder, name), { force: true })
    } catch {
      // It is another user's, who may remove it.
    }
  }
}

/** Whether another process has this number: in a container, each command may have the same one. */
export function isRunning(pid: number): boolean {
  if (pid === process.pid) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
