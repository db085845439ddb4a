// Which companies are known after a revert, and by which register numbers.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assignedIdMin } from '../../src/store/sql/assigned-ids.ts'
import { importRows, queryStore } from '../support/import-rows.ts'
import { makeApp } from '../support/make-app.ts'
import { checkSound, makeSoundStore } from '../support/verify-store.ts'
import { one, prune, revert } from '../support/write-store.ts'

/** The register numbers of the companies that are known, by their ids. */
async function numbersIn(db: string): Promise<Readonly<Record<string, unknown>>> {
  const rows = await queryStore(db, 'select id, identifier from companies order by id')
  return Object.fromEntries(rows.map(({ id, identifier }) => [String(id), identifier]))
}

const idsIn = async (db: string) => Object.keys(await numbersIn(db)).map(Number)

/** Imports a company from a register; without an id, it gets one. */
function nameCompany(db: string, id: number | undefined, identifier: string, source = 'default') {
  return importRows(db, 'companies', [{ id, jurisdiction: 'GB', identifier }], { source })
}

test('a company that another source has ever mentioned stays known', async (t) => {
  const db = makeSoundStore(t)
  await importRows(db, 'rights', [{ id: 1, company_id: 7 }])
  await importRows(db, 'rights', [{ id: 2, company_id: 7 }], { source: 'other' })
  // The other source now has its record elsewhere.
  await importRows(db, 'rights', [{ id: 2, company_id: 8 }], { source: 'other', isSnapshot: true })
  await revert(db, one(1))
  assert.deepEqual(await idsIn(db), [7, 8])
})

test('a company that was named and forgotten since is known as it was before (9.1)', async (t) => {
  const app = await makeApp(t)
  const db = app.store.path
  await importRows(db, 'companies', [{ jurisdiction: 'GB', identifier: '1' }])
  await importRows(db, 'jobs', [{ id: 1, company_id: 3 }])
  await importRows(db, 'companies', [{ id: 3, jurisdiction: 'GB', identifier: '3' }])
  await revert(db, { to: 1 })
  assert.equal((await app.ask('/api/v1/companies/3/rights')).status, 404)
  for (const version of [2, 3]) {
    const { text } = await app.ask(`/api/v1/companies/3/rights?version=${version}`)
    assert.match(text, /"rights":\[\],"total":0/)
  }
})

test('a register number is removed with the only import of companies that gave it, and restored with it', async (t) => {
  const db = makeSoundStore(t)
  const number = async () => (await numbersIn(db))[3]
  // The company is known by its id before it is named, then after.
  await importRows(db, 'jobs', [{ id: 1, company_id: 3 }])
  await nameCompany(db, 3, 'wrong')
  await revert(db, one(2))
  assert.equal(await number(), null)
  await revert(db, one(3))
  assert.equal(await number(), 'wrong')
  await revert(db, { to: 1 })
  assert.deepEqual((await nameCompany(db, 3, 'right')).problems, [])
  await revert(db, one(1))
  await importRows(db, 'jobs', [{ id: 2, company_id: 3 }], { source: 'other' })
  await nameCompany(db, 3, 'right', 'other')
  await revert(db, one(6))
  assert.equal(await number(), 'right', 'another source says so, too')
  await revert(db, one(9))
  assert.equal(await number(), null)
})

test('a register number is removed with the last import that gave it, even after a prune', async (t) => {
  const db = makeSoundStore(t)
  const row = { id: 3, jurisdiction: 'GB', identifier: 'n3' }
  await importRows(db, 'jobs', [{ id: 1, company_id: 3 }])
  await importRows(db, 'companies', [row], { source: 'a' })
  await importRows(db, 'companies', [row], { source: 'b' })
  await revert(db, one(2))
  const [third] = await queryStore(db, 'select committed_at from imports where version = 3')
  assert.equal((await prune(db, Number(third?.['committed_at']))).earliestVersion, 2)
  await revert(db, one(3))
  assert.deepEqual(await numbersIn(db), { 3: null })
})

test('the register number of an import that is in force again replaces that of a reverted one', async (t) => {
  const db = makeSoundStore(t)
  await importRows(db, 'jobs', [
    { id: 1, company_id: 3 },
    { id: 2, company_id: 4 },
  ])
  await nameCompany(db, 3, 'first')
  await nameCompany(db, 4, 'second')
  await revert(db, { to: 1 })
  await nameCompany(db, 3, 'second')
  await nameCompany(db, 4, 'first')
  assert.deepEqual(await numbersIn(db), { 3: 'second', 4: 'first' })
  // Takes back both imports, and the revert before them.
  await revert(db, { version: 4, isWithLater: true })
  assert.deepEqual(await numbersIn(db), { 3: 'first', 4: 'second' })
  await revert(db, { to: 6 })
  assert.deepEqual(await numbersIn(db), { 3: 'second', 4: 'first' })
})

test('no version of a revert has two companies of one register number', async (t) => {
  const app = await makeApp(t)
  const db = app.store.path
  await nameCompany(db, 3, 'n')
  await revert(db, one(1))
  await importRows(db, 'jobs', [{ id: 1, company_id: 3 }])
  // The company 3 has lost the number, so it makes another one known.
  await importRows(db, 'rights', [{ id: 1, company_jurisdiction: 'GB', company_identifier: 'n' }])
  await revert(db, { to: 1 })
  assert.deepEqual(await numbersIn(db), { 3: 'n' })
  const idOf = async (version: number) => {
    const ids: number[] = []
    for (const id of [3, assignedIdMin]) {
      const { text } = await app.ask(`/api/v1/companies/${id}?version=${version}`)
      if (text.includes('"identifier":"n"')) ids.push(id)
    }
    const named = await app.ask(`/api/v1/companies/GB:n/jobs?version=${version}`)
    const [, id] = /companies\/(\d+)\/jobs/.exec(named.headers['content-location'] ?? '') ?? []
    assert.deepEqual(ids, [Number(id)])
    return Number(id)
  }
  const ids = [await idOf(4), await idOf(5), await idOf(6), await idOf(7)]
  assert.deepEqual(ids, [assignedIdMin, assignedIdMin, assignedIdMin, 3])
  await checkSound(db)
})

test('a revert of another source leaves the register number that a revert has restored', async (t) => {
  const db = makeSoundStore(t)
  await importRows(db, 'jobs', [{ id: 1, company_id: 3 }])
  await nameCompany(db, 3, 'wrong', 'a')
  await nameCompany(db, 9, 'other', 'b')
  await revert(db, one(2))
  await nameCompany(db, 3, 'right', 'a')
  await revert(db, one(5))
  await revert(db, one(6))
  await revert(db, one(3))
  assert.deepEqual(await numbersIn(db), { 3: 'right' })
})

test('a company that is known again by its records alone has no register number', async (t) => {
  const db = makeSoundStore(t)
  await importRows(db, 'rights', [{ id: 1, company_id: 1 }])
  await importRows(db, 'companies', [{ id: 3, jurisdiction: 'GB', identifier: 'n3' }])
  await importRows(db, 'jobs', [{ id: 1, company_id: 3 }])
  await revert(db, { to: 1 })
  // Takes back one version of that revert: the jobs are there again.
  await revert(db, { to: 4 })
  assert.deepEqual(await numbersIn(db), { 1: null, 3: null })
})

test('a company that one of several versions of a revert made known is forgotten with it', async (t) => {
  const db = makeSoundStore(t)
  await importRows(db, 'rights', [{ id: 1, company_id: 5 }], { source: 'a' })
  await importRows(db, 'rights', [{ id: 2, company_id: 6 }], { source: 'b' })
  await revert(db, { to: 0 })
  await revert(db, { to: 2 })
  assert.deepEqual(await idsIn(db), [5, 6])
  await revert(db, one(6))
  assert.deepEqual(await idsIn(db), [5])
})

test('a company stays known even if only a pruned state shows that an import had it', async (t) => {
  const db = makeSoundStore(t)
  await importRows(db, 'rights', [{ id: 1, company_id: 5 }], { source: 'b' })
  await importRows(db, 'rights', [{ id: 2, company_id: 5 }], { source: 'a' })
  await importRows(db, 'rights', [{ id: 3, company_id: 6 }], { source: 'a', isSnapshot: true })
  await revert(db, one(1))
  await prune(db)
  await importRows(db, 'jobs', [{ id: 1, company_id: 6 }])
  await revert(db, one(5))
  assert.deepEqual(await idsIn(db), [5, 6])
})

test('of two register numbers, the one whose import alone is in force again is restored', async (t) => {
  const db = makeSoundStore(t)
  await importRows(db, 'rights', [{ id: 1, company_id: 5 }])
  await nameCompany(db, 5, 'first', 'a')
  await revert(db, one(2))
  await nameCompany(db, 5, 'second', 'b')
  await revert(db, one(3))
  assert.deepEqual(await numbersIn(db), { 5: 'second' })
  await revert(db, one(4))
  assert.deepEqual(await numbersIn(db), { 5: 'first' })
})

test('the last import in force that names a company gives its register number', async (t) => {
  const db = makeSoundStore(t)
  await importRows(db, 'rights', [{ id: 1, company_id: 5 }])
  await nameCompany(db, 5, 'x', 'a')
  await nameCompany(db, 5, 'x', 'b')
  await revert(db, one(2))
  await revert(db, one(3))
  await nameCompany(db, 5, 'y', 'c')
  await revert(db, one(5))
  assert.deepEqual(await numbersIn(db), { 5: 'y' }, 'later than that of b')
  await revert(db, one(6))
  assert.deepEqual(await numbersIn(db), { 5: 'x' }, 'that of b again')
})

test('a register number returns to its company when another one no longer has it', async (t) => {
  const db = makeSoundStore(t)
  await nameCompany(db, undefined, 'n3', 'a')
  const [assigned = 0] = await idsIn(db)
  await revert(db, one(1))
  await nameCompany(db, 3, 'n3', 'b')
  await revert(db, one(2))
  assert.deepEqual(await numbersIn(db), { 3: 'n3', [assigned]: null })
  await revert(db, one(3))
  assert.deepEqual(await numbersIn(db), { [assigned]: 'n3' })
})

test('a register number that records gave stays when companies that repeat it are reverted', async (t) => {
  const db = makeSoundStore(t)
  const number = { company_jurisdiction: 'GB', company_identifier: 'n5' }
  await importRows(db, 'rights', [{ id: 1, company_id: 5 }])
  await importRows(db, 'jobs', [{ id: 1, company_id: 5, ...number }])
  await importRows(db, 'companies', [{ id: 5, jurisdiction: 'GB', identifier: 'n5' }])
  await revert(db, one(3))
  assert.deepEqual(await numbersIn(db), { 5: 'n5' })
  await revert(db, { to: 1 })
  assert.deepEqual(await numbersIn(db), { 5: null })
})

test('a forgotten company that records mention by its assigned id returns under it', async (t) => {
  const db = makeSoundStore(t)
  await nameCompany(db, undefined, '1')
  const [assigned = 0] = await idsIn(db)
  await revert(db, one(1))
  await importRows(db, 'jobs', [{ id: 1, company_id: assigned }])
  assert.deepEqual(await numbersIn(db), { [assigned]: null })
  await prune(db)
  await nameCompany(db, undefined, '1')
  assert.deepEqual(await numbersIn(db), { [assigned]: '1' })
})
