// `dossier verify` in this process.

import assert from 'node:assert/strict'
import { storedChecks } from '../../src/import/rows/check-stored.ts'
import { resources } from '../../src/resources/index.ts'
import { openStoreInspector } from '../../src/store/open-store.ts'
import type { Verification } from '../../src/store/inspecting.ts'
import { storeAt } from './store-at.ts'

/** Verifies a store, a file or the URL of a PostgreSQL. */
export async function verifyStore(db: string): Promise<Verification> {
  const store = await openStoreInspector(db, resources, true)
  try {
    return await store.verify(storedChecks(resources), () => undefined)
  } finally {
    await store.close()
  }
}

/** Checks that a store has no fault. */
export async function checkSound(db: string): Promise<void> {
  assert.deepEqual((await verifyStore(storeAt(db))).faults, [])
}
