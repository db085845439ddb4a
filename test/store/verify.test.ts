// `dossier verify` finds what is wrong with the contents of a store.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { storedChecks } from '../../src/import/check-stored.ts'
import { resources } from '../../src/resources/index.ts'
import { openStoreInspector } from '../../src/store/open-store.ts'
import { makeChangedRegistry } from '../support/changed-registry.ts'
import { makeFolder } from '../support/import-rows.ts'
import { storeFaults } from '../support/store-faults.ts'
import { changeStore } from '../support/store-state.ts'

async function findFaults(db: string): Promise<readonly string[]> {
  const store = await openStoreInspector(db, resources)
  try {
    return (await store.verify(storedChecks(resources), () => undefined)).faults
  } finally {
    await store.close()
  }
}

for (const [title, sql, told] of storeFaults) {
  test(`F5 verify tells ${title}`, async (t) => {
    const db = await makeChangedRegistry(makeFolder(t))
    assert.deepEqual(await findFaults(db), [])
    changeStore(db, sql)
    assert.match((await findFaults(db)).join('\n'), told)
  })
}
