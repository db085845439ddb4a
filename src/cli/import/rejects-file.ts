// The file that receives the refused rows of an import.

import {
  closeSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { resolve } from 'node:path'
import { UsageError } from '../../config/settings.ts'
import type { RejectedRow } from '../../import/import-files.ts'
import { makeFile } from '../../files/new-file.ts'
import { orExplain } from '../../config/operator-error.ts'
import { shellWord } from '../../text/shell-word.ts'

/**
 * Creates the file of refused rows before the import starts, so that it cannot fail at the end. It
 * is removed again unless it is to be kept: the import may have ended before it had read all rows,
 * and the next attempt needs the name.
 */
export function openRejects(path: string, inUse: readonly (string | undefined)[]) {
  if (inUse.some((used) => used !== undefined && resolve(used) === resolve(path))) {
    throw new UsageError(`--rejects ${path} is a file that this import uses; name another`)
  }
  if (path === '-' || path === '') {
    throw new UsageError(`--rejects takes the name of a file, not ${shellWord(path)}`)
  }
  const stat = statOf(path)
  if (stat?.isDirectory() === true) {
    throw new UsageError(`--rejects ${path} is a folder; name a new file, such as ${path}/x.ndjson`)
  }
  if (stat?.isFile() === true && stat.size > 0) {
    throw new UsageError(`--rejects ${path} exists already; name another file, or remove it`)
  }
  const explain = (reason: string) => `${path} cannot be written: ${reason}`
  const file = orExplain(() => {
    makeFile(path)
    // Another import may be about to write to the same file: neither overwrites the other's rows.
    return openSync(path, 'a')
  }, explain)
  let written = 0
  let isKept = false
  const discard = () => {
    const now = fstatSync(file)
    // A pipe cannot be emptied, and what another import has written is not ours to remove.
    if (!now.isFile() || now.size !== written) return
    if (stat === undefined) rmSync(path)
    else ftruncateSync(file)
  }
  return {
    write(rejected: RejectedRow): void {
      const line = Buffer.from(`${JSON.stringify(rejected)}\n`)
      orExplain(() => writeFileSync(file, line), explain)
      written += line.length
    },
    /** Some file systems report only here that they are full. */
    keep: () =>
      orExplain(() => {
        // A pipe has nothing to flush.
        if (fstatSync(file).isFile()) fsyncSync(file)
        isKept = true
      }, explain),
    [Symbol.dispose]() {
      if (!isKept) discard()
      closeSync(file)
    },
  }
}

function statOf(path: string) {
  try {
    return statSync(path)
  } catch {
    return undefined
  }
}
