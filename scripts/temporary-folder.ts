// The folder of all temporary files of a run of the tests.

import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findMemoryFolder } from '../test/support/memory-folder.ts'

/** Makes it in memory if there is room and TMPDIR is not set; says so if not. */
export function makeTemporaryFolder(): string {
  const { folder, why } = makeInMemory()
  if (folder !== undefined) return folder
  console.log(`temporary files are in ${tmpdir()}, which takes longer on a disk: ${why}`)
  return makeIn(tmpdir())
}

function makeInMemory(): { folder?: string; why?: string } {
  if (process.env['TMPDIR'] !== undefined) return { why: 'TMPDIR is set' }
  const { path, why } = findMemoryFolder()
  if (path === undefined) return { ...(why !== undefined && { why }) }
  const folder = makeIn(path)
  if (runsPrograms(folder)) return { folder }
  rmSync(folder, { recursive: true })
  return { why: `${path} runs no programs` }
}

/** Like /tmp: some tests run the program as another user. */
function makeIn(path: string): string {
  const folder = mkdtempSync(join(path, 'dossier-suite-'))
  chmodSync(folder, 0o1777)
  return folder
}

/** Tests run PostgreSQL, and programs in place of others, from such folders. */
function runsPrograms(folder: string): boolean {
  const program = join(folder, 'program')
  writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 })
  try {
    execFileSync(program)
    return true
  } catch {
    return false
  } finally {
    rmSync(program)
  }
}
