// `dossier verify` in this process.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { storedChecks } from '../../src/import/rows/check-stored.ts'
import { resources } from '../../src/resources/index.ts'
import { openStoreInspector } from '../../src/store/open-store.ts'
import type { Verification } from '../../src/store/inspecting.ts'
import { makeFolder } from './import-rows.ts'
import { storeAt } from './store-at.ts'

/** Verifies a store, a file or the URL of a PostgreSQL. */
export async function verifyStore(db: string): Promise<Verification> {
  await using store = await openStoreInspector(db, resources, true)
  return await store.verify(storedChecks(resources), () => undefined)
}

/** Checks that a store has no fault. */
export async function checkSound(db: string): Promise<void> {
  assert.deepEqual((await verifyStore(storeAt(db))).faults, [])
}

/** The path of a store in a folder of its own; the store must be sound when the test ends. */
export function makeSoundStore(t: { after(work: () => Promise<void>): void }): string {
  const checkFirst = (remove: () => void) =>
    t.after(async () => {
      try {
        await checkSound(db)
      } finally {
        remove()
      }
    })
  const db = join(makeFolder({ after: checkFirst }), 'sound.db')
  return db
}
