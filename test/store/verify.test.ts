// `dossier verify` finds faults in the contents of a store.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeChangedRegistry } from '../support/changed-registry.ts'
import { makeFolder } from '../support/import-rows.ts'
import { storeFaults } from '../support/store-faults.ts'
import { changeStore } from '../support/store-state.ts'
import { verifyStore } from '../support/verify-store.ts'

for (const [title, sql, told] of storeFaults) {
  test(`verify reports ${title} (F5)`, async (t) => {
    const db = await makeChangedRegistry(makeFolder(t))
    assert.deepEqual((await verifyStore(db)).faults, [])
    changeStore(db, sql)
    assert.match((await verifyStore(db)).faults.join('\n'), told)
  })
}
