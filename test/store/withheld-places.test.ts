// Where withheld data may be besides listings, and in long ones; companies with other names, and
// people who were masked before (contract 13).

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { resources } from '../../src/resources/index.ts'
import { openStoreInspector } from '../../src/store/open-store.ts'
import type { AskedSubject } from '../../src/store/withholding/asked-subject.ts'
import { importRows, makeFolder, makePlace, queryStore, writeRows } from '../support/import-rows.ts'
import { makeApp, memberOf, type TestApp } from '../support/make-app.ts'
import { mustRun } from '../support/run-command.ts'
import { readSaid } from '../support/said.ts'
import { aboveStores, storeAt } from '../support/store-at.ts'
import { keepStore, storeBytes } from '../support/store-state.ts'
import { checkSound } from '../support/verify-store.ts'
import { checkGone, gb, hire, identifier, jane, listed, person, say } from '../support/withheld.ts'
import { beginImport, lift, one, prune, revert, withhold } from '../support/write-store.ts'
import { recordedOn } from '../support/history.ts'

test('examples in the log of imports lose what is withheld', async (t) => {
  const { folder, db: path } = makePlace(t, 'registry.db')
  const db = storeAt(path)
  const names = [`${jane} & Sons`, `${jane} Trading`]
  for (const [n, name] of names.entries()) {
    const rows = [
      { jurisdiction: 'GB', identifier: '1', name, owner: jane },
      { jurisdiction: 'GB', identifier: '2', name: `Other ${n}`, owner: jane },
    ]
    const file = writeRows(join(folder, `${n}.ndjson`), rows)
    const options = ['--source', 'x', '--snapshot', '--as-of', `2026-0${n + 1}-01`]
    await mustRun(folder, ['import', 'companies', file, '--db', db, ...options])
  }
  assert.ok((await storeBytes(path)).includes('Sons'))
  await withhold(path, 'erase', { company: ['GB', '1'] })
  assert.equal((await storeBytes(path)).includes('Sons'), false)
  await withhold(path, 'mask', { company: ['GB', '2'], text: jane })
  assert.equal((await storeBytes(path)).includes(jane), false)
  await mustRun(folder, `imports --json --db ${db}`)
})

test('a company that a person left before all kept versions loses the name, now and later', async (t) => {
  for (const kind of ['mask', 'erase'] as const) {
    const { db } = await makeApp(t)
    for (const [month, company] of ['1', '2', '2'].entries()) {
      await hire(db, company, { key: 'A', position: 'Chair' }, extract(month + 1))
    }
    await prune(db)
    await withhold(db, kind, person)
    await checkGone(db)
    await say(db, '1', { owner: jane })
    await checkGone(db)
  }
})

const extract = (month: number) => ({ ...recordedOn(`2026-0${month}-01`), isSnapshot: true })
const named = { jurisdiction: 'GB', identifier: '1', name: 'X Ltd' }

for (const kind of ['mask', 'erase'] as const) {
  test(`attributes named after a person get another name by ${kind}`, async (t) => {
    const { ask, db } = await makeApp(t)
    const appoint = (post: string, month: number) =>
      say(db, '1', { name: 'X Ltd', [jane]: post, seat: post }, extract(month))
    await appoint('Director', 1)
    await appoint('CEO', 2)
    await withhold(db, kind, { company: ['GB', '1'], text: jane })
    await appoint('Chair', 3)
    const { attributes } = await saidOf(ask)
    assert.deepEqual(attributes, { '[withheld]': 'Chair', name: 'X Ltd', seat: 'Chair' })
    const events = await ask('/api/v1/companies/GB:1/events')
    const changes = (memberOf(events, 'events') as Record<string, unknown>[])
      .map(({ attr, before, after }) => [attr, before, after].join(' '))
      .sort()
    assert.deepEqual(changes, [
      '[withheld] CEO Chair',
      ...(kind === 'mask' ? ['[withheld] Director CEO'] : []),
      'seat CEO Chair',
      'seat Director CEO',
    ])
    assert.deepEqual(memberOf(events, 'meta'), [
      ...(kind === 'mask' ? [{ type: '[withheld]', count: 2 }] : []),
      { type: 'seat', count: 2 },
      ...(kind === 'mask' ? [] : [{ type: '[withheld]', count: 1 }]),
    ])
    await checkGone(db, [jane])
  })
}

for (const kind of ['mask', 'erase'] as const) {
  test(`a change of another record that names a person is recorded without the name by ${kind}`, async (t) => {
    const { ask, db } = await makeApp(t)
    const load = (position: string, month: number) => {
      const people = [
        { ...gb('1'), id: 1, identifier, name: jane },
        { ...gb('1'), id: 2, identifier: '2', name: 'John Roe', position },
      ]
      return importRows(db, 'employees', people, extract(month))
    }
    await load('Clerk', 1)
    await withhold(db, kind, person)
    const { counts } = await load(`PA of ${jane}`, 2)
    assert.equal(counts.recorded, 1)
    const [{ before, after } = {}] = await listed(ask, 'GB:1/events', 'events')
    const hidden = kind === 'mask' ? 'John Roe, PA of [withheld]' : null
    assert.deepEqual([before, after], ['John Roe, Clerk', hidden])
    await checkSound(db)
  })
}

/** What the source says of the company. */
async function saidOf(ask: TestApp['ask']) {
  const company = memberOf(await ask('/api/v1/companies/GB:1'), 'company')
  return (company as { sources: [Record<string, unknown>] }).sources[0]
}

test('attributes with the names of what is kept of a statement lose a person alone', async (t) => {
  const { ask, db } = await makeApp(t)
  const texts = { version: jane, is_present: jane, said_in: jane }
  await importRows(db, 'companies', [{ ...named, ...texts }], extract(1))
  await withhold(db, 'mask', { company: ['GB', '1'], text: jane })
  const hidden = Object.fromEntries(Object.keys(texts).map((name) => [name, '[withheld]']))
  const said = await saidOf(ask)
  assert.deepEqual(said['attributes'], { ...hidden, name: 'X Ltd' })
  assert.equal(said['as_of'], extract(1).asOf)
  await checkSound(db)
})

test('a person at the beginning of a line is found in JSON', async (t) => {
  const { ask, db } = await makeApp(t)
  for (const [n, post] of ['Director', 'CEO'].entries()) {
    const seat = { text: `${post}:\n${jane}\u000b${jane.replace(' ', '\n')}` }
    await importRows(db, 'companies', [{ ...named, seat }], extract(n + 1))
  }
  await withhold(db, 'mask', { company: ['GB', '1'], text: jane })
  const [{ before, after } = {}] = await listed(ask, 'GB:1/events', 'events')
  const hidden = '\\n[withheld]\\u000b[withheld]"}'
  assert.deepEqual([before, after], [`{"text":"Director:${hidden}`, `{"text":"CEO:${hidden}`])
  await checkGone(db, ['Smith'])
})

test('the log keeps no shortened text that may name a person, nor what a later import repeats', async (t) => {
  const db = join(makeFolder(t), 'registry.db')
  const sayAll = (owner: string, month: number) => {
    const rows = Array.from({ length: 6 }, (_, n) => ({ ...named, identifier: `${n}`, owner }))
    return importRows(db, 'companies', rows, extract(month))
  }
  await sayAll(`${'x '.repeat(94)}${jane}`, 1)
  await sayAll(jane, 2)
  for (const identifier of ['0', '1', '2', '3', '4', '5']) {
    await withhold(db, 'mask', { company: ['GB', identifier], text: jane })
  }
  assert.equal((await storeBytes(db)).includes('Jáne'), false)
  await sayAll(jane, 3)
  assert.equal((await storeBytes(db)).includes('Jáne'), false)
})

test('a listing of many segments is rewritten where it holds the person', async (t) => {
  const { ask, db } = await makeApp(t)
  const rows = Array.from({ length: 8_000 }, (_, n) => ({
    id: n + 1,
    company_id: 7,
    name: `Person ${n}`,
    position: 'x'.repeat(300),
    identifier: n % 1_999 === 17 ? identifier : String(n),
  }))
  await importRows(db, 'employees', rows)
  await importRows(db, 'employees', rows.map((row) => ({ ...row, position: 'y' })).slice(0, 900))
  const segments = async () =>
    Number((await queryStore(db, 'select count(*) as n from segments'))[0]?.['n'])
  const before = await segments()
  const report = await withhold(db, 'erase', person)
  assert.equal(report.touched.filter(({ listing }) => listing === 'employees').length, 4)
  assert.ok(Math.abs((await segments()) - before) < 10)
  for (const path of ['', '&version=1']) {
    const answer = await ask(`/api/v1/companies/7/employees?limit=1${path}`)
    assert.equal(memberOf(answer, 'total'), 7_996)
  }
  const [last] = await listed(ask, '7/employees?limit=1&page=7996&version=1', 'employees')
  assert.equal(last?.['id'], 8_000)
  await checkSound(db)
})

test('a company with 150,000 records is erased', { skip: aboveStores }, async (t) => {
  const { db } = makePlace(t, 'registry.db')
  const rows = Array.from({ length: 150_000 }, (_, n) => ({ id: n + 1, company_id: 7 }))
  await importRows(db, 'jobs', rows)
  const { touched } = await withhold(db, 'erase', { company: 7 })
  assert.equal(touched.length, rows.length)
})

test('a record of 1 MiB may grow by a masked name, and the store is sound (3.10, 13)', async (t) => {
  const { db } = makePlace(t)
  const load = async (holders: readonly string[]) => {
    await importRows(db, 'rights', [{ company_id: 7, id: 1, holders }])
    const [row] = await queryStore(db, 'select largest from heads order by version desc limit 1')
    return Number(row?.['largest'])
  }
  const holders = ['Jo', ...Array.from({ length: 16 }, (_, n) => `${n}`.padEnd(65_000, 'x'))]
  const rest = 1_048_576 - (await load(holders)) - '"",'.length
  const whole = [...holders, 'y'.repeat(rest)]
  assert.equal(await load(whole), 1_048_576)
  await withhold(db, 'mask', { resource: 'rights', field: 'holders', value: 'Jo' })
  await checkSound(db)
  assert.equal(await load(whole), 1_048_584)
  await checkSound(db)
})

test('a record of two companies keeps its id when one of them is erased', async (t) => {
  const { ask, db } = await makeApp(t)
  const rows = ['1', '2'].map((company) => ({ key: 'k', name: 'R', ...gb(company) }))
  await importRows(db, 'rights', rows)
  const before = await ask('/api/v1/companies/GB:2/rights')
  await withhold(db, 'erase', { company: ['GB', '1'] })
  const again = await importRows(db, 'rights', rows)
  assert.deepEqual([again.counts.unchanged, again.counts.erased], [1, 1])
  assert.equal((await ask('/api/v1/companies/GB:2/rights')).text, before.text)
  await checkSound(db)
})

test('neither sources nor changes show an erased company at any version', async (t) => {
  const { ask, store, db } = await makeApp(t)
  await importRows(db, 'companies', [named, { ...named, identifier: '2' }], extract(1))
  await importRows(db, 'companies', [named], { source: 'other' })
  await withhold(db, 'erase', { company: ['GB', '1'] })
  const inspector = await openStoreInspector(storeAt(db), resources)
  const sources = await inspector.listSources()
  await inspector.close()
  const counts = sources.map(({ source, companies }) => [source, companies])
  assert.deepEqual(counts, [
    ['default', 1],
    ['other', 0],
  ])
  const key = await store.issueKey({ name: 'all', scopes: ['changes', 'companies'] })
  const at0 = '/api/v1/changes?after=0&until=0'
  assert.deepEqual(memberOf(await ask(at0, { key }), 'changes'), [])
  const one = await ask(`${at0}&company_id=1000000000001`, { key })
  assert.equal(one.status, 404, one.text)
  await checkSound(db)
})

for (const [how, company] of [
  ['name', ['GB', '1']],
  ['id', 7],
] as const) {
  test(`a company erased by its ${how} is erased under each id with its name`, async (t) => {
    const { ask, db } = await makeApp(t)
    await importRows(db, 'rights', [{ id: 1, ...gb('1'), name: 'Mistaken' }])
    await revert(db, { version: 1, isWithLater: false })
    await importRows(db, 'rights', [{ id: 2, ...gb('1'), company_id: 7, name: 'Right' }])
    const restore = await keepStore(db)
    await withhold(db, 'erase', { company })
    const checkErased = async () => {
      for (const query of ['', '?version=1']) {
        assert.equal((await ask(`/api/v1/companies/GB:1/rights${query}`)).status, 404)
      }
      const bytes = await storeBytes(db)
      for (const name of ['Mistaken', 'Right']) assert.equal(bytes.includes(name), false, name)
      await checkSound(db)
    }
    await checkErased()
    await restore()
    await importRows(db, 'rights', [])
    await checkErased()
  })
}

test('a change is withheld in all companies that have or had it', async (t) => {
  const db = join(makeFolder(t), 'registry.db')
  const change = { id: 4, date: '2024-05-01', attr: 'officers', after: `${jane}, Chair` }
  const rows = [1, 2].map((company_id) => ({ company_id, ...change }))
  await importRows(db, 'events', [...rows, { company_id: 3, ...change }])
  await importRows(db, 'events', rows, { isSnapshot: true })
  await importRows(db, 'employees', [{ id: 1, company_id: 1, name: jane, identifier }])
  await withhold(db, 'mask', person)
  await revert(db, one(2))
  await checkSound(db)
  const shown = await queryStore(db, 'select after from events_view order by company_id')
  const afters = shown.map(({ after }) => after)
  const expected = Array.from({ length: 3 }, () => '[withheld], Chair')
  assert.deepEqual(afters, expected)
  const { counts } = await importRows(db, 'events', rows)
  assert.deepEqual([counts.unchanged, counts.withheld], [2, 2])
})

for (const [kind, expected, shown] of [
  ['mask', [3, 2, 3, 0], [...Array.from({ length: 5 }, () => '[withheld]'), jane, '[withheld]']],
  ['erase', [1, 0, 3, 3], ['Nobody', 'Nobody', 'Nobody', jane, 'Nobody']],
] as const) {
  test(`a change given by a row of one of its companies is withheld in all by ${kind}`, async (t) => {
    const db = join(makeFolder(t), 'registry.db')
    const change = (company_id: number, id: object, after: string) => {
      return { company_id, ...id, date: '2024-05-01', attr: 'officers', after }
    }
    const [known, keyed, added, alone] = [{ id: 4 }, { key: 'k' }, { id: 5 }, { id: 6 }]
    const before = [1, 2].flatMap((company) => [
      change(company, known, 'Nobody'),
      change(company, keyed, 'Nobody'),
    ])
    await importRows(db, 'events', before)
    await importRows(db, 'employees', [{ id: 1, company_id: 1, name: jane, identifier }])
    await withhold(db, kind, person)
    await importRows(db, 'events', [change(2, known, jane)])
    const rows = [
      change(2, keyed, jane),
      ...[2, 1].map((company) => change(company, added, jane)),
      change(2, alone, jane),
    ]
    const { counts } = await importRows(db, 'events', rows)
    const { inserted, updated, withheld, erased } = counts
    assert.deepEqual([inserted, updated, withheld, erased], expected)
    await checkSound(db)
    const now = await queryStore(db, 'select after from events_view order by company_id, id')
    const afters = now.map(({ after }) => after)
    assert.deepEqual(afters, shown)
  })
}

test('a backup from before a record does not bring back the person in other texts', async (t) => {
  const db = join(makeFolder(t), 'registry.db')
  await say(db, '1', { owner: jane })
  const restore = await keepStore(db)
  await hire(db, '1', { id: 1 })
  await withhold(db, 'erase', person)
  await restore()
  // An import brings the store up to its list.
  await importRows(db, 'rights', [])
  const said = await readSaid(db)
  const told = said.map(({ attributes }) => attributes)
  assert.deepEqual(told, ['{"owner":"[withheld]"}'])
  await checkSound(db)
})

test('words are withheld in rows with a name that the company has got since', async (t) => {
  const { ask, db } = await makeApp(t)
  await importRows(db, 'rights', [{ id: 1, company_id: 7, name: 'R', holders: [jane] }])
  await withhold(db, 'mask', { resource: 'rights', field: 'holders', value: jane })
  await importRows(db, 'companies', [{ id: 7, ...named }])
  await importRows(db, 'companies', [{ ...named, name: `${jane} Ltd` }])
  assert.match((await ask('/api/v1/companies/GB:1')).text, /"id":7,.*"name":"\[withheld\] Ltd"/)
  await checkGone(db, [jane])
})

test('words are withheld in a company that a revert has forgotten, if it returns', async (t) => {
  const { ask, db } = await makeApp(t)
  await importRows(db, 'companies', [{ ...named, name: `${jane} Ltd` }])
  await revert(db, one(1))
  await withhold(db, 'mask', { company: ['GB', '1'], text: jane })
  await importRows(db, 'companies', [{ ...named, name: `${jane} Ltd` }])
  assert.match((await ask('/api/v1/companies/GB:1')).text, /"name":"\[withheld\] Ltd"/)
  await checkGone(db, [jane])
})

test('an import is refused if a company with withheld words got a name meanwhile', async (t) => {
  const db = join(makeFolder(t), 'registry.db')
  await importRows(db, 'rights', [{ id: 1, company_id: 7, name: 'R', holders: [jane] }])
  await withhold(db, 'mask', { resource: 'rights', field: 'holders', value: jane })
  const session = await beginImport(t, db, 'companies')
  await importRows(db, 'companies', [{ id: 7, ...named }])
  const late = session.prepare(() => undefined)
  await assert.rejects(late, /what is withheld has changed while this import read its files/)
})

const officers = (position: string) => [
  { id: 1, ...gb('1'), identifier, name: jane, position },
  { id: 2, ...gb('1'), identifier: '2', name: 'John Roe', position: 'Chair' },
]
const companies = [{ jurisdiction: 'GB', identifier: '1', name: `${jane} Ltd` }]

/** Nobody but John is left, now and in the past. */
async function checkErased(app: TestApp): Promise<void> {
  for (const query of ['', '?version=2']) {
    const left = await listed(app.ask, `GB:1/employees${query}`, 'employees')
    const names = left.map(({ name }) => name)
    assert.deepEqual(names, ['John Roe'])
  }
  await checkGone(app.db)
}

const masks: Readonly<Record<string, AskedSubject>> = {
  'the same value': person,
  'their id': { resource: 'employees', id: 1 },
}

for (const [how, masked] of Object.entries(masks)) {
  test(`a person masked by ${how} can be erased by a value, also in a restored backup`, async (t) => {
    const app = await makeApp(t)
    const { db } = app
    await importRows(db, 'companies', companies)
    await importRows(db, 'employees', officers('Director'))
    await importRows(db, 'employees', officers('CEO'))
    await withhold(db, 'mask', masked)
    const restore = await keepStore(db)
    const { touched } = await withhold(db, 'erase', person)
    const [one, ...more] = touched
    assert.deepEqual([one?.id, one?.isGone, one?.states, more.length], [1, true, 2, 0])
    await checkErased(app)
    await assert.rejects(withhold(db, 'erase', person), /no record of employees has this value in/)

    await lift(db, 1)
    const again = await importRows(db, 'employees', officers('CTO'))
    assert.deepEqual([again.counts.unchanged, again.counts.withheld], [1, 1])
    await importRows(db, 'companies', companies)
    await checkErased(app)

    await restore()
    await importRows(db, 'companies', companies)
    await checkErased(app)
  })
}

test('an erasure by a value leaves people who were masked together by another value', async (t) => {
  const { ask, db } = await makeApp(t)
  await importRows(db, 'employees', [
    { id: 1, ...gb('1'), identifier, name: jane },
    { id: 2, ...gb('1'), identifier: '2', name: jane },
  ])
  await withhold(db, 'mask', { resource: 'employees', field: 'name', value: jane })
  const refused = withhold(db, 'erase', person)
  await assert.rejects(refused, /no record of employees has this value in .*by its id/)
  assert.equal(memberOf(await ask('/api/v1/companies/GB:1/employees'), 'total'), 2)
})
