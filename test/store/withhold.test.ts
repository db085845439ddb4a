// What is withheld is gone from the present and from every past version, and does not come back
// (contract 13).

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { resources } from '../../src/resources/index.ts'
import { isServerStore } from '../../src/config/setting-kinds.ts'
import { openStoreInspector, openStoreReader, openStoreWriter } from '../../src/store/open-store.ts'
import { importRows, makeFolder, makePlace } from '../support/import-rows.ts'
import { makeApp, memberOf } from '../support/make-app.ts'
import { runCommand } from '../support/run-command.ts'
import { checkExit } from '../support/run-dossier.ts'
import { storeAt } from '../support/store-at.ts'
import { keepStore, storeBytes } from '../support/store-state.ts'
import type { Scope } from '../support/temp-store.ts'
import { checkSound } from '../support/verify-store.ts'
import { checkGone, gb, hire, identifier, jane, listed, person } from '../support/withheld.ts'
import { beginImport, lift, withhold } from '../support/write-store.ts'
import { recordedOn } from '../support/history.ts'

const officers = (position: string, others: readonly object[] = []) => [
  { ...gb('1'), key: `k${identifier}`, identifier, name: jane, position },
  { ...gb('1'), key: 'b', identifier: '2', name: 'John Roe', position: 'Chair' },
  ...others,
]

const history = (month: number) => ({ ...recordedOn(`2026-0${month}-01`), isSnapshot: true })

const companies = [
  {
    jurisdiction: 'GB',
    identifier: '1',
    name: `${jane} Trading`,
    contact: { to: [jane, 1], [jane]: 2 },
  },
  { jurisdiction: 'GB', identifier: '2', name: 'Janet Doe' },
]

/** Two versions of a company's employees after its attributes, with a recorded change. */
async function load(db: string): Promise<void> {
  await importRows(db, 'companies', companies)
  await importRows(db, 'employees', officers('Director'), history(1))
  await importRows(db, 'employees', officers('CEO'), history(2))
}

/** The same in the store of an application. */
async function makeRegistry(t: Scope) {
  const app = await makeApp(t)
  await load(app.db)
  return app
}

const one = (path = '') => `/api/v1/companies/GB:1${path}`

test('the record of a masked person is kept, now and in every past version', async (t) => {
  const app = await makeRegistry(t)
  const report = await withhold(app.db, 'mask', person)
  assert.deepEqual([report.number, report.version, report.names], [1, 4, 1])
  for (const [path, position] of [
    ['/employees', 'CEO'],
    ['/employees?version=3', 'CEO'],
    ['/employees?version=2', 'Director'],
  ] as const) {
    const [masked, other, ...more] = await listed(app.ask, `GB:1${path}`, 'employees')
    assert.deepEqual([masked?.['identifier'], masked?.['name']], [null, '[withheld]'])
    assert.deepEqual([masked?.['position'], more.length], [position, 0])
    assert.equal(other?.['name'], 'John Roe')
  }
  assert.equal((await app.ask(one('/employees?identifier='))).status, 200)
  const none = await app.ask(one(`/employees?identifier=${identifier}`))
  assert.equal(memberOf(none, 'pagination_total'), 0)
  const [event] = await listed(app.ask, 'GB:1/events', 'events')
  const states = [event?.['before'], event?.['after']]
  assert.deepEqual(states, ['[withheld], Director', '[withheld], CEO'])
  await checkGone(app.db)
})

test('an erased person is in no listing, no recorded change and no total', async (t) => {
  const app = await makeRegistry(t)
  await withhold(app.db, 'erase', person)
  for (const path of ['/employees', '/employees?version=2']) {
    const answer = await app.ask(one(path))
    assert.equal(memberOf(answer, 'total'), 1)
    assert.equal(answer.text.includes('withheld'), false)
  }
  const events = await app.ask(one('/events'))
  assert.deepEqual([memberOf(events, 'total'), memberOf(events, 'meta')], [0, []])
  await checkGone(app.db)
})

test('the person is removed from what sources say and from the names of companies, with their words', async (t) => {
  const app = await makeRegistry(t)
  const find = async (words: string) =>
    memberOf(await app.ask(`/api/v1/companies?q=${words}`), 'total')
  assert.deepEqual([await find('jane'), await find('smith+tra')], [2, 1])
  await withhold(app.db, 'erase', person)
  assert.deepEqual([await find('jane'), await find('smith'), await find('tra')], [1, 0, 1])
  const whole = memberOf(await app.ask(one()), 'company') as {
    name: string
    sources: { attributes: unknown }[]
  }
  assert.equal(whole.name, '[withheld] Trading')
  assert.deepEqual(whole.sources[0]?.attributes, {
    name: '[withheld] Trading',
    contact: { to: ['[withheld]', 1], '[withheld]': 2 },
  })
  const other = await app.ask('/api/v1/companies/GB:2')
  assert.match(other.text, /Janet Doe/)
})

test('words are removed from what is said about one company', async (t) => {
  const app = await makeRegistry(t)
  await withhold(app.db, 'mask', { company: ['GB', '2'], text: 'janet DOE' })
  const texts = async (of: string) => (await app.ask(`/api/v1/companies/${of}`)).text
  assert.match(await texts('GB:2'), /"name":"\[withheld\]"/)
  assert.match(await texts('GB:1'), /Jáne/)
  const again = await importRows(app.db, 'companies', companies)
  assert.deepEqual([again.counts.unchanged, again.counts.withheld], [2, 1])
  const masked = withhold(app.db, 'erase', { company: ['GB', '2'], text: 'Janet Doe' })
  await assert.rejects(masked, /has no such text .* \(words already masked are kept masked\); /)
  const refused = withhold(app.db, 'erase', { company: ['GB', '2'], text: 'Jo' })
  await assert.rejects(refused, /company GB 2 has no such text of three letters or more/)
  const unknown = withhold(app.db, 'erase', { company: ['GB', '9'], text: 'Janet Doe' })
  await assert.rejects(unknown, /company GB 9 is not in the registry, now or in a past version; /)
  await checkSound(app.db)
})

test('an erased company gets the 404 of an unknown one, in every version', async (t) => {
  const app = await makeRegistry(t)
  const unknown = await app.ask('/api/v1/companies/GB:9/employees')
  await withhold(app.db, 'erase', { company: ['GB', '1'] })
  for (const path of ['', '/employees', '/events', '/employees?version=2']) {
    const answer = await app.ask(one(path))
    assert.equal(answer.status, 404, path)
    assert.equal(answer.text, unknown.text.replace('GB:9', 'GB:1'))
  }
  assert.equal(memberOf(await app.ask('/api/v1/companies?identifier=1'), 'total'), 0)
  assert.equal(memberOf(await app.ask('/api/v1/companies?q=trading'), 'total'), 0)
  await checkGone(app.db)
  const again = await importRows(app.db, 'employees', officers('CEO'))
  assert.deepEqual([again.counts.withheld, again.counts.companiesCreated], [2, 0])
  const named = await importRows(app.db, 'companies', companies)
  assert.deepEqual([named.counts.withheld, named.counts.companiesCreated], [1, 0])
  assert.equal((await app.ask(one())).status, 404)
  await checkGone(app.db)
})

test('tags and Last-Modified change with a withholding, and no other company’s do (5)', async (t) => {
  const app = await makeRegistry(t)
  await importRows(app.db, 'employees', [{ ...gb('2'), key: 'x', name: 'X' }])
  const paths = ['/employees', '/employees?version=2', '/employees?sort=name', '/events', '']
  const validatorsOf = (of: string) =>
    Promise.all(
      paths.map(async (path) => {
        const { headers } = await app.ask(`/api/v1/companies/${of}${path}`)
        return { tag: headers['etag'] ?? '', modified: headers['last-modified'] ?? '' }
      }),
    )
  const [before, others] = [await validatorsOf('GB:1'), await validatorsOf('GB:2')]
  await sleep(1_000)
  await withhold(app.db, 'mask', person)
  for (const [n, { tag, modified }] of (await validatorsOf('GB:1')).entries()) {
    const former = before[n] ?? { tag: '', modified: '' }
    assert.notEqual(tag, former.tag, String(paths[n]))
    // A client may compare times alone: curl --time-cond.
    assert.ok(Date.parse(modified) > Date.parse(former.modified), String(paths[n]))
    const headers = { 'if-none-match': former.tag }
    assert.equal((await app.ask(one(paths[n]), { headers })).status, 200)
  }
  assert.deepEqual(await validatorsOf('GB:2'), others)
})

test('what is imported again stays withheld, is counted, and makes no event', async (t) => {
  for (const kind of ['mask', 'erase'] as const) {
    const app = await makeRegistry(t)
    await withhold(app.db, kind, person)
    const before = await app.ask(one('/events'))
    const same = await importRows(app.db, 'employees', officers('CEO'), history(3))
    const { withheld, erased, unchanged, recorded } = same.counts
    const [gone, kept] = kind === 'erase' ? [1, 1] : [0, 2]
    assert.deepEqual([withheld, erased, unchanged, recorded], [1, gone, kept, 0])
    const said = await importRows(app.db, 'companies', companies)
    assert.deepEqual([said.counts.unchanged, said.counts.withheld], [2, 1])
    assert.equal((await app.ask(one('/events'))).text, before.text)
    // Elsewhere, under another key, and with another name.
    const more = [{ ...gb('2'), key: 'y', identifier, name: 'J. Smith', position: 'Clerk' }]
    await importRows(app.db, 'employees', officers('CEO', more), history(4))
    const answer = await app.ask('/api/v1/companies/GB:2/employees')
    assert.equal(memberOf(answer, 'total'), kind === 'mask' ? 1 : 0)
    assert.equal(answer.text.includes('J. Smith'), false)
    // By its key alone.
    const unnamed = officers('CEO').map((row) => ({ ...row, identifier: null }))
    await importRows(app.db, 'employees', unnamed, history(5))
    assert.equal(memberOf(await app.ask(one('/employees')), 'total'), kind === 'mask' ? 2 : 1)
    await checkGone(app.db)
  }
})

test('a record is withheld by its id alone', async (t) => {
  const { ask, db } = await makeApp(t)
  const rows = [
    { id: 1, company_id: 7, name: 'R', holders: [jane, 'B Ltd'] },
    { id: 11, company_id: 7, name: 'S', holders: [jane] },
  ]
  await importRows(db, 'rights', rows)
  await withhold(db, 'mask', { resource: 'rights', id: 1 })
  const holders = async () => (await listed(ask, '7/rights', 'rights')).map((one) => one['holders'])
  assert.deepEqual(await holders(), [['[withheld]', '[withheld]'], [jane]])
  await withhold(db, 'mask', { resource: 'rights', field: 'holders', value: jane })
  assert.deepEqual(await holders(), [['[withheld]', '[withheld]'], ['[withheld]']])
  const again = await importRows(db, 'rights', rows)
  assert.deepEqual([again.counts.unchanged, again.counts.withheld], [2, 2])
  await withhold(db, 'erase', { resource: 'rights', id: 11 })
  assert.equal((await holders()).length, 1)
  const other = { id: 12, company_id: 7, name: 'T', holders: ['Ann Oak', 'B Ltd'] }
  await importRows(db, 'rights', [other])
  for (const [kind, left] of [
    ['mask', 2],
    ['erase', 1],
  ] as const) {
    await withhold(db, kind, { resource: 'rights', field: 'holders', value: 'Ann Oak' })
    assert.equal((await holders()).length, left)
  }
  await checkGone(db)
})

test('a record that names nobody yet is withheld, by each of its orders', async (t) => {
  const { ask, db } = await makeApp(t)
  const load = (row: object) =>
    importRows(db, 'employees', [{ company_id: 7, position: 'Clerk', ...row }])
  await load({ id: 5 })
  await load({ key: 'a' })
  const place = { resource: 'employees', id: 5 } as const
  for (const id of [5, 5, 1_000_000_000_001]) await withhold(db, 'mask', { ...place, id })
  await lift(db, 1)
  await load({ id: 5, name: jane })
  await load({ key: 'a', name: jane })
  const names = (await listed(ask, '7/employees', 'employees')).map(({ name }) => name)
  assert.deepEqual(names, ['[withheld]', '[withheld]'])
  await checkGone(db)
})

test('records that name somebody else now are kept, without their past', async (t) => {
  const { ask, db } = await makeApp(t)
  const ann = { id: 5, identifier: '3', name: 'Ann' }
  await hire(db, '1', { id: 5 })
  await hire(db, '1', ann)
  await withhold(db, 'erase', person)
  const count = async (path: string) => memberOf(await ask(one(path)), 'total')
  assert.deepEqual([await count('/employees'), await count('/employees?version=1')], [1, 0])
  const again = await hire(db, '1', ann)
  assert.deepEqual([again.counts.unchanged, again.counts.withheld], [1, 0])
  await checkGone(db)
})

test('a dry run shows every place, and changes nothing', async (t) => {
  const { db } = await makeRegistry(t)
  const before = await storeBytes(db)
  const report = await withhold(db, 'erase', person, true)
  assert.deepEqual([report.number, report.version, report.names], [undefined, undefined, 1])
  const told = report.touched.map((place) => [place.listing, place.isPresent, place.states])
  assert.deepEqual(told, [
    ['employees', true, 2],
    ['events', true, 1],
    ['companies', true, 1],
  ])
  assert.deepEqual(await storeBytes(db), before)
  const done = await withhold(db, 'erase', person)
  assert.deepEqual(done.touched, report.touched)
})

test('a withholding of something unknown is refused, and nothing is listed', async (t) => {
  const { db } = await makeRegistry(t)
  const before = await storeBytes(db)
  for (const [subject, message] of [
    [
      { ...person, value: '9' },
      /no record of employees has this value in .* company … --text\); nothing was withheld/,
    ],
    [{ resource: 'rights', id: 12 }, /rights has no record 12, now or in a past version/],
    [{ company: ['GB', '12'] }, /company GB 12 is not in the registry/],
    [{ company: 12 }, /company 12 is not in the registry/],
  ] as const) {
    await assert.rejects(withhold(db, 'erase', subject), message)
  }
  assert.deepEqual(await storeBytes(db), before)
  assert.deepEqual(await entriesOf(db), [])
})

async function entriesOf(db: string) {
  const store = await openStoreInspector(storeAt(db), resources)
  try {
    return await store.readWithheld()
  } finally {
    await store.close()
  }
}

test('the list shows neither names nor numbers nor keys of anybody', async (t) => {
  const { db } = await makeRegistry(t)
  await withhold(db, 'erase', person)
  await withhold(db, 'erase', { company: ['GB', '2'] })
  const text = JSON.stringify(await entriesOf(db))
  for (const told of [identifier, 'Jáne', 'Smith', `k${identifier}`])
    assert.equal(text.includes(told), false)
})

test('after an order is lifted, the record returns under its id', async (t) => {
  const app = await makeRegistry(t)
  const [before] = await listed(app.ask, 'GB:1/employees', 'employees')
  await withhold(app.db, 'erase', person)
  await lift(app.db, 1)
  await assert.rejects(lift(app.db, 1), /order 1 has already been lifted/)
  await assert.rejects(lift(app.db, 7), /there is no order 7/)
  const { counts } = await importRows(app.db, 'employees', officers('CEO'), { isSnapshot: true })
  assert.deepEqual([counts.inserted, counts.withheld], [1, 0])
  const [after] = await listed(app.ask, 'GB:1/employees', 'employees')
  assert.deepEqual(after, before)
})

test('a store that is behind its list is not served; the next writer brings it up (9)', async (t) => {
  const { folder, db: path } = makePlace(t, 'registry.db')
  const db = storeAt(path)
  await load(path)
  const restore = await keepStore(path)
  await withhold(path, 'erase', person)
  await restore()
  await assert.rejects(openStoreReader(db), /is behind .* by an entry.*dossier migrate --db/)
  // An order that is being committed looks the same, for a moment.
  const openedAt = performance.now()
  const opening = openStoreReader(db).then(
    (store) => store.close(),
    (error: unknown) => error,
  )
  const first = await runCommand(folder, `migrate --db ${db}`)
  assert.match(first.out, /applied an entry of /)
  // The moment is a second, which a busy machine may need for the command alone.
  if (performance.now() - openedAt < 1_000) assert.equal(await opening, undefined)
  else await opening
  await withhold(path, 'mask', { resource: 'employees', field: 'name', value: 'John Roe' })
  await restore()
  assert.ok((await storeBytes(path)).includes(identifier), 'the backup has it')
  const behind = /is behind .*, the list of what is withheld, by 2 entries.*dossier migrate --db/
  await assert.rejects(openStoreReader(db), behind)
  for (const command of ['verify', 'imports', 'find GB 1', 'backup x.db', 'serve']) {
    if (isServerStore(db) && command.startsWith('backup')) continue
    checkExit(await runCommand(folder, [...command.split(' '), '--db', db]), 1, behind)
  }
  const migrated = await runCommand(folder, `migrate --db ${db}`)
  assert.match(migrated.out, /applied 2 entries of /)
  await checkGone(path)
  assert.equal((await storeBytes(path)).includes('John Roe'), false)
  await (await openStoreReader(db)).close()
})

test('a restored backup keeps the record of a lifted order', async (t) => {
  const path = join(makeFolder(t), 'registry.db')
  await load(path)
  const restore = await keepStore(path)
  await withhold(path, 'erase', person)
  await lift(path, 1)
  await restore()
  const { counts } = await importRows(path, 'employees', officers('CEO'), { isSnapshot: true })
  assert.deepEqual([counts.unchanged, counts.inserted], [2, 0], 'the backup has the record')
  await checkSound(path)
})

test('an import that has read its files before a withholding changes nothing', async (t) => {
  const { db } = await makeRegistry(t)
  const session = await beginImport(t, db, 'employees')
  await withhold(db, 'erase', person)
  const before = await storeBytes(db)
  const late = session.prepare(() => undefined)
  await assert.rejects(late, /what is withheld has changed while this import read its files/)
  assert.deepEqual(await storeBytes(db), before)
})

test('versions before and after a withholding can be requested and reverted', async (t) => {
  const app = await makeRegistry(t)
  await withhold(app.db, 'erase', person)
  const versions = memberOf(await app.ask('/api/v1/versions'), 'versions') as object[]
  const expected = { version: 4, resource: 'employees', removed: 1, inserted: 0 }
  assert.partialDeepStrictEqual(versions[0], expected)
  const asOf = await app.ask(one('/employees?as_of=2026-01-15'))
  assert.equal(asOf.headers['data-version'], '2')
  const store = await openStoreWriter(storeAt(app.db), resources)
  t.after(() => store.close())
  const plan = { isDryRun: false, startedAt: Date.now(), onWait: () => undefined }
  const refused = store.revert({ ...plan, range: { version: 4, isWithLater: false } })
  await assert.rejects(refused, /version 4 is a withholding, which cannot be reverted/)
  await store.revert({ ...plan, range: { to: 2 } })
  assert.equal(memberOf(await app.ask(one('/employees')), 'total'), 1)
  await checkGone(app.db)
})
