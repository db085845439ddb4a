// `dossier verify` finds faults in the contents of a store.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { makeChangedRegistry } from '../support/changed-registry.ts'
import { makeFolder } from '../support/import-rows.ts'
import { storeFaults } from '../support/store-faults.ts'
import { keepStore } from '../support/store-state.ts'
import { checkSound, verifyStore } from '../support/verify-store.ts'

const db = await makeChangedRegistry(makeFolder({ after }))
const restore = await keepStore(db)

for (const { title, make, told } of storeFaults) {
  test(`verify reports ${title} (F5)`, async () => {
    await make(db)
    assert.match((await verifyStore(db)).faults.join('\n'), told)
    await restore()
  })
}

test('verify reports nothing of the store without these faults (F5)', async () => {
  await checkSound(db)
})
