// Ids that sources give and ids that the store assigns do not collide, in one import or in several.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { importRows, query } from '../support/import-rows.ts'
import { makeSoundStore } from '../support/verify-store.ts'

test('another source may not claim an id that the store assigned, even if it is free', async (t) => {
  const db = makeSoundStore(t)
  await importRows(db, 'rights', [{ key: 'K', company_id: 7 }], { source: 'a' })
  const id = Number(query(db, 'select id from rights_view')[0]?.['id'])
  await importRows(db, 'rights', [{ key: 'L', company_id: 7 }], { source: 'a', isSnapshot: true })
  const claim = await importRows(db, 'rights', [{ id, company_id: 7 }], { source: 'b' })
  assert.match(claim.problems[0]?.reason ?? '', /belongs to a record of the source a/)
})

test('an id from a source is never assigned to another record', async (t) => {
  const db = makeSoundStore(t)
  const taken = 1_000_000_000_005
  await importRows(db, 'rights', [{ id: taken, company_id: 7, name: 'own' }])
  const rows = Array.from({ length: 9 }, (_, n) => ({ key: `k${n}`, company_id: 7, name: `k${n}` }))
  assert.equal((await importRows(db, 'rights', rows)).counts.inserted, 9)
  assert.equal(query(db, 'select count(distinct id) as n from rights_view')[0]?.['n'], 10)
  assert.equal(query(db, `select name from rights_view where id = ${taken}`)[0]?.['name'], 'own')
})

test('an id and keys in one import do not collide', async (t) => {
  const db = makeSoundStore(t)
  const rows = [
    { key: 'k', company_id: 7, name: 'k' },
    { id: 1_000_000_000_001, company_id: 7, name: 'own' },
  ]
  const { counts, problems } = await importRows(db, 'rights', rows)
  assert.deepEqual(problems, [])
  assert.equal(counts.inserted, 2)
})

test('given and assigned company ids do not collide', async (t) => {
  const db = makeSoundStore(t)
  const rows = [
    { id: 1, company_jurisdiction: 'GB', company_identifier: '1' },
    { id: 2, company_id: 1_000_000_000_001 },
  ]
  await importRows(db, 'rights', rows)
  const companies = query(db, 'select company_id from rights_view order by id').map(
    (r) => r['company_id'],
  )
  assert.equal(new Set(companies).size, 2, 'two records of two companies')
})

test('an assigned id is within the allowed range, even if a source uses the greatest id', async (t) => {
  const db = makeSoundStore(t)
  const greatest = Number.MAX_SAFE_INTEGER
  await importRows(db, 'rights', [{ id: greatest, company_id: greatest }], { source: 'a' })
  const row = { key: 'k', company_jurisdiction: 'GB', company_identifier: '1' }
  await importRows(db, 'rights', [row], { source: 'b' })
  for (const table of ['companies', 'rights_view']) {
    const ids = query(db, `select id from ${table}`).map(({ id }) => Number(id))
    const safe = ids.filter((id) => Number.isSafeInteger(id) && id > 0)
    assert.equal(safe.length, 2, table)
  }
})

test('assigned ids are not taken, even if a source has the last id before those ignored', async (t) => {
  const db = makeSoundStore(t)
  const last = 2 ** 52 - 1
  const given = [last, last + 1].map((id) => ({ id, company_id: id, name: String(id) }))
  await importRows(db, 'rights', given)
  for (const n of ['1', '2']) {
    const company = { company_jurisdiction: 'GB', company_identifier: n }
    await importRows(db, 'rights', [{ key: n, name: n, ...company }])
  }
  const rows = query(db, 'select id, company_id, name from rights_view order by id')
  const ids = [0, 1, 2, 3].map((n) => last + n)
  const found = rows.map((row) => [row['id'], row['company_id'], row['name']])
  const expected = ids.map((id, n) => [id, id, n < 2 ? String(id) : String(n - 1)])
  assert.deepEqual(found, expected)
})

test('an import that would assign ids beyond 2^53-1 is refused; others are not', async (t) => {
  const db = makeSoundStore(t)
  const given = [2 ** 52 - 1, Number.MAX_SAFE_INTEGER - 1]
  const rows = given.map((id) => ({ id, company_id: id, name: String(id) }))
  await importRows(db, 'rights', rows)
  const named = (n: string) => ({ company_jurisdiction: 'GB', company_identifier: n })
  const keyed = (n: string) => ({ key: n, name: n, ...named('1') })
  const says = /^no ids are left to assign, since the id 900719925474099\d is in use; give ids in/
  await assert.rejects(importRows(db, 'rights', [keyed('1'), keyed('2')]), { message: says })
  const unknown = ['1', '2'].map((n) => ({ id: Number(n), name: n, ...named(n) }))
  await assert.rejects(importRows(db, 'rights', unknown), { message: says })
  // Of several rows, one needs an id.
  await importRows(db, 'rights', [keyed('1'), keyed('1')])
  await importRows(db, 'rights', [keyed('1'), { ...keyed('1'), ...named('1') }])
  const [last] = query(db, 'select max(id) as id, max(company_id) as company from rights_view')
  const greatest = Number.MAX_SAFE_INTEGER
  assert.deepEqual([Number(last?.['id']), Number(last?.['company'])], [greatest, greatest])
})
