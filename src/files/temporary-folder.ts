// Makes folders and files for temporary data.

import { mkdtempSync, openSync, rmdirSync, unlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { OperatorError } from '../config/operator-error.ts'
import { privateMode } from './new-file.ts'

/** Makes a new folder; its name begins with `dossier-` and the purpose. */
export function makeTemporaryFolder(purpose: string): string {
  try {
    return mkdtempSync(join(tmpdir(), `dossier-${purpose}-`))
  } catch (error) {
    throw temporaryError(error)
  }
}

/** Makes a file without a name, which is gone when it is closed; returns its descriptor. */
export function openTemporaryFile(purpose: string): number {
  const folder = makeTemporaryFolder(purpose)
  const path = join(folder, 'rows')
  try {
    const file = openSync(path, 'wx+', privateMode)
    unlinkSync(path)
    return file
  } catch (error) {
    throw temporaryError(error)
  } finally {
    rmdirSync(folder)
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOSPC: 'is full',
  EDQUOT: 'is full',
  EFBIG: 'is beyond a limit on the size of files (ulimit -f)',
}

/** An error of the folder for temporary files, with advice. */
export function temporaryError(error: unknown): OperatorError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
  const why = reasons[code] ?? `cannot be used (${code})`
  return new OperatorError(
    `the folder for temporary files, ${tmpdir()}, ${why}; set TMPDIR to another one`,
  )
}
