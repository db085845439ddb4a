// The demo's registry, which takes seven seconds to make: the first test file of a run that needs
// it makes it, and the others get a copy. `npm test` says where, by DOSSIER_TEST_SHARED.

import { copyFileSync, existsSync, mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { patienceMs } from './until.ts'

/** Called with a registry that has been made, by the file that was the first to ask. */
export type ShareDemo = (db: string) => Promise<void>

/** Claims to be the one that makes it; undefined if another file does, or if nothing is shared. */
export function claimDemo(): ShareDemo | undefined {
  const folder = sharedFolder()
  if (folder === undefined) return undefined
  try {
    mkdirSync(folder)
  } catch {
    return undefined
  }
  return async (db) => {
    const connection = new DatabaseSync(db, { readOnly: true })
    // A server may be writing: a copy of its files would lack what is in the log.
    await backup(connection, join(folder, 'part.db'))
    connection.close()
    renameSync(join(folder, 'part.db'), join(folder, 'registry.db'))
  }
}

/** Copies the registry that another file makes, if it gets ready. */
export async function copyDemo(db: string): Promise<void> {
  const folder = sharedFolder()
  if (folder === undefined) return
  const until = performance.now() + patienceMs
  while (!existsSync(join(folder, 'registry.db')) && performance.now() < until) await sleep(100)
  if (existsSync(join(folder, 'registry.db'))) copyFileSync(join(folder, 'registry.db'), db)
}

function sharedFolder(): string | undefined {
  const shared = process.env['DOSSIER_TEST_SHARED']
  return shared === undefined ? undefined : join(shared, 'dossier-demo')
}
