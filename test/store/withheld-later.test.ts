// What later imports bring of people whose data is withheld, and what earlier ones have left
// (contract 13).

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { importRows, makeFolder, makePlace, query, queryValue } from '../support/import-rows.ts'
import { makeApp, memberOf } from '../support/make-app.ts'
import { keepStore, storeBytes } from '../support/store-state.ts'
import { checkSound } from '../support/verify-store.ts'
import {
  checkGone,
  gb,
  hire,
  identifier,
  idOf,
  jane,
  listed,
  person,
  say,
} from '../support/withheld.ts'
import { lift, prune, withhold } from '../support/write-store.ts'
import { recordedOn } from '../support/history.ts'

for (const kind of ['mask', 'erase'] as const) {
  test(`a value of an event is withheld in later recorded changes by ${kind}`, async (t) => {
    const { ask, db } = await makeApp(t)
    const move = (seat: string, month: number) =>
      say(db, '1', { name: 'X Ltd', seat }, recordedOn(`2026-0${month}-01`))
    await move('1 Old Road', 1)
    await move('2 New Street', 2)
    await withhold(db, kind, { resource: 'events', field: 'before', value: '1 Old Road' })
    await move('1 Old Road', 3)
    const { counts } = await move('2 New Street', 4)
    assert.equal(counts.recorded, kind === 'mask' ? 1 : 0)
    const before = (await listed(ask, 'GB:1/events', 'events')).map((event) => event['before'])
    const hidden = kind === 'mask' ? ['[withheld]'] : []
    assert.deepEqual(before, [...hidden, '2 New Street', ...hidden])
    await checkSound(db)
  })
}

for (const kind of ['mask', 'erase'] as const) {
  test(`who is withheld is hidden in the company to which a record moves later, by ${kind}`, async (t) => {
    const { ask, db } = await makeApp(t)
    const load = (n: string, row: object) => hire(db, n, { key: `${n}-${identifier}`, ...row })
    const sayAll = () =>
      importRows(
        db,
        'companies',
        ['Smith Ltd', `c/o ${jane}`, 'J Newname'].map((seat, n) => {
          return { jurisdiction: 'GB', identifier: String(n + 1), seat, name: 'X Ltd' }
        }),
      )
    const seats = () =>
      Promise.all(
        [1, 2, 3].map(async (n) => {
          const { sources } = memberOf(await ask(`/api/v1/companies/GB:${n}`), 'company') as {
            sources: { attributes: { seat: string } }[]
          }
          return sources[0]?.attributes.seat
        }),
      )
    await load('1', {})
    await load('3', { identifier: null, name: 'J Newname' })
    await sayAll()
    await withhold(db, kind, person)
    const restore = await keepStore(db)
    const moved = await load('2', {})
    assert.equal(moved.listEntry, 2)
    assert.deepEqual(await seats(), ['Smith Ltd', 'c/o [withheld]', 'J Newname'])
    // Under another name, by a row that tells that a known record is the person.
    assert.equal((await load('3', { name: 'J. Newname' })).listEntry, 3)
    const gone = [identifier, jane, 'Newname']
    await checkGone(db, gone)
    assert.equal((await load('3', { name: 'J. Newname' })).listEntry, undefined)
    assert.equal((await sayAll()).counts.withheld, 2)
    assert.deepEqual(await seats(), ['Smith Ltd', 'c/o [withheld]', '[withheld]'])
    const listed = memberOf(await ask('/api/v1/companies/GB:3/employees?version=2'), 'total')
    assert.equal(listed, kind === 'mask' ? 1 : 0)
    // A backup from before the imports follows what they have told.
    await restore()
    await load('9', { key: 'a', identifier: null, name: 'Ann' })
    await checkGone(db, gone)
  })
}

test('the earlier states of a record are masked once a row with its id tells who it is', async (t) => {
  const { ask, db } = await makeApp(t)
  const known = { id: 2, ...gb('1'), name: 'J Newname' }
  await importRows(db, 'employees', [{ id: 1, ...gb('1'), identifier, name: jane }, known])
  await withhold(db, 'mask', person)
  assert.equal((await importRows(db, 'employees', [{ ...known, identifier }])).listEntry, 2)
  const { text } = await ask('/api/v1/companies/GB:1/employees?version=1')
  assert.equal(text.split('"[withheld]"').length, 3)
  await checkGone(db, [identifier, jane, 'Newname'])
})

test('changes report a record that came masked before its earlier states were masked', async (t) => {
  const { ask, db, store } = await makeApp(t)
  const key = await store.issueKey({ name: 'follower', scopes: ['changes', 'employees'] })
  const changesAfter = (cursor: string) => ask(`/api/v1/changes?after=${cursor}`, { key })
  const known = { id: 2, ...gb('1'), name: 'J Newname' }
  await importRows(db, 'employees', [{ id: 1, ...gb('1'), identifier, name: jane }, known])
  await withhold(db, 'mask', person)
  const before = await changesAfter('0')
  assert.ok(before.text.includes('Newname'))
  await importRows(db, 'employees', [{ ...known, identifier }])
  const after = await changesAfter(memberOf(before, 'until') as string)
  const told = memberOf(after, 'changes') as Change[]
  assert.deepEqual(
    told.map(({ id, version, change, record }) => [id, version, change, record.name]),
    [[2, 4, 'put', '[withheld]']],
  )
})

interface Change {
  readonly id: number
  readonly version: number
  readonly change: string
  readonly record: { readonly name: string }
}

test('the natural key of a record that comes with a withheld value is hashed', async (t) => {
  const { ask, db } = await makeApp(t)
  const load = (rows: readonly object[], options = {}) => importRows(db, 'employees', rows, options)
  const her = { ...gb('1'), identifier, name: jane }
  const [kept, other] = [`kept-${identifier}`, `other-${identifier}`]
  await load([
    { ...her, key: 'a' },
    { ...gb('1'), key: kept, name: 'J.' },
  ])
  await withhold(db, 'mask', person)
  const own = { ...gb('1'), key: 'b', name: 'Ann' }
  const rows = [{ ...her, key: kept }, { ...her, key: other }, own, { ...her }]
  const first = await load(rows)
  assert.deepEqual([first.counts.inserted, first.counts.updated], [3, 1])
  await checkGone(db)
  const ids = async () => (await listed(ask, 'GB:1/employees', 'employees')).map(({ id }) => id)
  const before = await ids()
  const again = await load(rows)
  assert.deepEqual([again.counts.unchanged, again.counts.withheld], [4, 3])
  const renamed = await load([{ ...gb('1'), key: other, name: 'Joan' }])
  assert.deepEqual([renamed.counts.unchanged, renamed.counts.withheld], [1, 1])
  await lift(db, 1)
  const lifted = await load(rows, { isSnapshot: true })
  assert.deepEqual([lifted.counts.inserted, lifted.counts.removed], [0, 1])
  assert.deepEqual(await ids(), before.slice(1))
  await checkSound(db)
})

for (const kind of ['mask', 'erase'] as const) {
  test(`a record that came with a withheld value is held back without it, too, by ${kind}`, async (t) => {
    const { db } = await makeApp(t)
    const load = (...rows: readonly object[]) =>
      importRows(
        db,
        'employees',
        rows.map((row) => ({ ...gb('1'), ...row })),
      )
    await load({ id: 1, identifier, name: jane })
    await withhold(db, kind, person)
    const came = await load({ id: 2, identifier, name: jane }, { key: 'a', identifier, name: jane })
    assert.equal(came.listEntry, 2)
    const again = await load({ id: 2, name: 'J. Doe' }, { key: 'a', name: 'J. Doe' })
    assert.deepEqual([again.counts.withheld, again.counts.updated], [2, 0])
    await checkGone(db, [identifier, jane, 'J. Doe'])
    const { listEntry } = await load({ id: 2, name: 'J. Doe' }, { key: 'a', name: 'J. Doe' })
    assert.equal(listEntry, undefined)
  })
}

test('an erasure by a value of a list finds a record that came masked', async (t) => {
  const { ask, db } = await makeApp(t)
  const holder = { resource: 'rights', field: 'holders', value: jane }
  const load = (id: number) =>
    importRows(db, 'rights', [{ id, ...gb('1'), name: 'Mark', holders: [jane, 'Y Ltd'] }])
  await load(1)
  await withhold(db, 'mask', holder)
  await load(2)
  await withhold(db, 'erase', holder)
  assert.equal(memberOf(await ask('/api/v1/companies/GB:1/rights'), 'total'), 0)
})

test('the natural keys of events that name a withheld person are hashed', async (t) => {
  const { db } = await makeApp(t)
  const of = { ...gb('1'), date: '2026-01-01', attr: 'owner', after: jane }
  const event = (key: string) => ({ ...of, key })
  const other = { ...event('b'), after: 'Ann' }
  await hire(db, '1', { key: 'a' })
  await importRows(db, 'events', [event(`1 ${jane}`), other])
  await withhold(db, 'mask', person)
  const rows = [event(`1 ${jane}`), event(`2 ${jane}`), other]
  const first = await importRows(db, 'events', rows)
  assert.deepEqual([first.counts.inserted, first.counts.unchanged], [1, 2])
  const again = await importRows(db, 'events', rows, { isSnapshot: true })
  assert.deepEqual([again.counts.unchanged, again.counts.withheld], [3, 2])
  await checkGone(db)
})

test('the natural key of an event that is erased in one of its companies is not kept', async (t) => {
  const { db } = await makeApp(t)
  const event = { key: `1 ${jane}`, date: '2026-01-01', attr: 'owner', after: jane }
  await hire(db, '1', { key: 'a' })
  await withhold(db, 'erase', person)
  const rows = ['1', '2'].map((company) => ({ ...gb(company), ...event }))
  const { counts } = await importRows(db, 'events', rows)
  assert.deepEqual([counts.inserted, counts.erased, counts.companiesCreated], [0, 2, 0])
  await checkGone(db)
})

test('a company can be erased again after its order was lifted', async (t) => {
  const { ask, db } = await makeApp(t)
  const load = () => hire(db, '1', { key: 'a' })
  const read = async () => (await ask('/api/v1/companies/GB:1/employees')).text
  await load()
  const before = await read()
  for (const order of [1, 3]) {
    await withhold(db, 'erase', { company: ['GB', '1'] })
    await lift(db, order)
    await load()
    assert.equal(await read(), before, 'records have their ids')
  }
  await checkSound(db)
})

test('a record that is masked again after a lift hides what its first order hid', async (t) => {
  const { db } = await makeApp(t)
  await hire(db, '1', { id: 5 })
  await withhold(db, 'mask', { resource: 'employees', id: 5 })
  await lift(db, 1)
  // The record is still masked, so only the lifted order knows whom it names.
  await say(db, '1', { owner: jane })
  await withhold(db, 'mask', { resource: 'employees', id: 5 })
  await checkGone(db)
})

test('no other company gets the id of an erased one, not even in a backup from before it', async (t) => {
  const { db } = makePlace(t, 'registry.db')
  const numbered = (n: string) =>
    queryValue(db, `select id from companies where identifier = '${n}'`)
  await say(db, '1', {})
  const restore = await keepStore(db)
  await say(db, '2', {})
  const erased = numbered('2')
  await withhold(db, 'erase', { company: ['GB', '2'] })
  await restore()
  assert.equal((await say(db, '2', {})).counts.withheld, 1)
  assert.equal((await say(db, '3', {})).counts.companiesCreated, 1)
  assert.equal(Number(numbered('3')), Number(erased) + 1)
  await checkSound(db)
})

test('an erasure of a masked record, which has moved, hides who it was when the mask is lifted', async (t) => {
  const { db } = await makeApp(t)
  await hire(db, '1', { id: 5 })
  await say(db, '2', { name: 'Y Ltd', contact: `Call ${jane}` })
  await withhold(db, 'mask', { resource: 'employees', id: 5 })
  await hire(db, '2', { id: 5 })
  await checkGone(db)
  await withhold(db, 'erase', { resource: 'employees', id: 5 })
  await lift(db, 1)
  await say(db, '2', { name: 'Y Ltd', contact: `Ask ${jane}` })
  await checkGone(db)
})

test('in a store that a restore had left, an order means what it means, whoever has its ids there', async (t) => {
  const { ask, db } = await makeApp(t)
  const load = (company: string, name: string) =>
    hire(db, company, { key: name, identifier: `n${name}`, name })
  await load('1', 'First One')
  const base = await keepStore(db, 'base')
  for (const [n, name] of ['Carol Kovacs', 'Bob Nagy'].entries()) await load(`${n + 2}`, name)
  const ids = [idOf(db, 'Carol Kovacs'), idOf(db, 'Bob Nagy')]
  const left = await keepStore(db)
  await base()
  await load('4', 'Bob Nagy')
  await load('5', 'Ann Szabo')
  assert.deepEqual([idOf(db, 'Bob Nagy'), idOf(db, 'Ann Szabo')], ids, 'others have their ids')
  await withhold(db, 'erase', { resource: 'employees', id: idOf(db, 'Bob Nagy') })
  await withhold(db, 'erase', { company: ['GB', '5'] })
  await left()
  assert.equal((await say(db, '2', { name: 'Bob Nagy & Sons' })).counts.withheld, 0)
  const total = async (n: number) =>
    memberOf(await ask(`/api/v1/companies/GB:${n}/employees`), 'total')
  assert.deepEqual([await total(1), await total(2), await total(3)], [1, 1, 0])
  assert.equal((await load('5', 'Ann Szabo')).counts.erased, 1)
  await checkGone(db, ['nBob Nagy', 'Ann Szabo'])
})

test('in a store that a restore had left, an order learns of more companies', async (t) => {
  const { db } = await makeApp(t)
  await hire(db, '1', { key: 'A' })
  const base = await keepStore(db, 'base')
  await hire(db, '2', { key: 'A' })
  const left = await keepStore(db)
  await base()
  await withhold(db, 'mask', person)
  await left()
  await say(db, '2', { owner: jane })
  await checkGone(db)
})

test('the log does not tell what was the same in all rows of an erased company', async (t) => {
  const db = join(makeFolder(t), 'registry.db')
  for (const company of [gb('Q-1'), { company_id: 7 }]) {
    const row = { ...company, description: 'Of the mill' }
    const rows = Array.from({ length: 6 }, (_, n) => ({ ...row, key: `${n}` }))
    await importRows(db, 'jobs', rows, { source: Object.keys(company).join('-') })
  }
  const tells = async () => (await storeBytes(db)).includes('Of the mill')
  await withhold(db, 'erase', { company: ['GB', 'Q-1'] })
  assert.deepEqual([(await storeBytes(db)).includes('Q-1'), await tells()], [false, true])
  await withhold(db, 'erase', { company: 7 })
  assert.equal(await tells(), false)
})

test('the log loses the names of attributes that only an erased company has had', async (t) => {
  const { db } = await makeApp(t)
  const sayAll = (...names: string[]) => {
    const rows = names.map((name, n) => ({ jurisdiction: 'GB', identifier: `${n + 1}`, [name]: 1 }))
    return importRows(db, 'companies', rows, { isSnapshot: true })
  }
  await sayAll('Bob & Sons', 'owner')
  await sayAll('Bob & Sons', 'seat')
  await withhold(db, 'erase', { company: ['GB', '1'] })
  await checkGone(db, ['Bob'])
  await sayAll('Bob & Daughters', 'Bill & Sons')
  await checkGone(db, ['Bob'])
  const logged = query(db, 'select attributes from imports where read > 0 order by version')
  const names = logged.map(({ attributes }) => JSON.parse(String(attributes)) as string[])
  assert.deepEqual(names, [['jurisdiction', 'identifier', 'owner'], ['seat'], ['Bill & Sons']])
})

for (const by of ['its id', 'a value']) {
  test(`an order by ${by} hides who a pruned record was, once an import tells`, async (t) => {
    const { db } = await makeApp(t)
    const ann = { identifier: null, name: 'Ann' }
    const whole = { isSnapshot: true }
    await hire(db, '1', { key: 'K', ...ann }, { ...whole, ...recordedOn('2026-01-01') })
    await hire(db, '1', { key: 'K' }, { ...whole, ...recordedOn('2026-01-02') })
    await hire(db, '3', { key: 'L', ...(by === 'its id' ? ann : {}) }, whole)
    await prune(db)
    const subject = { resource: 'employees', id: idOf(db, 'K') }
    await withhold(db, 'erase', by === 'its id' ? subject : person)
    await hire(db, '2', { key: 'K' }, whole)
    await say(db, '1', { owner: jane })
    await checkGone(db)
  })
}

test('natural keys of records that an erased company lost before all kept versions are hashed', async (t) => {
  const { db } = await makeApp(t)
  const keys = ['K-1 Roe', 'K-1 Doe']
  for (const count of [2, 1]) {
    const rows = keys.slice(0, count).map((key) => ({ ...gb('1'), key, title: 'Clerk' }))
    await importRows(db, 'jobs', rows, { isSnapshot: true })
  }
  await prune(db)
  await withhold(db, 'erase', { company: ['GB', '1'] })
  await checkGone(db, keys)
})

for (const isRestored of [false, true]) {
  const where = isRestored ? 'in a restored store' : 'by its id'
  test(`the natural key of a record removed before all kept versions is withheld ${where}`, async (t) => {
    const { db } = await makeApp(t)
    const load = (...keys: readonly string[]) => {
      const rows = keys.map((key) => ({ ...gb('1'), key, title: 'Clerk' }))
      return importRows(db, 'jobs', rows, { isSnapshot: true })
    }
    await load('K-1 Roe', 'K-2')
    await load('K-2')
    await prune(db)
    const id = idOf(db, 'K-1 Roe')
    const restore = await keepStore(db)
    if (isRestored) await load('K-1 Roe', 'K-2')
    const { touched, keys } = await withhold(db, 'erase', { resource: 'jobs', id })
    assert.deepEqual([touched.length > 0, keys], [isRestored, 1])
    if (isRestored) await restore()
    const { counts } = await load('K-1 Roe', 'K-2')
    assert.deepEqual([counts.erased, counts.unchanged], [1, 1])
    await checkGone(db, ['K-1 Roe'])
    await checkSound(db)
    await assert.rejects(withhold(db, 'erase', { resource: 'jobs', id: 12 }), /has no record 12/)
  })
}
