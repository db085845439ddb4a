// Reads of PostgreSQL that do not share a snapshot, while the store changes in between.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Pool } from 'pg'
import { resources } from '../../src/resources/index.ts'
import { rights } from '../../src/resources/rights.ts'
import { wholeListing } from '../../src/store/selection.ts'
import { firstSegment } from '../../src/store/listing/directory.ts'
import { readChanges } from '../../src/store/changes/read-changes.ts'
import { openGate } from '../../src/store/postgres/citus/gate.ts'
import { createSnapshots } from '../../src/store/postgres/pool-rows.ts'
import { rowsIn } from '../../src/store/postgres/pool-rows.ts'
import { createReads } from '../../src/store/postgres/reads.ts'
import { readCompany } from '../../src/store/serving/company.ts'
import { createListingReader } from '../../src/store/serving/listings.ts'
import { createValueCounts } from '../../src/store/serving/value-counts.ts'
import type { Snapshot } from '../../src/store/sql/database.ts'
import { importRows, makePlace } from '../support/import-rows.ts'
import { queryServer } from '../support/query-server.ts'
import { poolFor } from '../support/sessions.ts'
import { onCitus, storeAt } from '../support/store-at.ts'
import { one, prune, revert } from '../support/write-store.ts'

const here = { skip: onCitus }

test('a company that is pruned meanwhile is told as pruned, not as empty', here, async (t) => {
  const { db } = makePlace(t)
  for (const name of ['first', 'second']) {
    await importRows(db, 'employees', [{ id: 1, company_id: 7, name }])
  }
  const pool = poolFor(t, storeAt(db))
  const reads = createReads(rowsIn(pool, 'once'), openGate)
  const { ofVersions } = createSnapshots(pool, reads, undefined)
  const rows: Snapshot['rows'] = async (sql, ...values) => {
    if (sql.includes('from heads')) await prune(db)
    return ofVersions.rows(sql, ...values)
  }
  const asked = { companyId: 7, version: 1, resources }
  const found = await readCompany({ ...ofVersions, rows }, asked, createValueCounts())
  assert.deepEqual(found, { outside: 'pruned', earliest: 2, latest: 2 })
})

/** Rights of company 7; 20 of them fill a segment, if the last one is long. */
const rightsOf = (ids: readonly number[]) =>
  ids.map((id) => ({ id, company_id: 7, name: 'x'.repeat(id === 1_019 ? 1_100 : 240) }))

const idsFrom = (first: number, count: number) => Array.from({ length: count }, (_, n) => first + n)

function readOver(t: TestContext, db: string) {
  const pool = poolFor(t, storeAt(db))
  const reader = createListingReader(createReads(rowsIn(pool, 'once'), openGate))
  let statements = 0
  pool.on('acquire', () => (statements += 1))
  /** The ids of the first 100 rights of company 7, and how many statements have read them. */
  const read = async (version?: number) => {
    statements = 0
    const page = await reader.readPage({ ...wholeListing(rights, 7), version }, 0, 100)
    assert.ok(page !== undefined && 'records' in page)
    const texts = page.records.map((bytes) => Buffer.from(bytes).toString())
    page.free?.()
    const records = JSON.parse(`[${texts.join(',')}]`) as { id: number }[]
    return { ids: records.map(({ id }) => id), statements }
  }
  return { pool, read }
}

const heldSql =
  "select count(*)::integer as held from heads where listing = 'rights' and texts is not null"

test('one statement reads a short listing, however it came about', here, async (t) => {
  const { db } = makePlace(t)
  const held = () => queryServer(storeAt(db), heldSql)[0]?.['held']
  await importRows(db, 'rights', rightsOf(idsFrom(1_000, 20)))
  const { read } = readOver(t, db)
  assert.equal(held(), 1)
  assert.deepEqual(await read(), { ids: idsFrom(1_000, 20), statements: 1 })

  await importRows(db, 'rights', rightsOf(idsFrom(1_020, 60)))
  assert.equal(held(), 0, 'its first segment has a row of its own')
  assert.deepEqual(await read(), { ids: idsFrom(1_000, 80), statements: 1 })
  assert.deepEqual(await read(1), { ids: idsFrom(1_000, 20), statements: 1 })

  // The segments that come first have the greatest numbers.
  await importRows(db, 'rights', rightsOf(idsFrom(1, 20)))
  const all = [...idsFrom(1, 20), ...idsFrom(1_000, 80)]
  assert.deepEqual(await read(), { ids: all, statements: 1 })
})

test('one statement reads a short listing that was reverted', here, async (t) => {
  const { db } = makePlace(t)
  await importRows(db, 'rights', rightsOf(idsFrom(1, 5)))
  await importRows(db, 'rights', rightsOf(idsFrom(6, 5)))
  await revert(db, one(2))
  const { read } = readOver(t, db)
  assert.deepEqual(await read(), { ids: idsFrom(1, 5), statements: 1 })
})

test('a short listing is read without the other segments of its company', here, async (t) => {
  const { db } = makePlace(t)
  const others = rightsOf(idsFrom(101, 4_000)).map((row) => ({
    ...row,
    company_id: 10 + (row.id % 100),
  }))
  const more = { company_id: 7, attr: 'name', after: 'x'.repeat(400), date: '2026-01-01' }
  await importRows(
    db,
    'events',
    idsFrom(1, 2_000).map((id) => ({ id, ...more })),
  )
  await importRows(db, 'rights', [...others, ...rightsOf(idsFrom(1, 80))])
  const { pool, read } = readOver(t, db)
  await pool.query('analyze')
  const count = await countRows(pool, 'segments', async () => {
    assert.equal((await read()).ids.length, 80)
  })
  assert.ok(count > 0 && count < 10, `${count} segments`)
})

/** What work adds to a counter of the server, over a pool of one connection. */
async function countOf(pool: Pool, counter: string, work: () => Promise<void>): Promise<number> {
  const counted = async () => {
    await pool.query('select pg_stat_force_next_flush()')
    const { rows } = await pool.query<{ n: number }>(`select (${counter})::integer as n`)
    return rows[0]?.n ?? NaN
  }
  const before = await counted()
  await work()
  return (await counted()) - before
}

/** How many rows of a table work reads through indexes. */
const countRows = (pool: Pool, table: string, work: () => Promise<void>) => {
  const counter = `
    select sum(idx_tup_read) from pg_stat_user_indexes where relid = '${table}'::regclass`
  return countOf(pool, counter, work)
}

test('a company that often changes is read without its former states', here, async (t) => {
  const { db } = makePlace(t)
  await importRows(db, 'companies', idsFrom(1_001, 400).map(named))
  for (let n = 1; n <= 30; n++) {
    await importRows(db, 'companies', [{ ...named(7), name: `Company ${n}` }])
    await importRows(db, 'rights', [{ id: 1, company_id: 7, name: `Right ${n}` }])
  }
  const pool = poolFor(t, storeAt(db))
  const reads = createReads(rowsIn(pool, 'once'), openGate)
  const { ofVersions } = createSnapshots(pool, reads, undefined)
  const asked = { companyId: 7, version: undefined, resources }
  const { tables } = ofVersions
  const [head] = await tables.heads('companies', [7], 61)
  const segments = [firstSegment(head?.directory ?? '') ?? NaN]
  const works = {
    company: async () => {
      const found = await readCompany(ofVersions, asked, createValueCounts())
      assert.ok(found !== undefined && 'company' in found)
      assert.equal(found.company.name, 'Company 30')
    },
    statements: async () => {
      const versions = (await tables.companyStatements([7], 61, 'both')).map((one) => one.version)
      assert.deepEqual(versions, [60])
    },
    segment: async () => {
      assert.equal((await tables.entries(7, segments)).length, 1)
    },
  }
  for (const [name, work] of Object.entries(works)) {
    const before = await countRows(pool, 'heads', work)
    await pool.query('analyze')
    const counts = [before, await countRows(pool, 'heads', work)]
    for (const count of counts) assert.ok(count > 0 && count < 20, `${name}: ${counts.join()}`)
  }
  let heads = 0
  const headsOf: typeof tables.headsOf = async (...span) => {
    const found = await tables.headsOf(...span)
    heads += found.length
    return found
  }
  const found = await readChanges(
    { ...ofVersions, tables: { ...tables, headsOf } },
    {
      since: { version: 59 },
      until: undefined,
      after: undefined,
      hasCompanies: false,
      resources: [rights],
      companyId: 7,
      limit: 10,
    },
  )
  assert.equal('changes' in found && found.changes[0]?.version, 61)
  assert.equal(heads, 1)
})

const named = (id: number) => ({ id, jurisdiction: 'GB', identifier: String(id) })

test('a server that was started before a large import seeks its rows', here, async (t) => {
  const { db } = makePlace(t)
  await importRows(db, 'rights', [{ id: 1, company_id: 7, name: 'x' }])
  const { pool, read } = readOver(t, db)
  await pool.query('analyze')
  await read()
  await importRows(
    db,
    'rights',
    idsFrom(101, 400).map((id) => ({ id, company_id: id, name: 'x' })),
  )
  const scanned = "select seq_tup_read from pg_stat_user_tables where relid = 'heads'::regclass"
  const count = await countOf(pool, scanned, async () => {
    assert.deepEqual((await read()).ids, [1])
  })
  assert.equal(count, 0)
})

test('heads are sought by company, even if a listing is new', here, async (t) => {
  const { db } = makePlace(t)
  await importRows(db, 'companies', idsFrom(1_001, 1_000).map(named))
  const { pool } = readOver(t, db)
  await pool.query('analyze')
  const rows = idsFrom(1_001, 1_000).map((id) => ({ id, company_id: id, name: 'x' }))
  await importRows(db, 'rights', rows)
  const reads = createReads(rowsIn(pool, 'once'), openGate)
  const { tables } = createSnapshots(pool, reads, undefined).ofVersions
  const searches = `
    select idx_scan from pg_stat_user_indexes where indexrelid = 'heads_by_version'::regclass`
  const count = await countOf(pool, searches, async () => {
    assert.equal((await tables.heads('rights', idsFrom(1_001, 100), 2)).length, 100)
  })
  assert.equal(count, 0)
})
