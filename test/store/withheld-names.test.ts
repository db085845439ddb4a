// A company whose texts are withheld is known again by whatever name it has (contract 13).

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { resources } from '../../src/resources/index.ts'
import { openStoreWriter } from '../../src/store/open-store.ts'
import { importRows, makeFolder } from '../support/import-rows.ts'
import { makeApp } from '../support/make-app.ts'
import { storeAt } from '../support/store-at.ts'
import { storeBytes } from '../support/store-state.ts'
import { checkSound } from '../support/verify-store.ts'
import { one as oneVersion, revert, withhold } from '../support/write-store.ts'

const jane = 'Jáne Doe-Smith'
const named = { jurisdiction: 'GB', identifier: '1' }

test('words are withheld in what comes by a name that the company has got since', async (t) => {
  const app = await makeApp(t)
  const db = join(app.store.folder, 'registry.db')
  await importRows(db, 'rights', [{ id: 1, company_id: 7, name: 'R', holders: [jane] }])
  await withhold(db, 'mask', { resource: 'rights', field: 'holders', value: jane })
  await importRows(db, 'companies', [{ id: 7, ...named, name: 'X Ltd' }])
  await importRows(db, 'companies', [{ ...named, name: `${jane} Ltd` }])
  assert.match((await app.ask('/api/v1/companies/GB:1')).text, /"id":7,.*"name":"\[withheld\] Ltd"/)
  assert.equal((await storeBytes(db)).includes(jane), false)
  await checkSound(db)
})

test('words are withheld in a company that a revert has forgotten, should it come back', async (t) => {
  const app = await makeApp(t)
  const db = join(app.store.folder, 'registry.db')
  await importRows(db, 'companies', [{ ...named, name: `${jane} Ltd` }])
  await revert(db, oneVersion(1))
  await withhold(db, 'mask', { company: ['GB', '1'], text: jane })
  await importRows(db, 'companies', [{ ...named, name: `${jane} Ltd` }])
  assert.match((await app.ask('/api/v1/companies/GB:1')).text, /"name":"\[withheld\] Ltd"/)
  assert.equal((await storeBytes(db)).includes(jane), false)
  await checkSound(db)
})

test('an import is refused if a company with withheld words got a name meanwhile', async (t) => {
  const db = join(makeFolder(t), 'registry.db')
  await importRows(db, 'rights', [{ id: 1, company_id: 7, name: 'R', holders: [jane] }])
  await withhold(db, 'mask', { resource: 'rights', field: 'holders', value: jane })
  const store = await openStoreWriter(storeAt(db), resources)
  t.after(() => store.close())
  const session = await store.beginImport({
    target: { name: 'companies', resource: undefined },
    ...{ source: 'default', nameAttribute: undefined, isSnapshot: false, unit: 'row' },
    ...{ knownCompaniesOnly: false, asOf: undefined, recording: undefined },
    ...{ startedAt: Date.now(), onWait: () => undefined },
  })
  await importRows(db, 'companies', [{ id: 7, ...named, name: 'X Ltd' }])
  const late = session.prepare(() => undefined)
  await assert.rejects(late, /what is withheld has changed while this import read its files/)
  await session.discard()
})
