// Contract 9.4: the versions of the registry.

import assert from 'node:assert/strict'
import { DatabaseSync, type SQLInputValue, StatementSync } from 'node:sqlite'
import { after, test, type TestContext } from 'node:test'
import { rights } from '../../src/resources/rights.ts'
import { askAnnounced } from '../support/announcement.ts'
import { recordedOn } from '../support/history.ts'
import { one, revert } from '../support/write-store.ts'
import { type Answer, checkFailure, checkTag, makeApp, memberOf } from '../support/make-app.ts'
import { withReader } from '../support/open-reader.ts'
import { aboveStores, storeAt } from '../support/store-at.ts'

const made = await makeApp({ after })
const { ask, store } = made
const list = await askAnnounced(made, '/api/v1/versions')

interface Version {
  readonly version: number
  readonly committed_at: string
}

const versionsIn = (answer: Answer) => memberOf(answer, 'versions') as Version[]
const numbersIn = (answer: Answer) => versionsIn(answer).map(({ version }) => version)

test('before the first import there is no version (9.4)', async () => {
  const none = await list()
  assert.equal(
    none.text,
    '{"ok":true,"versions":[],"total":0,"pagination_total":0,"pagination_offset":0,' +
      '"earliest_version":1}',
  )
})

test('every import is a version, newest first, with what it changed (9.4)', async () => {
  const load = (name: string, day: string) =>
    store.importRows('companies', [{ jurisdiction: 'GB', identifier: '1', name }], {
      source: 'gov',
      ...recordedOn(day),
    })
  await load('Old', '2024-01-31')
  await load('New', '2024-02-29')
  const answer = await list()
  const [second, first] = versionsIn(answer)
  const { committed_at: committedAt = '', ...rest } = second ?? {}
  assert.match(committedAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  assert.deepEqual(rest, {
    version: 2,
    resource: 'companies',
    source: 'gov',
    as_of: '2024-02-29T00:00:00Z',
    inserted: 0,
    updated: 1,
    removed: 0,
    events: 1,
  })
  assert.equal(first?.version, 1)
  assert.equal(answer.headers['data-version'], '2')
})

test('the next page of versions begins before the last version of a page (9.4)', async () => {
  const first = await list('?limit=1')
  assert.deepEqual(numbersIn(first), [2])
  const next = '</api/v1/versions?before=2&limit=1>; rel="next"'
  assert.equal(first.headers['link'], `</api/v1/versions?limit=1>; rel="first", ${next}`)
  const second = await list('?before=2&limit=1')
  assert.deepEqual(numbersIn(second), [1])
  assert.equal(memberOf(second, 'pagination_offset'), 1)
  assert.equal(second.headers['link'], '</api/v1/versions?limit=1>; rel="first"')
  assert.deepEqual(numbersIn(await list('?before=1')), [])
})

test('a list that has not changed is a 304', async () => {
  await checkTag((question) => ask('/api/v1/versions', question))
})

test('any valid key may list versions, and no other (7, 9.4)', async () => {
  const key = await store.issueKey({ name: 'narrow', scopes: ['rights'] })
  assert.equal((await list('', { key })).status, 200)
  checkFailure(await list('', { authorization: null }), 403, 'Forbidden')
})

test('a wrong parameter is named, with what it takes (1.3, 1.4)', async () => {
  for (const [query, message] of [
    ['?before=0', /before is "0"; it takes an integer from 1 to/],
    ['?limit=1001', /limit is "1001"; it takes an integer from 1 to 1000/],
    ['?befor=1', /"befor" is not a known query parameter; did you mean before\?/],
  ] as const) {
    checkFailure(await list(query), 400, message)
  }
})

/** An application, whose imports of company 7 a day finds. */
async function makeDated(t: TestContext) {
  const { ask, store } = await makeApp(t)
  const askAt = (day: string, resource = 'rights') =>
    ask(`/api/v1/companies/7/${resource}?as_of=${day}`)
  return {
    askAt,
    versionAt: async (day: string) => (await askAt(day)).headers['data-version'],
    load: (name: string, day: string, source: string, resource = 'rights') =>
      store.importRows(resource, [{ key: 'k', company_id: 7, name }], {
        asOf: `${day}T00:00:00Z`,
        source,
      }),
    revertOf: (version: number) => revert(store.db, one(version)),
  }
}

test('a day finds no version with a later extract, even if that was reverted (9.2)', async (t) => {
  const { askAt, load, revertOf, versionAt } = await makeDated(t)
  await load('January', '2024-01-31', 'a')
  await load('wrong', '2024-02-29', 'a')
  await load('another', '2024-02-15', 'b')
  await revertOf(2)
  await load('February', '2024-02-29', 'a')
  assert.equal(await versionAt('2024-01-31'), '1')
  assert.equal(await versionAt('2024-02-20'), '4')
  assert.equal(await versionAt('2024-02-29'), '5')
  // Of employees there is no version before the one that takes the wrong extract back.
  await load('mistyped', '2042-01-31', 'a', 'employees')
  await load('January', '2024-01-31', 'b', 'employees')
  await load('March', '2024-03-31', 'b', 'employees')
  await revertOf(6)
  const takes = 'the earliest day is 2024-03-31'
  const early = await askAt('2024-02-10', 'employees')
  checkFailure(early, 404, `Nothing is known of employees as of 2024-02-10; ${takes}`)
  assert.equal((await askAt('2024-03-31', 'employees')).headers['data-version'], '9')
})

test('a day finds what was in force then, whatever was reverted or restored since (9.2)', async (t) => {
  const { load, revertOf, versionAt } = await makeDated(t)
  await load('January', '2024-01-31', 'a')
  await load('February', '2024-02-29', 'a')
  await revertOf(2)
  await revertOf(3)
  await load('another', '2024-02-15', 'b')
  await revertOf(4)
  // Version 4 restored February, so it is of a later day, though it was reverted.
  assert.equal(await versionAt('2024-02-01'), '3')
  assert.equal(await versionAt('2024-02-20'), '6')
  await revertOf(6)
  assert.equal(await versionAt('2024-02-01'), '3')
  assert.equal(await versionAt('2024-02-20'), '6')
  assert.equal(await versionAt('2024-02-29'), '7')
})

test('one read of the log finds a day among reverts (9.2)', { skip: aboveStores }, async (t) => {
  const app = await makeApp(t)
  await app.store.importRows('rights', [{ key: 'k', company_id: 7 }], { asOf: '2024-01-31' })
  using db = new DatabaseSync(storeAt(app.store.db))
  const row = db.prepare('select * from imports').get() ?? {}
  const columns = Object.keys(row)
  const add = db.prepare(`insert into imports values (${columns.map(() => '?').join()})`)
  const last = 999
  db.exec('begin')
  for (let version = 2; version < last; version += 2) {
    const wrong = { version, as_of: '2024-02-29', reverted_by: version + 1 }
    add.run(...Object.values({ ...row, ...wrong }))
    const reverts = { version: version + 1, reverts: `[${version}]` }
    add.run(...Object.values({ ...row, ...reverts }))
  }
  db.exec('commit')
  const answer = await app.ask('/api/v1/companies/7/rights?as_of=2024-02-01')
  assert.equal(answer.headers['data-version'], String(last))
  await withReader(app.store.db, async (reader) => {
    const read = countRows(t)
    for (const day of ['2024-02-01', '2024-02-02']) {
      assert.deepEqual(await reader.findVersion(rights, { asOf: day }), { version: last })
    }
    const state = 1
    assert.deepEqual(read, [state, last, state])
  })
})

/** The numbers of rows that each statement of SQLite returns from now on. */
function countRows(t: TestContext): readonly number[] {
  const counts: number[] = []
  const all = Reflect.get(StatementSync.prototype, 'all')
  t.mock.method(
    StatementSync.prototype,
    'all',
    function (this: StatementSync, ...values: SQLInputValue[]) {
      const rows = Reflect.apply(all, this, values) as unknown[]
      counts.push(rows.length)
      return rows
    },
  )
  return counts
}

test('a day before the first import of a listing is a 404 that names the first day (9.2)', async (t) => {
  const { askAt, load } = await makeDated(t)
  await load('a person', '2023-06-30', 'a', 'employees')
  await load('February', '2024-02-29', 'a')
  // A later import of an earlier day does not make that day known.
  await load('January', '2024-01-15', 'another')
  const refused = await askAt('2024-01-31')
  const takes = 'the earliest day is 2024-02-29'
  checkFailure(refused, 404, `Nothing is known of rights as of 2024-01-31; ${takes}`)
  assert.equal(refused.headers['content-location'], undefined)
  assert.equal((await askAt('2024-02-29')).status, 200)
  assert.equal(memberOf(await askAt('2024-01-31', 'employees'), 'total'), 1)
  const jobs = await askAt('2024-01-31', 'jobs')
  checkFailure(jobs, 404, 'Nothing is known of jobs yet; nothing was imported')
})
