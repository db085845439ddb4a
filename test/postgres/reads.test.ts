// Reads of PostgreSQL that do not share a snapshot, while the store changes in between.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '../../src/resources/index.ts'
import { openGate } from '../../src/store/postgres/citus/gate.ts'
import { openPool } from '../../src/store/postgres/connect.ts'
import { createSnapshots } from '../../src/store/postgres/pool-rows.ts'
import { createReads } from '../../src/store/postgres/reads.ts'
import { readCompany } from '../../src/store/serving/company.ts'
import { createValueCounts } from '../../src/store/serving/value-counts.ts'
import type { Snapshot } from '../../src/store/sql/database.ts'
import { importRows, makePlace } from '../support/import-rows.ts'
import { onCitus, patientBounds, storeAt } from '../support/store-at.ts'
import { prune } from '../support/write-store.ts'

test(
  'a company is of a pruned version, not without records, if it is pruned meanwhile',
  { skip: onCitus },
  async (t) => {
    const { db } = makePlace(t)
    for (const name of ['first', 'second']) {
      await importRows(db, 'employees', [{ id: 1, company_id: 7, name }])
    }
    const pool = openPool(storeAt(db), patientBounds)
    t.after(() => pool.end())
    const reads = createReads(pool, { gate: openGate, even: undefined })
    const { ofVersions } = createSnapshots(pool, reads, undefined)
    const rows: Snapshot['rows'] = async (sql, ...values) => {
      if (sql.includes('from heads')) await prune(db)
      return ofVersions.rows(sql, ...values)
    }
    const asked = { companyId: 7, version: 1, resources }
    const found = await readCompany({ ...ofVersions, rows }, asked, createValueCounts())
    assert.deepEqual(found, { outside: 'pruned', earliest: 2, latest: 2 })
  },
)
