// Contract 8.4: a company as a whole, and 9.1 to 9.3: as it was.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { events } from '../../src/resources/events.ts'
import { askAnnounced } from '../support/announcement.ts'
import { type Answer, checkFailure, checkTag, makeApp, memberOf } from '../support/make-app.ts'
import { makeRecords } from '../support/make-record.ts'

const made = await makeApp({ after })
const { ask, store } = made
const names = { company_jurisdiction: 'GB', company_identifier: '09876543' }
const right = (id: number, status: string | null) => ({ ...names, id, status, object_type: 'mark' })

const named = (name: string) => ({ jurisdiction: 'GB', identifier: '09876543', name })
await store.importRows('companies', [named('Northwind')], {
  source: 'gb',
  asOf: '2024-01-31T00:00:00Z',
})
const registered = [right(1, 'registered'), right(2, 'ended'), right(3, 'registered')]
await store.importRows('rights', registered, { asOf: '2024-02-01T00:00:00Z' })
await store.importRows('companies', [{ ...named('Nw'), size: 3 }], {
  source: 'a list',
  asOf: '2024-02-29T00:00:00Z',
})
await store.importRows('rights', [right(2, null), right(4, null)])
const id = 1_000_000_000_001
const path = `/api/v1/companies/${id}`
const get = await askAnnounced(made, '/api/v1/companies/{company_id}', path)

type Company = Readonly<Record<string, unknown>> & {
  readonly listings: Readonly<Record<string, { readonly total: number; readonly counts: object }>>
}
const companyIn = (answer: Answer) => memberOf(answer, 'company') as Company

const gb =
  '{"source":"gb","present":true,"as_of":"2024-01-31T00:00:00Z","version":1,' +
  '"attributes":{"name":"Northwind"}}'
const list =
  '{"source":"a list","present":true,"as_of":"2024-02-29T00:00:00Z","version":3,' +
  '"attributes":{"name":"Nw","size":3}}'
const value = (text: string | null, count: number) =>
  `{"value":${JSON.stringify(text)},"count":${count}}`
const marks = (count: number) => `"object_type":[${value('mark', count)}]`
const unnumbered = (count: number) => `"registration_number":[${value(null, count)}]`
const unplaced = (count: number) => `"jurisdiction":[${value(null, count)}]`
const rights = (version: number, total: number, statuses: string) =>
  `"rights":{"total":${total},"version":${version},"counts":{${unplaced(total)},${marks(total)},` +
  `"status":[${statuses}],${unnumbered(total)}}}`
const others =
  '"employees":{"total":0,"version":1,"counts":{"identifier":[],"position":[]}},' +
  '"jobs":{"total":0,"version":1,"counts":{"currency":[],"location":[]}},' +
  '"pos_terminals":{"total":0,"version":1,"counts":{"terminal_id":[],"bank_name":[],"status":[],' +
  '"jurisdiction":[]}},' +
  '"events":{"total":0,"version":1,"counts":{"attr":[]}}'
const body = (name: string, sources: readonly string[], listings: string) =>
  `{"ok":true,"company":{"id":${id},"jurisdiction":"GB","identifier":"09876543",` +
  `"name":"${name}","sources":[${sources.join(',')}],"listings":{${listings}}}}`

test('a company has its sources, and the counts of its listings (8.4)', async () => {
  const { text, headers } = await get()
  const statuses = [value('registered', 2), value(null, 2)].join(',')
  assert.equal(text, body('Nw', [list, gb], `${rights(4, 4, statuses)},${others}`))
  assert.equal(headers['data-version'], '4')
  assert.equal(headers['link'], undefined)
  const byName = await ask('/api/v1/companies/GB:09876543')
  assert.deepEqual([byName.text, byName.headers['content-location']], [text, path])
})

test('a company is as it was at a version (9.1)', async () => {
  const statuses = [value('registered', 2), value('ended', 1)].join(',')
  const then = await get('?version=2')
  assert.equal(then.text, body('Northwind', [gb], `${rights(2, 3, statuses)},${others}`))
  assert.equal(then.headers['data-version'], '2')
  assert.equal(then.headers['link'], `<${path}>; rel="latest-version"`)
  const first = companyIn(await get('?version=1'))
  assert.equal(first.listings['rights']?.total, 0)
  assert.equal((await get('?version=4')).text, (await get()).text)
  assert.equal((await get('', { json: { version: 2 } })).text, then.text)
})

test('a day or a moment finds the version (9.2)', async () => {
  const then = await get('?as_of=2024-02-28')
  assert.deepEqual([then.headers['data-version'], then.text], ['2', (await get('?version=2')).text])
  assert.equal(then.headers['content-location'], `${path}?version=2`)
  const latest = await get(`?known_at=${new Date(Date.now() + 1_000).toISOString()}`)
  assert.equal(latest.headers['content-location'], `${path}?version=4`)
})

test('whatever is missing or not allowed is refused with the reason (1.3, 1.4, 9.3)', async () => {
  const near = 'Company gb:9876543 is not in the registry; did you mean GB:09876543?'
  checkFailure(await ask('/api/v1/companies/7'), 404, 'Company 7 is not in the registry')
  checkFailure(await ask('/api/v1/companies/gb:9876543'), 404, near)
  checkFailure(await ask('/api/v1/companies/0'), 400, /^company_id is "0"/)
  const first = 'the earliest day is 2024-01-31'
  for (const [query, status, message] of [
    ['?version=5', 404, 'Version 5 does not exist yet; the last one is 4'],
    ['?as_of=2024-01-30', 404, `Nothing is known as of 2024-01-30; ${first}`],
    ['?version=0', 400, /^version is "0"; it takes the number/],
    ['?version=1&version=1', 400, /^version is given more than once/],
    ['?version=1&as_of=2024-01-31', 400, /give one of them$/],
    ['?page=1', 400, /"page" is not a known query parameter/],
    ['?vesion=1', 400, /did you mean version\?$/],
  ] as const) {
    checkFailure(await get(query), status, message)
  }
  const inBody = (json: object) => ask('/api/v1/companies/1', { json })
  checkFailure(await inBody({ version: [1] }), 400, /^version is \[1\]; it takes one value$/)
  checkFailure(await inBody({ version: { gte: 1 } }), 400, /^"version\[gte\]" is not a known body/)
  checkFailure(await get('', { method: 'DELETE' }), 405, 'Method Not Allowed')
  checkFailure(await get('', { authorization: null }), 403, 'Forbidden')
})

test('a company that was not known then is a 404 (9.3)', async (t) => {
  const { ask: askAbout, store: other } = await makeApp(t, { companies: [1] })
  await other.loadCompanies([2])
  const says = 'Company 2 was not in the registry at version 1'
  checkFailure(await askAbout('/api/v1/companies/2?version=1'), 404, says)
  assert.equal((await askAbout('/api/v1/companies/2?version=2')).status, 200)
})

test('only listings that the key may read are in it (7, 8.4)', async () => {
  const getWith = async (...scopes: string[]) =>
    get('', { key: await store.issueKey({ name: scopes.join('+'), scopes }) })
  const some = await getWith('companies', 'jobs', 'rights')
  assert.deepEqual(Object.keys(companyIn(some).listings), ['rights', 'jobs'])
  const none = await getWith('companies')
  assert.deepEqual(companyIn(none).listings, {})
  assert.notEqual(none.headers['etag'], some.headers['etag'])
  checkFailure(await getWith('rights'), 403, 'Forbidden')
})

test('the tag changes with the company, and not with another one (5)', async (t) => {
  const { ask: askAbout, store: other } = await makeApp(t, { companies: [1, 2] })
  const tagOf = () => checkTag((question) => askAbout('/api/v1/companies/1', question))
  const first = await tagOf()
  await other.load([{ resource: events, company: 2, records: makeRecords(events, 1) }])
  assert.equal(await tagOf(), first)
  await other.load([{ resource: events, company: 1, records: makeRecords(events, 1, 2) }])
  assert.notEqual(await tagOf(), first)
})

test('filters of more than 50 values, or of a very long one, are not counted (8.4)', async (t) => {
  const { ask: askAbout, store: other } = await makeApp(t)
  const rows = Array.from({ length: 3_000 }, (_, n) => ({
    company_id: 1,
    id: n + 1,
    registration_number: `N${n}`,
    jurisdiction: `J${n % 50}`,
    // Beyond the first thousand records, so that these alone do not tell.
    object_type: `T${n < 1_500 ? 0 : n % 51}`,
    status: n === 2_999 ? 'x'.repeat(1_025) : 'x'.repeat(n % 2 === 0 ? 1_024 : 1),
  }))
  const importSome = (some: object[]) => other.importRows('rights', some, { isSnapshot: true })
  const countsOf = async (query = '') =>
    companyIn(await askAbout(`/api/v1/companies/1${query}`)).listings['rights']?.counts
  await importSome(rows)
  const jurisdictions = (each: number) => {
    const all = Array.from({ length: 50 }, (_, n) => ({ value: `J${n}`, count: each }))
    return all.toSorted((a, b) => (a.value < b.value ? -1 : 1))
  }
  assert.deepEqual(await countsOf(), { jurisdiction: jurisdictions(60) })
  await importSome(rows.slice(0, 1_000))
  const few = {
    jurisdiction: jurisdictions(20),
    object_type: [{ value: 'T0', count: 1_000 }],
    status: [
      { value: 'x', count: 500 },
      { value: 'x'.repeat(1_024), count: 500 },
    ],
  }
  assert.deepEqual(await countsOf(), few)
  // From the records of now, and from those that are past.
  assert.deepEqual(await countsOf('?version=1'), { jurisdiction: jurisdictions(60) })
  assert.deepEqual(await countsOf('?version=2'), few)
})
