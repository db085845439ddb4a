// Concurrent readers and writers.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { resources } from '../../src/resources/index.ts'
import { openStoreReader } from '../../src/store/open-store.ts'
import { openForReading } from '../../src/store/sqlite/open.ts'
import {
  importRows,
  makeFolder,
  makePlace,
  query,
  queryStore,
  queryValue,
  writeRows,
} from '../support/import-rows.ts'
import { readListing, readListingHead } from '../support/read-listing.ts'
import { runDossier } from '../support/run-dossier.ts'
import { patientBounds, storeAt, storeKind } from '../support/store-at.ts'
import { makeSoundStore } from '../support/verify-store.ts'

const events = resources.find(({ name }) => name === 'events')

/** A whole listing takes longer than the server's time limit for a request. */
const patience = { ...patientBounds, statementMs: 30_000, waitMs: 30_000 }

/** Events of two companies; `attr` is the import that brought them. */
function rowsOf(attr: string, count: number): object[] {
  return Array.from({ length: count }, (_, n) => ({
    id: n + 1,
    company_id: 1 + (n % 2),
    date: `20${10 + (n % 9)}-01-01`,
    attr,
  }))
}

// The campaigns `readers` and `turns` have the same for SQLite.
const elsewhere = { skip: storeKind === 'sqlite' && 'see survival.test.ts' }

test('a reader during imports always sees one complete state', elsewhere, async (t) => {
  assert.ok(events)
  const { folder, db } = makePlace(t)
  const [many, few] = [2_000, 500]
  await importRows(db, 'events', rowsOf('old', many))
  writeRows(join(folder, 'new.ndjson'), rowsOf('new', few))
  writeRows(join(folder, 'old.ndjson'), rowsOf('old', many))
  const store = await openStoreReader(storeAt(db), patience)
  t.after(() => store.close())
  const state = { isOver: false }
  const imports = (async () => {
    for (const attr of ['new', 'old', 'new']) {
      const args = ['import', 'events', `${attr}.ndjson`, '--snapshot', '--accept']
      assert.equal((await runDossier(folder, args)).code, 0)
    }
    state.isOver = true
  })()
  const seen = new Set<string>()
  let reads = 0
  for (; !state.isOver; reads++) {
    await sleep(40)
    const page = await readListing(store, events, 1, { limit: 100_000 })
    const head = await readListingHead(store, events, 1)
    assert.ok(page && head)
    const records = JSON.parse(`[${page.text}]`) as {
      attr: string
    }[]
    const types = [...new Set(records.map(({ attr }) => attr))]
    assert.equal(types.length, 1, 'never a mixture')
    assert.equal(page.total, records.length)
    assert.equal(records.length, types[0] === 'new' ? few / 2 : many / 2)
    assert.deepEqual(JSON.parse(page.meta ?? ''), [{ type: types[0], count: records.length }])
    assert.ok(head.version >= page.version, 'what is read later is not older')
    seen.add(`${page.version} ${String(types[0])}`)
  }
  await imports
  assert.ok(reads > 10, `${reads} reads`)
  assert.ok(seen.has('1 old') && seen.size > 1, [...seen].join(', '))
})

test('simultaneous imports into a new store all run in turn (G8)', elsewhere, async (t) => {
  const folder = makeFolder(t)
  const ids = [1, 2, 3, 4]
  const runs = await Promise.all(
    ids.map((id) =>
      runDossier(folder, 'import rights -', { input: `{"id":${id},"company_id":7}\n` }),
    ),
  )
  const ends = runs.map(({ code, err }) => (code === 0 ? 'done' : err))
  const expected = ids.map(() => 'done')
  assert.deepEqual(ends, expected)
  const db = join(folder, 'dossier.db')
  const found = query(db, 'select id from rights_view order by id').map(({ id }) => id)
  assert.deepEqual(found, ids)
  assert.equal(queryValue(db, 'select max(version) from imports'), ids.length)
})

// test/postgres/ has the same for PostgreSQL.
if (storeKind === 'sqlite')
  test('the connection that serves cannot write (F15)', async (t) => {
    const db = makeSoundStore(t)
    await importRows(db, 'rights', [{ id: 1, company_id: 7 }])
    const connection = openForReading(db)
    t.after(() => connection.close())
    for (const sql of ['delete from heads', 'create table t (x)', 'pragma user_version = 9']) {
      assert.throws(() => connection.exec(sql), /readonly|read-only/i, sql)
    }
  })

test('each resource has a view with the company and all fields in order, as numbers and text', async (t) => {
  const db = makeSoundStore(t)
  const company = { company_id: 7 }
  for (const { name, fields } of resources) {
    const record = Object.fromEntries(
      Object.entries(fields).map(([field, { example }]) => [field, example]),
    )
    assert.deepEqual((await importRows(db, name, [{ ...company, ...record }])).problems, [])
    const [row] = query(db, `select * from ${name}_view`)
    assert.deepEqual(Object.keys(row ?? {}), ['company_id', ...Object.keys(fields)], name)
    for (const [field, { kind, example }] of Object.entries(fields)) {
      const shown = kind === 'text_list' ? JSON.stringify(example) : example
      assert.equal(row?.[field], shown, `${name}.${field}`)
    }
    const sparse = Object.entries(fields).filter(
      ([, field]) => field.required && field.kind !== 'id',
    )
    const required = Object.fromEntries(sparse.map(([field, { example }]) => [field, example]))
    await importRows(db, name, [{ ...company, ...required, id: 2 }])
    const [empty] = query(db, `select * from ${name}_view where id = 2`)
    for (const [field, { kind }] of Object.entries(fields)) {
      if (field === 'id' || field in required) continue
      assert.equal(empty?.[field], kind === 'text_list' ? '[]' : null, `${name}.${field}`)
    }
  }
})

test('the views have every record of a listing of any length', async (t) => {
  const db = makeSoundStore(t)
  const before = 'long '.repeat(60)
  // The directory of a listing of 2.6 MB has levels.
  const rows = Array.from({ length: 9_000 }, (_, n) => ({
    id: n + 1,
    company_id: n < 8_000 ? 1 : n,
    date: '2020-01-01',
    attr: 'name',
    before,
  }))
  await importRows(db, 'events', rows)
  // With what the database then knows of its tables, it chooses other plans.
  if (storeKind === 'postgres') await queryStore(db, 'analyze')
  const [whole] = await queryStore(db, 'select count(*) as n, sum(id) as ids from events_view')
  assert.deepEqual([Number(whole?.['n']), Number(whole?.['ids'])], [9_000, 4_500 * 9_001])
})
