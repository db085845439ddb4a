// A schema that pg_restore has put in the place of another one, under a reader that goes on.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '../../src/resources/index.ts'
import { openStoreReader } from '../../src/store/open-store.ts'
import { importRows } from '../support/import-rows.ts'
import { queryServer } from '../support/query-server.ts'
import { schemaPrefix, schemaUrl, testServerUrl } from '../support/store-at.ts'

test('a company is told as the history has it that was restored (9.4)', async (t) => {
  const server = testServerUrl()
  const [served, other] = [`${schemaPrefix}served`, `${schemaPrefix}other`] as const
  const [db, source] = [schemaUrl('served'), schemaUrl('other')]
  t.after(() => queryServer(server, `drop schema if exists ${served}, ${served}_old cascade`))
  for (const [at, status] of [
    [db, served],
    [source, other],
  ] as const) {
    const rows = [1, 2].map((id) => ({ id, company_id: 7, name: 'one', status }))
    await importRows('unused', 'rights', rows, { at })
  }
  const reader = await openStoreReader(db)
  t.after(() => reader.close())
  const told = async () => {
    const found = await reader.readCompany({ companyId: 7, version: undefined, resources })
    assert.ok(found !== undefined && 'listings' in found)
    return { lineage: found.lineage, counts: found.listings[0]?.counts['status'] }
  }
  const before = await told()
  assert.deepEqual(before.counts, [[served, 2]])
  queryServer(
    server,
    `begin; alter schema ${served} rename to ${served}_old;
     alter schema ${other} rename to ${served}; commit`,
  )
  const after = await told()
  assert.deepEqual(after.counts, [[other, 2]])
  assert.notEqual(after.lineage, before.lineage)
})
