// What pruning forgets, and what it keeps (contract 9.3).

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Copy, readServed } from '../support/follower.ts'
import { importRows, query } from '../support/import-rows.ts'
import { withReader } from '../support/open-reader.ts'
import { checkSound, makeSoundStore } from '../support/verify-store.ts'
import { one, prune, revert, withhold } from '../support/write-store.ts'

const companies = [1, 2, 3]

/** What is served of the companies at each version; undefined of one that was pruned. */
const readVersions = (db: string) =>
  withReader(db, async (reader) => {
    const { version, earliestVersion } = await reader.readRegistry()
    const states: (Copy | undefined)[] = []
    for (let one = 1; one <= version; one += 1)
      states.push(one < earliestVersion ? undefined : await readServed(reader, companies, one))
    return states
  })

test('pruning removes exactly what is older than a moment: nothing, some of it, or all', async (t) => {
  const db = makeSoundStore(t)
  for (const name of ['x', 'y', 'z', 'w']) {
    const rows = companies.map((company) => ({ id: company, company_id: company, name }))
    await importRows(db, 'rights', name === 'z' ? rows.slice(1) : rows, { isSnapshot: true })
    // Two imports within a millisecond would have the same time.
    await sleep(5)
  }
  const served = await readVersions(db)
  const none = await prune(db, 0)
  assert.deepEqual([none.earliestVersion, none.forgotten['rights']], [1, 0])
  const [third] = query(db, 'select committed_at from imports where version = 3')
  const some = await prune(db, Number(third?.['committed_at']))
  assert.deepEqual([some.earliestVersion, some.forgotten['rights']], [2, companies.length])
  assert.deepEqual(await readVersions(db), served.with(0, undefined))
  assert.equal((await prune(db)).earliestVersion, 4)
  assert.deepEqual(await readVersions(db), [undefined, undefined, undefined, served[3]])
  assert.equal(query(db, 'select 1 from heads').length, companies.length)
})

test('what later versions share with a pruned one is kept: grown listings, one that was reverted to', async (t) => {
  const db = makeSoundStore(t)
  const rows: object[] = []
  for (let batch = 0; batch < 6; batch += 1) {
    for (let n = 0; n < 20; n += 1)
      rows.push({ id: rows.length + 1, company_id: 1 + batch, name: 'x'.repeat(200) })
    const ofFirst = rows.map((row) => ({ ...row, company_id: 1 }))
    await importRows(db, 'rights', ofFirst, { isSnapshot: true })
  }
  await importRows(db, 'employees', [{ id: 1, company_id: 2, name: 'before' }])
  await importRows(db, 'employees', [{ id: 1, company_id: 2, name: 'after' }])
  await revert(db, one(8))
  const served = await readVersions(db)
  for (let kept = 2; kept <= 9; kept += 1) {
    const [row] = query(db, `select committed_at from imports where version = ${kept + 1}`)
    await prune(db, Number(row?.['committed_at'] ?? Date.now() + 1))
    assert.deepEqual((await readVersions(db)).slice(kept - 1), served.slice(kept - 1))
    await checkSound(db)
  }
})

test('only what is gone leaves a trace, not what has returned', async (t) => {
  const db = makeSoundStore(t)
  const rows = companies.map((id) => ({ id, company_id: 1, name: 'x' }))
  await importRows(db, 'rights', rows, { isSnapshot: true })
  await importRows(db, 'rights', rows.slice(0, 1), { isSnapshot: true })
  await revert(db, one(2))
  await importRows(db, 'rights', rows.slice(0, 1), { isSnapshot: true })
  await importRows(db, 'rights', rows.slice(0, 2), { isSnapshot: true })
  await prune(db)
  const traces = query(db, "select id, version from traces where listing = 'rights'")
  const pairs = traces.map(({ id, version }) => `${Number(id)} in ${Number(version)}`)
  assert.deepEqual(pairs, ['3 in 2', '3 in 4'])
})

test('a company that a revert has forgotten gets its id again, and no other company does, even after a prune', async (t) => {
  const db = makeSoundStore(t)
  const load = async (identifier: string) => {
    await importRows(db, 'companies', [{ jurisdiction: 'GB', identifier, town: 'Leeds' }])
    const [row] = query(db, `select id from companies where identifier = '${identifier}'`)
    return Number(row?.['id'])
  }
  const first = await load('1')
  const second = await load('2')
  await revert(db, one(2))
  await prune(db)
  const listed = query(db, 'select company_id from heads').map((row) => Number(row['company_id']))
  assert.deepEqual(listed, [first])
  assert.equal(await load('3'), second + 1)
  assert.equal(await load('2'), second)
})

test('no company gets the id of an erased one, whatever is pruned', async (t) => {
  const db = makeSoundStore(t)
  const named = (identifier: string) => [{ jurisdiction: 'GB', identifier, town: 'Leeds' }]
  await importRows(db, 'companies', named('1'))
  const [erased] = query(db, 'select id from companies')
  await withhold(db, 'erase', { company: ['GB', '1'] })
  await prune(db)
  await importRows(db, 'companies', named('2'))
  const [next] = query(db, 'select id from companies')
  assert.equal(Number(next?.['id']), Number(erased?.['id']) + 1)
})
