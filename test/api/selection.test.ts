// Filters, order and version of a listing (contract sections 9 and 10).

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { changeResource } from '../../src/resources/index.ts'
import { queryValue } from '../support/import-rows.ts'
import { type Answer, checkFailure, linksOf, makeApp, memberOf } from '../support/make-app.ts'
import { recordedOn } from '../support/history.ts'

const rights = '/api/v1/companies/7/rights'

const statuses = ['registered', 'ended', 'a&b=c', null, 'registered', 'é😀']
const trademarks = statuses.map((status, n) => ({
  id: n + 1,
  company_id: 7,
  status,
  name: ['b', 'B', 'é', null, '\uffee', '😀'][n],
  registration_date: n === 3 ? null : `2019-0${n + 1}-01T00:00:0${n}Z`,
  updated_at: n === 3 ? null : `2020-01-01T00:00:00.00${n}Z`,
}))

/** An application with these rights, which no test changes. */
const { ask, store } = await makeApp({ after })
await store.importRows('rights', trademarks)

const idsOf = (answer: Answer, name = 'rights') =>
  (memberOf(answer, name) as readonly { id: number }[]).map(({ id }) => id)
test('a filter matches equal bytes, one of several values, or null (10.2)', async () => {
  for (const [query, ids] of [
    ['status=registered', [1, 5]],
    ['status=Registered', []],
    ['status=registered&status=ended', [1, 2, 5]],
    ['status=', [4]],
    ['status=&status=ended', [2, 4]],
    ['status=a%26b%3Dc', [3]],
    [`status=${encodeURIComponent('é😀')}`, [6]],
    ['registration_date=', [4]],
    ['registration_date=2019-01-01', [1]],
    ['status=registered&registration_date=2019-05-01', [5]],
  ] as const) {
    const answer = await ask(`${rights}?${query}`)
    assert.deepEqual([query, idsOf(answer)], [query, ids])
    const counts = ['total', 'pagination_total'].map((name) => memberOf(answer, name))
    assert.deepEqual(counts, [6, ids.length])
  }
})

test('a range has bounds, and a day stands for its first or its last moment (10.2)', async () => {
  for (const [query, ids] of [
    ['registration_date[gte]=2019-02-01', [2, 3, 5, 6]],
    ['registration_date[gt]=2019-02-01', [3, 5, 6]],
    ['registration_date[lt]=2019-02-01', [1]],
    ['registration_date[lte]=2019-02-01', [1, 2]],
    ['registration_date%5Bgte%5D=2019-02-01T00:00:01Z&registration_date[lt]=2019-06-01', [2, 3, 5]],
    ['registration_date[gt]=2019-02-01T00:00:01Z', [3, 5, 6]],
    ['registration_date[lte]=2019-02-01T00:00:00.999Z', [1]],
    ['updated_at[gt]=2020-01-01T00:00:00.001Z', [3, 5, 6]],
    ['updated_at[lte]=2020-01-01', [1, 2, 3, 5, 6]],
    ['updated_at[gt]=2020-01-01', []],
  ] as const) {
    assert.deepEqual([query, idsOf(await ask(`${rights}?${query}`))], [query, ids])
  }
})

test('records are in the order asked for, null last, text by code point (10.4)', async () => {
  for (const [sort, ids] of [
    ['name', [2, 1, 3, 5, 6, 4]],
    ['-name', [6, 5, 3, 1, 2, 4]],
    ['-registration_date', [6, 5, 3, 2, 1, 4]],
    ['updated_at', [1, 2, 3, 5, 6, 4]],
  ] as const) {
    const pages = [1, 2, 3].map((page) => ask(`${rights}?sort=${sort}&limit=2&page=${page}`))
    const told = (await Promise.all(pages)).flatMap((answer) => idsOf(answer))
    assert.deepEqual(told, ids)
  }
})

test('a filter in the body means the same as in the query (1.2)', async () => {
  const range = { registration_date: { gte: '2019-02-01', lt: '2019-06-01' } }
  for (const [json, query] of [
    [{ status: ['ended', 'registered'] }, 'status=registered&status=ended'],
    [{ status: null }, 'status='],
    [range, 'registration_date[gte]=2019-02-01&registration_date[lt]=2019-06-01'],
    [{ sort: '-name', limit: 2, version: 1 }, 'limit=2&sort=-name&version=1'],
  ] as const) {
    const [one, other] = [await ask(rights, { json }), await ask(`${rights}?${query}`)]
    assert.equal(one.status, 200, one.text)
    assert.equal(one.text, other.text)
    for (const name of ['etag', 'link']) assert.equal(one.headers[name], other.headers[name])
  }
  const both = await ask(`${rights}?status=ended&status=registered`, {
    json: { status: ['registered', 'ended'] },
  })
  assert.equal(both.status, 200)
  const differing = await ask(`${rights}?status=ended`, { json: { status: 'registered' } })
  checkFailure(differing, 400, 'status differs between the query and the body; give only one')
})

test('only a filter takes a list in the body, and no parameter has two values (1.3)', async () => {
  const gte = '2019-01-01'
  for (const [json, message] of [
    [{ version: [1] }, /^version is \[1\]; it takes one value$/],
    [{ as_of: ['2024-01-31'] }, /^as_of is \["2024-01-31"\]; it takes one value$/],
    [{ sort: ['name'] }, /^sort is \["name"\]; it takes one value$/],
    [{ sort: [] }, /^sort is \[\]; it takes one value$/],
    [{ registration_date: { gte: [gte] } }, /^registration_date\[gte\] is \["2019-01-01"\]; it t/],
    [
      { registration_date: { gte }, 'registration_date[gte]': '2020-01-01' },
      /^registration_date\[gte\] is given more than once; it takes one value$/,
    ],
    [{ registration_dat: { gte } }, /^"registration_dat\[gte\]" is not a .*; did you mean /],
  ] as const) {
    checkFailure(await ask(rights, { json }), 400, message)
  }
  const employees = '/api/v1/companies/1/employees'
  const ofList = await ask(employees, { json: { current_on: [gte] } })
  checkFailure(ofList, 400, /^current_on is \["2019-01-01"\]; it takes one value$/)
  assert.equal((await ask(rights, { json: { registration_date: [gte] } })).status, 200)
})

test('an invalid filter, bound, value or order is a 400 that says what is valid (10.6)', async () => {
  for (const [query, message] of [
    ['statsu=x', /^"statsu" is not a known query parameter; did you mean status\?$/],
    ['currency=EUR', /^"currency" is not a known query parameter; /],
    ['status[]=x', /^"status\[\]" is not a known .*; for any of several values, repeat status$/],
    ['status[gte]=x', /^"status\[gte\]" is not a known .*; status has no bounds$/],
    ['registration_date[ge]=x', /; bounds are gte, gt, lt, lte$/],
    ['registration_date[gte]=2019-02-30', /^registration_date\[gte\] is "2019-02-30"; it takes a/],
    ['registration_date[gte]=', /^registration_date\[gte\] is ""; it takes a day/],
    ['registration_date[gte]=2019-01-01&registration_date[gt]=2019-01-01', /two bounds on one/],
    ['updated_at[lt]=2019-01-01&updated_at[lte]=2019-01-01', /on one side, lte and lt; give one/],
    ['registration_date[gte]=2019-01-01&registration_date[gte]=2019-01-02', /more than once/],
    ['sort=holders', /^sort is "holders"; it takes .*registration_date or -registration_date/],
    ['sort=name&sort=-name', /^sort is given more than once/],
    ['current_on=2019-01-01', /^"current_on" is not a known query parameter/],
    [
      Array.from({ length: 21 }, (_, n) => `status=${n}`).join('&'),
      /^status has 21 values; it takes 1 to 20$/,
    ],
    ['version=0', /^version is "0"; it takes the number of a version/],
    ['version=1&as_of=2024-01-01', /^version and as_of are given; give one of them$/],
    ['as_of=2024', /^as_of is "2024"; it takes a day/],
    ['known_at=2024-01-31', /^known_at is "2024-01-31"; it takes a moment/],
  ] as const) {
    checkFailure(await ask(`${rights}?${query}`), 400, message)
  }
  for (const name of ['status', 'registration_date', 'version']) {
    const message = new RegExp(`^${name} is \\{\\}; an object takes bounds, such as gte$`)
    checkFailure(await ask(rights, { json: { [name]: {} } }), 400, message)
  }
  const none = await ask(rights, { json: { status: [] } })
  checkFailure(none, 400, 'status has 0 values; it takes 1 to 20')
  const fraction = await ask(rights, { json: { registration_number: 1.5 } })
  checkFailure(
    fraction,
    400,
    'registration_number is 1.5; it takes text, an integer in plain digits, or null',
  )
  const repeated = await ask(`${rights}?${'&status=x'.repeat(21)}`)
  checkFailure(repeated, 400, 'status has 21 values; it takes 1 to 20')
  assert.equal((await ask(`${rights}?${'&status=x'.repeat(20)}`)).status, 200)
})

test('people who held a position on a day are found with current_on (10.3)', async () => {
  const periods = [
    ['2019-01-01', '2019-12-31'],
    ['2019-06-30', null],
    [null, '2019-06-29'],
    [null, null],
    ['2019-07-01', null],
    ['2019-06-30T23:59:59Z', '2019-06-30T00:00:00Z'],
  ] as const
  const rows = periods.map(([start_date, end_date], n) => ({
    id: n + 1,
    company_id: 7,
    start_date,
    end_date,
  }))
  await store.importRows('employees', rows)
  const answer = await ask('/api/v1/companies/7/employees?current_on=2019-06-30')
  assert.deepEqual(idsOf(answer, 'employees'), [1, 2, 4, 6])
})

/** A listing with four versions: another company, two states, and one record less. */
async function makeVersions(t: Parameters<typeof makeApp>[0]) {
  const app = await makeApp(t)
  const answers: Answer[] = []
  for (const rows of [
    [{ id: 99, company_id: 9, name: 'other' }],
    [1, 2, 3].map((id) => ({ id, company_id: 7, name: 'first' })),
    [1, 2, 3].map((id) => ({ id, company_id: 7, name: id === 2 ? 'second' : 'first' })),
    [1, 3].map((id) => ({ id, company_id: 7, name: 'first' })),
  ]) {
    await app.store.importRows('rights', rows, { isSnapshot: rows.length === 2 })
    answers.push(await app.ask(`${rights}?limit=2`))
  }
  return { ...app, answers }
}

test('a version answers what was served then, tag included (9.1)', async (t) => {
  const { ask, answers } = await makeVersions(t)
  for (const [at, then] of answers.entries()) {
    const now = await ask(`${rights}?limit=2&version=${at + 1}`)
    if (at === 0) {
      checkFailure(now, 404, 'Company 7 was not in the registry at version 1')
      continue
    }
    assert.equal(now.text, then.text)
    for (const header of ['etag', 'last-modified', 'data-version'])
      assert.equal(now.headers[header], then.headers[header])
    const same = await ask(`${rights}?limit=2&version=${at + 1}`, {
      headers: { 'if-none-match': then.headers['etag'] ?? '' },
    })
    assert.equal(same.status, 304)
    assert.equal(same.headers['data-version'], String(at + 1))
  }
})

test('a walk by links stays on its version, and learns of a later one (9.1)', async (t) => {
  const { ask, store } = await makeVersions(t)
  const first = await ask(`${rights}?limit=1&version=2`)
  assert.equal(linksOf(first)['latest-version'], `${rights}?page=1&limit=1`)
  const plain = await ask(`${rights}?limit=1&sort=-name`)
  assert.equal(linksOf(plain)['latest-version'], undefined)
  const pinned = `${rights}?limit=1&sort=-name&version=4`
  assert.equal(linksOf(await ask(pinned))['latest-version'], undefined)
  const next = linksOf(plain)['next'] ?? ''
  assert.equal(next, `${rights}?page=2&limit=1&sort=-name&version=4`)
  const before = await ask(next)
  await store.importRows('rights', [{ id: 4, company_id: 7, name: 'zz' }])
  const after = await ask(next)
  assert.equal(after.text, before.text)
  assert.equal(after.headers['data-version'], '4')
  assert.equal(linksOf(after)['latest-version'], `${rights}?page=2&limit=1&sort=-name`)
  const same = linksOf(await ask(pinned))
  assert.equal(same['latest-version'], `${rights}?page=1&limit=1&sort=-name`)
})

test('versions that do not exist are a 404, pruned ones a 410 (9.3)', async (t) => {
  const { ask, store } = await makeVersions(t)
  const later = await ask(`${rights}?version=5`)
  checkFailure(later, 404, 'Version 5 does not exist yet; the last one is 4')
  assert.equal(later.headers['retry-after'], '1')
  assert.equal((await ask(`${rights}?version=9007199254740991`)).status, 404)
  assert.equal((await ask(`${rights}?as_of=1999-01-01`)).status, 404)
  const committed = Number(queryValue(store.db, 'select min(committed_at) from imports'))
  const first = new Date(committed).toISOString()
  const early = await ask(`${rights}?known_at=2001-01-01T00:00:00Z`)
  const of = 'Nothing is known of rights at 2001-01-01T00:00:00.000Z'
  checkFailure(early, 404, `${of}; the earliest moment is ${first}`)
  const known = await ask(`/api/v1/companies/9/rights?known_at=${first}`)
  assert.equal(known.headers['data-version'], '1')
  await store.prune()
  const pruned = await ask(`${rights}?version=3&limit=2`)
  checkFailure(pruned, 410, 'Version 3 was pruned; the earliest one is 4')
  assert.equal(linksOf(pruned)['latest-version'], `${rights}?page=1&limit=2`)
  assert.equal((await ask(`${rights}?version=4`)).status, 200)
  const today = new Date().toISOString().slice(0, 10)
  const [, day] = /is ([\d-]+)"/.exec((await ask(`${rights}?as_of=1999-01-01`)).text) ?? []
  assert.equal(day, today, 'the first day that finds a version which was not pruned')
  assert.equal((await ask(`${rights}?as_of=${today}`)).status, 200)
})

test('a failure has no Content-Location, however its company was named (5)', async (t) => {
  const app = await makeApp(t)
  const company = { jurisdiction: 'GB', identifier: '1', name: 'Old' }
  await app.store.importRows('rights', [{ id: 1, company_id: 9 }])
  await app.store.importRows('companies', [company])
  const path = '/api/v1/companies/GB:1/rights'
  assert.notEqual((await app.ask(path)).headers['content-location'], undefined)
  checkFailure(await app.ask(`${path}?version=1`), 404, /was not in the registry at version 1$/)
})

test('a day finds the version before the first later extract of the resource (9.2)', async (t) => {
  const app = await makeApp(t)
  for (const [n, day] of ['2024-01-31', '2024-02-29', '2024-03-31'].entries()) {
    const asOf = `${day}T00:00:00Z`
    await app.store.importRows('rights', [{ id: 1, company_id: 7, name: `${n}` }], { asOf })
    await app.store.importRows('jobs', [{ id: n + 1, company_id: 7 }])
  }
  for (const [query, version, name] of [
    ['as_of=2024-01-31', 2, '0'],
    ['as_of=2024-02-28', 2, '0'],
    ['as_of=2024-02-29', 4, '1'],
    ['as_of=2025-01-01', 6, '2'],
    [`known_at=${new Date(Date.now() + 60_000).toISOString()}`, 6, '2'],
  ] as const) {
    const answer = await app.ask(`${rights}?${query}&limit=1`)
    assert.equal(answer.status, 200, answer.text)
    assert.equal(answer.headers['data-version'], String(version))
    const location = `${rights}?page=1&limit=1&version=${version}`
    assert.equal(answer.headers['content-location'], location)
    assert.match(answer.text, new RegExp(`"name":"${name}"`))
    assert.equal((await app.ask(location)).text, answer.text)
  }
})

test('changes that an import of companies recorded have the day of its extract (9.2)', async (t) => {
  const app = await makeApp(t)
  // Without a day nothing is recorded, so that this import does not count for events.
  const undated = { source: 'undated', recordIn: changeResource }
  await app.store.importRows('companies', [{ jurisdiction: 'GB', identifier: '2' }], undated)
  for (const [name, day] of [
    ['Old', '2024-01-31'],
    ['New', '2024-02-29'],
    ['Newest', '2024-03-31'],
  ] as const) {
    const company = { jurisdiction: 'GB', identifier: '1', name }
    const options = { ...recordedOn(day), isSnapshot: true }
    await app.store.importRows('companies', [company], options)
  }
  for (const [day, total] of [
    ['2024-02-28', 0],
    ['2024-02-29', 1],
    ['2024-03-31', 2],
  ] as const) {
    const answer = await app.ask(`/api/v1/companies/GB:1/events?as_of=${day}`)
    assert.equal(memberOf(answer, 'total'), total, day)
  }
})

test('a long listing is filtered without blocking the event loop, and as exactly', async (t) => {
  const app = await makeApp(t)
  const rows = Array.from({ length: 12_000 }, (_, n) => ({
    id: n + 1,
    company_id: 7,
    status: n % 3 === 0 ? 'ended' : 'registered',
    name: `n${n % 100}`,
  }))
  await app.store.importRows('rights', rows)
  const [ended, sorted, again] = await Promise.all([
    app.ask(`${rights}?status=ended&page=40`),
    app.ask(`${rights}?sort=-name&limit=3`),
    app.ask(`${rights}?status=ended&page=40`),
  ])
  assert.equal(memberOf(ended, 'pagination_total'), 4_000)
  assert.deepEqual(idsOf(ended).slice(0, 2), [3 * 3_900 + 1, 3 * 3_901 + 1])
  assert.equal(again.text, ended.text)
  assert.deepEqual(idsOf(sorted), [12_000, 11_900, 11_800])
})
