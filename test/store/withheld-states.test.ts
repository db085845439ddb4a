// Records that have the value of an order in some of their states only, or in another form, and
// texts without space for what takes its place (contract 13).

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { textBytesMax } from '../../src/resources/field.ts'
import { metaTypeBytesMax } from '../../src/resources/resource.ts'
import { recordedOn } from '../support/history.ts'
import { importRows, makePlace } from '../support/import-rows.ts'
import { makeApp, memberOf } from '../support/make-app.ts'
import { mustRun, runCommand } from '../support/run-command.ts'
import { readSaid } from '../support/said.ts'
import { storeAt } from '../support/store-at.ts'
import { keepStore } from '../support/store-state.ts'
import { checkSound } from '../support/verify-store.ts'
import { checkGone, gb, hire, identifier, jane, listed, person, say } from '../support/withheld.ts'
import { lift, one, prune, revert, withhold } from '../support/write-store.ts'

const her = { key: 'a', name: jane }
const named = { ...her, identifier }

for (const kind of ['mask', 'erase'] as const) {
  test(`a person is withheld in states without the value of the order by ${kind}`, async (t) => {
    const { ask, db } = await makeApp(t)
    const load = (row: object, company = '1') =>
      importRows(db, 'employees', [{ ...gb(company), ...row }])
    const other = { key: 'a', name: 'Ann', identifier: '7' }
    for (const row of [other, her, named, { ...her, name: jane.toUpperCase() }]) await load(row)
    await load({ ...her, name: jane, position: 'Chair' }, '2')
    await withhold(db, kind, person)
    await checkGone(db)
    const read = async (path: string) =>
      (await listed(ask, `GB:${path}`, 'employees')).map(({ name }) => name)
    assert.deepEqual(await read('1/employees?version=1'), ['Ann'])
    const hidden = kind === 'mask' ? ['[withheld]'] : []
    for (const path of ['1/employees?version=2', '1/employees?version=4', '2/employees'])
      assert.deepEqual(await read(path), hidden, path)
    const { counts } = await load({ ...her, position: 'Clerk' })
    assert.equal(counts.withheld, 1)
    await checkGone(db)
  })
}

test('a person is withheld in a restored backup without the value of the order', async (t) => {
  const { folder, db } = makePlace(t, 'registry.db')
  await hire(db, '1', { key: 'a', identifier: null })
  const restore = await keepStore(db)
  await hire(db, '1', { key: 'a' })
  await withhold(db, 'mask', person)
  await restore()
  await mustRun(folder, `migrate --db ${storeAt(db)}`)
  await checkGone(db)
})

test('a value is withheld in whatever form its accents are encoded, now and later', async (t) => {
  for (const [form, later] of [
    ['NFC', 'NFD'],
    ['NFD', 'NFC'],
  ] as const) {
    const { ask, db } = await makeApp(t)
    const right = (id: number, at: string) => ({ id, company_id: 7, holders: [jane.normalize(at)] })
    const bare = { id: 2, company_id: 7, holders: ['Jane Doe-Smith'] }
    await importRows(db, 'rights', [right(1, form), bare, right(5, later)])
    const value = jane.normalize(later)
    await withhold(db, 'erase', { resource: 'rights', field: 'holders', value })
    const { counts } = await importRows(db, 'rights', [right(3, later), right(4, form)])
    assert.equal(counts.withheld, 2)
    assert.equal(memberOf(await ask('/api/v1/companies/7/rights'), 'total'), 1)
    await checkGone(db, [jane.normalize('NFC'), jane.normalize('NFD')])
  }
})

test('a text that would be too long with [withheld] in it is withheld as a whole', async (t) => {
  const { db } = await makeApp(t)
  const whole = {
    [`Bob ${'n'.repeat(metaTypeBytesMax - 4)}`]: 'Chair',
    list: ['Bob', 'y'.repeat(textBytesMax - 'Bob; '.length)],
    note: `Bob ${'x'.repeat(textBytesMax - 4)}`,
  }
  const part = { list: ['Bob'], note: 'Bob and others' }
  const saySo = (said: object, day: number) => say(db, '1', said, recordedOn(`2026-01-0${day}`))
  const saidNow = async (): Promise<unknown> =>
    JSON.parse((await readSaid(db))[0]?.attributes ?? '')
  await saySo(whole, 1)
  await saySo(part, 2)
  await saySo(whole, 3)
  await withhold(db, 'mask', { company: ['GB', '1'], text: 'Bob' })
  await checkSound(db)
  const hidden = { '[withheld]': 'Chair', list: '[withheld]', note: '[withheld]' }
  assert.deepEqual(await saidNow(), hidden)
  assert.equal((await saySo(whole, 4)).counts.unchanged, 1)
  await saySo(part, 5)
  assert.deepEqual(await saidNow(), { list: ['[withheld]'], note: '[withheld] and others' })
  await checkSound(db)
})

test('a company at an earlier version names no later change of what was withheld (9.1)', async (t) => {
  const { ask, db } = await makeApp(t)
  for (const position of ['Clerk', 'Chair']) await hire(db, '1', { id: 1, position })
  const read = async (version: number) => {
    const answer = await ask(`/api/v1/companies/GB:1?version=${version}`)
    const { listings } = memberOf(answer, 'company') as {
      listings: { employees: { version: number } }
    }
    return { tag: answer.headers['etag'], changed: listings.employees.version }
  }
  const before = [await read(1), await read(2)]
  await withhold(db, 'mask', person)
  const after = [await read(1), await read(2), await read(3)]
  const changed = after.map((one) => one.changed)
  assert.deepEqual(changed, [1, 2, 3])
  for (const [n, { tag }] of before.entries()) assert.notEqual(tag, after[n]?.tag)
})

test('a record of which an older state is in force again is erased once (12.1, 13)', async (t) => {
  const { ask, db, store } = await makeApp(t)
  for (const position of ['Clerk', 'Chair']) await hire(db, '1', { id: 1, position })
  await revert(db, one(2))
  const { touched } = await withhold(db, 'erase', person)
  const [record, ...others] = touched
  assert.deepEqual([record?.isPresent, record?.isGone, others], [true, true, []])
  const key = await store.issueKey({ name: 'a', scopes: ['changes', 'employees'] })
  const answer = await ask('/api/v1/changes?after=1', { key })
  const changes = memberOf(answer, 'changes') as { change: string; version: number }[]
  const told = changes.map(({ change, version }) => [change, version])
  assert.deepEqual(told, [['erase', 4]])
  await checkGone(db)
})

test('a company without data is erased, and a dry run and the question say so', async (t) => {
  const { folder, db } = makePlace(t, 'registry.db')
  const rows = [7, 8].map((company) => ({ id: company, company_id: company, name: 'A' }))
  for (const some of [rows, rows.slice(1)]) {
    await importRows(db, 'rights', some, { isSnapshot: true, permissions: { accepted: true } })
  }
  await prune(db)
  const erase = `withhold erase company 7 --db ${storeAt(db)}`
  const said = '  companies without data: 1\n'
  assert.equal(
    (await mustRun(folder, `${erase} --dry-run`)).out,
    `${said}Dry run: nothing was changed.\n`,
  )
  const asked = await runCommand(folder, `${erase} --reason law --by me`)
  assert.ok(asked.err.startsWith(said), asked.err)
  const { out } = await mustRun(folder, `${erase} --reason law --by me --yes`)
  assert.ok(out.startsWith(`${said}Erased as order 1, in version 3.`), out)
})

test('an erased company that had records before all kept versions is not revived by a revert', async (t) => {
  const { ask, db } = await makeApp(t)
  const read = async () => (await ask('/api/v1/companies/7')).status
  // A revert looks again at what was known until this version.
  await importRows(db, 'rights', [{ id: 1, company_id: 9 }])
  await revert(db, one(1))
  const jobs = [7, 8].map((id) => ({ id, company_id: id }))
  await importRows(db, 'jobs', jobs)
  await importRows(db, 'jobs', jobs.slice(1), { isSnapshot: true })
  await prune(db)
  await withhold(db, 'erase', { company: 7 })
  await importRows(db, 'rights', [{ id: 2, company_id: 8 }])
  await revert(db, one(6))
  assert.equal(await read(), 404)
  await lift(db, 1)
  await importRows(db, 'rights', [{ id: 3, company_id: 7 }])
  assert.equal(await read(), 200)
  await revert(db, one(8))
  assert.equal(await read(), 404)
  await checkSound(db)
})
