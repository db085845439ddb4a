// What an import loads is declared as data: a resource that the program does not have passes
// through the usual import.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { resources } from '../../src/resources/index.ts'
import { openStoreInspector } from '../../src/store/open-store.ts'
import { type ImportOptions, importRows, makeFolder, query } from '../support/import-rows.ts'
import { inspections } from '../support/inspections.ts'
import { storeAt } from '../support/store-at.ts'

const declared = [...resources, inspections]

const what =
  'a resource of its own is checked, merged, refused and logged by an import like the others'
test(what, async (t) => {
  const db = join(makeFolder(t), 'registry.db')
  const load = (rows: readonly object[], options?: ImportOptions) =>
    importRows(db, 'inspections', rows, {
      ...{ resources: declared, source: 'list', knownCompaniesOnly: true, ...options },
    })
  const company = { jurisdiction: 'GB', identifier: '1' }
  await importRows(db, 'companies', [company], { resources: declared })
  const own = { company_jurisdiction: 'GB', company_identifier: '1' }
  const known = ['passed', 'failed'].map((outcome, n) => ({ ...own, id: n + 1, outcome }))
  const unknown = { ...own, company_identifier: '3', id: 3, outcome: 'passed' }

  const refused = await load([...known, unknown])
  assert.equal(refused.version, undefined)
  assert.deepEqual(
    refused.problems.map(({ number, field, reason }) => ({ number, field, reason })),
    [{ number: 3, field: 'company_identifier', reason: 'is not in the registry' }],
  )

  const withoutOutcome = { ...own, id: 4 }
  const loaded = await load([...known, unknown, withoutOutcome], { onRejected: () => undefined })
  assert.deepEqual([loaded.version, loaded.counts.inserted, loaded.counts.refused], [2, 2, 2])
  assert.equal((await load(known)).counts.unchanged, 2)
  const stolen = await load(known.slice(0, 1), { source: 'other' })
  assert.match(stolen.problems[0]?.reason ?? '', /belongs to a record of the source list/)
  const removed = await load(known.slice(1), { isSnapshot: true })
  assert.deepEqual([removed.counts.unchanged, removed.counts.removed], [1, 1])
  assert.deepEqual(
    query(db, 'select id, outcome from inspections_view').map((row) => Object.values(row)),
    [[2, 'failed']],
  )

  const inspector = await openStoreInspector(storeAt(db), declared)
  try {
    assert.deepEqual(
      (await inspector.listImports(10)).map(({ target, source }) => [target, source]),
      [...Array<string[]>(3).fill(['inspections', 'list']), ['companies', 'default']],
    )
  } finally {
    await inspector.close()
  }
})
