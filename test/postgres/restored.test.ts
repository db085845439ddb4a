// What changes under a running reader: a schema that pg_restore has put in the place of
// another, and segments that a prune moves out of heads.

import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { resources } from '../../src/resources/index.ts'
import { rights } from '../../src/resources/rights.ts'
import { openStoreReader } from '../../src/store/open-store.ts'
import { openGate } from '../../src/store/postgres/citus/gate.ts'
import { createSnapshots, rowsIn } from '../../src/store/postgres/pool-rows.ts'
import { createReads } from '../../src/store/postgres/reads.ts'
import { listingReads, type Rows, writerOf } from '../../src/store/postgres/tables.ts'
import { readCompany } from '../../src/store/serving/company.ts'
import { createValueCounts } from '../../src/store/serving/value-counts.ts'
import type { Snapshot } from '../../src/store/sql/database.ts'
import { wholeListing } from '../../src/store/selection.ts'
import { importRows, makeFolder } from '../support/import-rows.ts'
import { queryServer } from '../support/query-server.ts'
import { mustRun } from '../support/run-command.ts'
import { poolFor, sessionFor } from '../support/sessions.ts'
import { onCitus, schemaPrefix, schemaUrl, testServerUrl } from '../support/store-at.ts'

/** A reader of a store with so many rights, and what puts another history in its place. */
async function makeHistories(t: TestContext, count: number) {
  const [server, folder] = [testServerUrl(), makeFolder(t)]
  const [served, other] = [`${schemaPrefix}served`, `${schemaPrefix}other`] as const
  const [db, source] = [schemaUrl('served'), schemaUrl('other')]
  t.after(() => queryServer(server, `drop schema if exists ${served}, ${served}_old cascade`))
  for (const [at, status] of [
    [db, 'former'],
    [source, 'latter'],
  ] as const) {
    const rows = Array.from({ length: count }, (_, n) => ({
      id: n + 1,
      company_id: 7,
      name: 'one',
      status,
    }))
    await importRows(`${folder}/extract`, 'rights', rows, { at })
  }
  const reader = await openStoreReader(db)
  t.after(() => reader.close())
  const restore = () =>
    queryServer(
      server,
      `begin; alter schema ${served} rename to ${served}_old;
       alter schema ${other} rename to ${served}; commit`,
    )
  return { db, served, reader, restore }
}

test('a company is served as in the restored history (9.4)', async (t) => {
  const { reader, restore } = await makeHistories(t, 2)
  const told = async () => {
    const found = await reader.readCompany({ companyId: 7, version: undefined, resources })
    assert.ok(found !== undefined && 'listings' in found)
    return { lineage: found.lineage, counts: found.listings[0]?.counts['status'] }
  }
  const before = await told()
  assert.deepEqual(before.counts, [['former', 2]])
  restore()
  const after = await told()
  assert.deepEqual(after.counts, [['latter', 2]])
  assert.notEqual(after.lineage, before.lineage)
})

test('a view is of one history, even if another one is restored before it is made (9.1)', async (t) => {
  const { reader, restore } = await makeHistories(t, 10_001)
  const sort = { field: 'updated_at', direction: 'ascending' } as const
  const read = async (work: () => void) => {
    const begin = () => Promise.resolve(work()).then(() => () => undefined)
    const turns = { asker: 'one', left: new AbortController().signal, begin }
    const found = await reader.readPage({ ...wholeListing(rights, 7), sort }, 0, 1, turns)
    assert.ok(found !== undefined && 'lineage' in found)
    const [, status] = /"status":"(\w+)"/.exec(String(found.records[0])) ?? []
    return { lineage: found.lineage, status }
  }
  let isRestored = false
  const during = await read(() => {
    if (!isRestored) restore()
    isRestored = true
  })
  assert.equal(during.status, 'latter')
  assert.deepEqual(await read(() => undefined), during)
})

// Its snapshots are those of a store that is not distributed.
const here = { skip: onCitus }

test('counts are of one history, even if another is restored meanwhile (8.4)', here, async (t) => {
  const { db, served, restore } = await makeHistories(t, 1_001)
  const pool = poolFor(t, db)
  const reads = createReads(rowsIn(pool, 'once'), openGate)
  const { ofVersions } = createSnapshots(pool, reads)
  const counts = createValueCounts()
  const asked = { companyId: 7, version: undefined, resources }
  const read = (snapshot: Snapshot) => readCompany(snapshot, asked, counts)
  const entries: Snapshot['tables']['entries'] = (...keys) => {
    restore()
    return ofVersions.tables.entries(...keys)
  }
  const during = read({ ...ofVersions, tables: { ...ofVersions.tables, entries } })
  await assert.rejects(during, /the store has another history now/)
  // The former history returns, with its lineage.
  queryServer(
    testServerUrl(),
    `begin; drop schema ${served} cascade;
     alter schema ${served}_old rename to ${served}; commit`,
  )
  const found = await read(ofVersions)
  assert.ok(found !== undefined && 'listings' in found)
  assert.deepEqual(found.listings[0]?.counts['status'], [['former', 1_001]])
})

test('a segment that a prune moves during its look-up is found (9.3)', async (t) => {
  const [db, folder] = [schemaUrl('moved'), makeFolder(t)]
  for (const name of ['former', 'latter']) {
    const rows = [{ id: 1, company_id: 7, name }]
    await importRows(`${folder}/extract`, 'rights', rows, { at: db })
  }
  // The head of the third version names the segment that the first one holds.
  await mustRun(folder, `revert 2 --db ${db}`)
  const client = await sessionFor(t, db)
  const { rows } = writerOf(client, false)
  let statements = 0
  const pruneAfterFirst: Rows = async (...statement) => {
    const found = await rows<never>(...statement)
    statements += 1
    if (statements === 1) await mustRun(folder, `prune --keep 0d --yes --db ${db}`)
    return found
  }
  const [texts] = await listingReads(pruneAfterFirst).texts(7, [1])
  assert.match(String(texts), /"name":"former"/)
})
