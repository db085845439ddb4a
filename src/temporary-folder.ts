// Makes folders for temporary files.

import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { OperatorError } from './operator-error.ts'

/** Makes a new folder; its name begins with `dossier-` and the purpose. */
export function makeTemporaryFolder(purpose: string): string {
  try {
    return mkdtempSync(join(tmpdir(), `dossier-${purpose}-`))
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    const why = code === 'ENOENT' ? 'does not exist' : `cannot be used (${code})`
    throw new OperatorError(
      `the folder for temporary files, ${tmpdir()}, ${why}; set TMPDIR to another one`,
    )
  }
}
