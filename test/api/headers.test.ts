// Contract section 5: header fields.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import { events } from '../../src/resources/events.ts'
import { jobs } from '../../src/resources/jobs.ts'
import type { Resource } from '../../src/resources/resource.ts'
import { rights } from '../../src/resources/rights.ts'
import { checkFailure, checkPage, linksOf, makeApp, pathOf } from '../support/make-app.ts'
import { makeRecord, makeRecords, type WireRecord } from '../support/make-record.ts'
import { makeRights } from '../support/rights-store.ts'
import { one, revert } from '../support/write-store.ts'

const { all, records: own, path } = makeRights(12)
const records = [
  ...own,
  { resource: rights, company: 2, records: makeRecords(rights, 2, 100) },
  { resource: jobs, company: 1, records: makeRecords(jobs, 2) },
]
const { ask } = await makeApp({ after }, { records })

test('every answer has a unique X-Request-Id (5)', async () => {
  const urls = [path, `${path}?limit=0`, '/nothing', pathOf(rights, '%zz'), '/healthz', '/docs']
  const ids = new Set<string | undefined>()
  for (const url of [...urls, ...urls]) {
    const { headers } = await ask(url)
    assert.match(headers['x-request-id'] ?? '', /^[A-Za-z0-9._-]{1,64}$/)
    ids.add(headers['x-request-id'])
  }
  assert.equal(ids.size, urls.length * 2)
})

test('a harmless X-Request-Id of the client is kept (5)', async () => {
  for (const id of ['a', 'A-b_c.9', '-', 'x'.repeat(64)]) {
    for (const url of [path, '/nothing', `${path}?limit=0`, pathOf(rights, '%zz')]) {
      const { headers } = await ask(url, { headers: { 'x-request-id': id } })
      assert.equal(headers['x-request-id'], id)
    }
  }
})

test('any other X-Request-Id is replaced (5, D16)', async () => {
  for (const id of ['', 'x'.repeat(65), 'a b', 'a,b', '<x>', 'é', '{"a":1}', 'a\tb', 'a/b']) {
    const given = (await ask(path, { headers: { 'x-request-id': id } })).headers['x-request-id']
    assert.match(given ?? '', /^[0-9a-f-]{36}$/)
  }
})

test('every 200 has ETag, Cache-Control and Vary, compressed or not (5)', async () => {
  for (const url of [path, `${path}?page=2&limit=5`, `${path}?page=99`, pathOf(events, 1)]) {
    const { headers } = await ask(url)
    assert.match(headers['etag'] ?? '', /^(?:W\/)?"[!#-~]+"$/)
    assert.equal(headers['cache-control'], 'private, no-cache')
    assert.equal(headers['vary'], 'Accept, Accept-Encoding')
    assert.equal(headers['content-encoding'], undefined)
  }
})

test('a matching If-None-Match gets a 304 without a body (5, D20)', async () => {
  const given = await ask(path)
  const tag = given.headers['etag'] ?? ''
  const bare = tag.replace('W/', '')
  for (const condition of [tag, bare, `"x", ${tag}`, `${tag},"y"`, `  ${tag} `, '*']) {
    for (const method of ['GET', 'HEAD']) {
      const answer = await ask(path, { method, headers: { 'if-none-match': condition } })
      assert.equal(answer.status, 304, condition)
      assert.equal(answer.bytes.length, 0)
      assert.equal(answer.headers['content-length'], undefined)
      for (const name of ['etag', 'cache-control', 'vary', 'data-version', 'last-modified']) {
        assert.equal(answer.headers[name], given.headers[name], name)
      }
    }
  }
})

test('If-None-Match with another tag gets the page (5)', async () => {
  const tag = (await ask(path)).headers['etag'] ?? ''
  const changed = `${tag.slice(0, -1)}0"`
  for (const condition of ['"x"', changed, tag.slice(0, -1), '', 'nonsense', `"${tag}"`]) {
    const answer = await ask(path, { headers: { 'if-none-match': condition } })
    checkPage(answer, { resource: rights, all })
  }
})

test('the tag changes with its own listing only (5)', async (t) => {
  const { ask, store } = await makeApp(t, { records, companies: [3] })
  const urls = {
    own: path,
    otherCompany: pathOf(rights, 2),
    otherListing: pathOf(jobs, 1),
    empty: pathOf(rights, 3),
  }
  const tagsNow = async () => {
    const tagOf = async ([name, url]: [string, string]) =>
      [name, (await ask(url)).headers['etag']] as const
    return new Map(await Promise.all(Object.entries(urls).map(tagOf)))
  }
  const load = (resource: Resource, company: number, ...some: WireRecord[]) =>
    store.load([{ resource, company, records: some }])
  const changed = makeRecord(rights, { id: 1, name: 'changed' })
  const left = [
    { resource: rights, company: 1, records: [changed] },
    { resource: rights, company: 2, records: makeRecords(rights, 2, 100) },
  ]
  for (const [what, importSome, expected] of [
    ['nothing', () => Promise.resolve(), []],
    ['a record more', () => load(rights, 1, makeRecord(rights, { id: 50 })), ['own']],
    ['a record that is other than before', () => load(rights, 1, changed), ['own']],
    ['the same again', () => load(rights, 1, changed), []],
    ['another listing', () => load(events, 1, makeRecord(events)), []],
    ['records fewer', () => store.load(left, { isSnapshot: true }), ['own']],
    ['the first record', () => load(rights, 3, makeRecord(rights, { id: 200 })), ['empty']],
  ] as const) {
    const before = await tagsNow()
    await importSome()
    const now = await tagsNow()
    const told = [...now.keys()].filter((name) => now.get(name) !== before.get(name))
    assert.deepEqual(told, expected, what)
  }
})

test('requests that differ in anything have different tags (5)', async () => {
  const selections =
    'page=1 page=2 page=11 limit=1 limit=11 page=1&limit=12 page=11&limit=2 ' +
    'format=csv format=ndjson format=csv&limit=all sort=name sort=-name ' +
    'status=1 status=11 status=1&status=11 status= object_type=1 updated_at= ' +
    'registration_date=2020-01-01 registration_date[gte]=2020-01-01'
  const urls = selections.split(' ').map((query) => `${path}?${query}`)
  urls.push(pathOf(rights, 2), pathOf(jobs, 1))
  const tags = await Promise.all(urls.map(async (url) => (await ask(url)).headers['etag']))
  assert.equal(new Set(tags).size, urls.length)
})

test('a request has the same tag and links however it is spelt (5)', async () => {
  const csv = { accept: 'text/csv' }
  const forms = new Set<string>()
  for (const [query, question] of [
    ['?page=2&limit=5&format=csv', {}],
    ['?format=csv&limit=05&page=002', {}],
    ['?page=2', { json: { limit: 5, format: 'csv' } }],
    ['?limit=5', { json: { page: '2', limit: 5 }, headers: csv }],
    ['', { json: { page: 2, limit: '5' }, headers: csv }],
  ] as const) {
    const { status, headers } = await ask(path + query, question)
    assert.equal(status, 200, query)
    forms.add(`${headers['etag']} ${headers['link']}`)
  }
  assert.equal(forms.size, 1)
  const usual = await ask(pathOf(events, 1))
  const named = await ask(`${pathOf(events, 1)}?sort=-date`)
  for (const name of ['etag', 'link']) assert.equal(named.headers[name], usual.headers[name])
})

test('a re-created store has other tags for the same versions (5)', async (t) => {
  const [one, other] = [await makeApp(t, { records }), await makeApp(t, { records })]
  const tag = (await one.ask(path)).headers['etag'] ?? ''
  assert.equal((await other.ask(path, { headers: { 'if-none-match': tag } })).status, 200)
})

test('Data-Version counts the imports, on every 200 and 304 (5)', async (t) => {
  const { ask, store } = await makeApp(t, { records: own })
  for (const version of ['1', '2', '3']) {
    const { headers } = await ask(path)
    assert.equal(headers['data-version'], version)
    const condition = { 'if-none-match': headers['etag'] ?? '' }
    const unchanged = await ask(path, { headers: condition })
    assert.equal(unchanged.status, 304)
    assert.equal(unchanged.headers['data-version'], version)
    assert.equal((await ask(`${path}?page=9`)).headers['data-version'], version)
    await store.load([
      { resource: jobs, company: 7, records: makeRecords(jobs, 1, Number(version)) },
    ])
  }
})

for (const cacheBytesMax of [0, 1_048_576]) {
  test(`a 304 has the links of the present, not those that a cache of ${cacheBytesMax} bytes has kept (5, 9)`, async (t) => {
    const { ask, store } = await makeApp(t, { records: own, cacheBytesMax })
    const filter = 'updated_at[gte]=2000-01-01&sort=-name'
    const pages = ['limit=2', `limit=2&${filter}`, 'limit=2&version=1']
    const wholes = ['format=csv&limit=all', `format=ndjson&limit=all&${filter}`]
    const urls = [...pages, ...wholes].map((query) => `${path}?${query}`)
    urls.push('/api/v1/companies/1?version=1')
    const former = await Promise.all(urls.map((url) => ask(url)))
    await store.load([{ resource: jobs, company: 7, records: makeRecords(jobs, 1) }])
    for (const [n, url] of urls.entries()) {
      const { etag = '', link } = former[n]?.headers ?? {}
      const same = await ask(url, { headers: { 'if-none-match': etag } })
      assert.equal(same.status, 304, url)
      assert.notEqual(same.headers['link'], link)
      assert.equal(same.headers['link'], (await ask(url)).headers['link'])
    }
  })
}

test('Last-Modified is when the listing last changed, on every 200 and 304 (5)', async (t) => {
  const before = Math.floor(Date.now() / 1_000) * 1_000
  const { ask, store } = await makeApp(t, { records })
  const named = [3, 4].map((id) => ({ id, jurisdiction: 'GB', identifier: `${id}`, name: 'A' }))
  await store.importRows('companies', named, { source: 'kept' })
  await store.importRows('companies', named.slice(1), { source: 'wrong' })
  const company = async (id: number) => (await ask(`/api/v1/companies/${id}`)).headers
  const two = await company(4)
  const first = (await ask(path)).headers
  const modified = first['last-modified'] ?? ''
  assert.match(modified, /^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/)
  assert.ok(Date.parse(modified) >= before && Date.parse(modified) <= Date.now())
  await sleep(1_050)
  await store.load([{ resource: rights, company: 2, records: makeRecords(rights, 1, 500) }])
  assert.equal((await ask(path)).headers['last-modified'], modified)
  const unchanged = await ask(path, { headers: { 'if-none-match': first['etag'] ?? '' } })
  assert.equal(unchanged.headers['last-modified'], modified)
  await store.load([{ resource: rights, company: 1, records: makeRecords(rights, 1, 501) }])
  const later = (await ask(path)).headers['last-modified'] ?? ''
  assert.ok(Date.parse(later) > Date.parse(modified))
  // A company has changed, too, if all that is left of it is older.
  await revert(store.db, one(Number(two['data-version'])))
  const isLater = async (id: number) =>
    Date.parse((await company(id))['last-modified'] ?? '') > Date.parse(two['last-modified'] ?? '')
  assert.ok(await isLater(4))
  assert.ok(!(await isLater(3)))
  // Its name is in another attribute from now on, although no row speaks of it.
  const titled = named.slice(1).map((one) => ({ ...one, title: 'B' }))
  await store.importRows('companies', titled, { source: 'kept', nameAttribute: 'title' })
  assert.ok(await isLater(3))
})

test('links that would be too long are left out; if even the next page’s alone is, a 400', async () => {
  const filter = (length: number) => `jurisdiction=GB&jurisdiction=${'9'.repeat(length)}`
  const askFor = (length: number, query = 'limit=1') => ask(`${path}?${query}&${filter(length)}`)
  const linkOf = async (length: number) => (await askFor(length)).headers['link']
  assert.match((await linkOf(2_000)) ?? '', /rel="first", .*rel="next", .*rel="last"$/)
  const next = (await linkOf(5_000)) ?? ''
  assert.match(next, /^<[^>]+page=2[^>]+>; rel="next"$/)
  const refused = await askFor(9_000)
  checkFailure(refused, 400, /^The parameters are too long for a link to the next page/)
  assert.equal(refused.headers['vary'], undefined, 'as of every 400')
  const last = await askFor(9_000, 'limit=100')
  assert.deepEqual([last.status, last.headers['link']], [200, undefined])
})

test('headers with links and a location fit into the 16 KiB that many clients take', async () => {
  for (const length of [1, 1_900, 4_000, 4_100, 8_000]) {
    const query = `known_at=2100-01-31T12:00:00Z&limit=1&page=2&jurisdiction=GB&jurisdiction=${'9'.repeat(length)}`
    const { status, headers } = await ask(`${path}?${query}`)
    assert.equal(status, 200)
    assert.ok(headers['link'])
    assert.equal(headers['content-location'] === undefined, length > 4_000)
    assert.ok(JSON.stringify(headers).length < 14_000)
  }
})

/** The pages that each relation leads to, for a page of a limit. */
const linkCases: readonly (readonly [url: string, limit: number, Record<string, number>])[] = [
  [path, 100, { first: 1, last: 1 }],
  [pathOf(events, 1), 100, { first: 1, last: 1 }],
  [`${path}?limit=5`, 5, { first: 1, next: 2, last: 3 }],
  [`${path}?page=2&limit=5`, 5, { first: 1, prev: 1, next: 3, last: 3 }],
  [`${path}?page=3&limit=5`, 5, { first: 1, prev: 2, last: 3 }],
  [`${path}?page=9&limit=6`, 6, { first: 1, prev: 2, last: 2 }],
]

for (const [url, limit, pages] of linkCases) {
  test(`Link of ${url}: ${Object.keys(pages).join(', ')} (5)`, async () => {
    const answer = await ask(url)
    const [listing] = url.split('?')
    const rest = `&limit=${limit}&version=${answer.headers['data-version'] ?? ''}`
    const expected = Object.entries(pages).map(([rel, to]) => [rel, `${listing}?page=${to}${rest}`])
    assert.deepEqual(linksOf(answer), Object.fromEntries(expected))
  })
}

for (const [coding, decode] of [
  ['gzip', gunzipSync],
  ['br', brotliDecompressSync],
  ['zstd', zstdDecompressSync],
] as const) {
  test(`${coding} decodes to the same bytes, with Vary (5)`, async () => {
    const plain = await ask(path)
    for (let turn = 0; turn < 2; turn += 1) {
      const answer = await ask(path, { headers: { 'accept-encoding': coding } })
      assert.equal(answer.status, 200)
      assert.equal(answer.headers['content-encoding'], coding)
      assert.equal(answer.headers['vary'], 'Accept, Accept-Encoding')
      assert.equal(answer.headers['content-length'], String(answer.bytes.length))
      assert.ok(answer.bytes.length < plain.bytes.length / 2)
      assert.deepEqual(decode(answer.bytes), plain.bytes)
      assert.equal(answer.headers['etag'], plain.headers['etag'])
    }
  })
}

test('the headers of every 200 are announced as always there, others are not (5)', async () => {
  const { components } = JSON.parse((await ask('/openapi.json')).text) as {
    components: { headers: Record<string, { required?: boolean }> }
  }
  for (const name of ['X-Request-Id', 'ETag', 'Cache-Control', 'Data-Version', 'Last-Modified']) {
    assert.equal(components.headers[name]?.required, true, name)
  }
  for (const name of ['Link', 'Content-Location', 'RateLimit', 'Retry-After', 'Changes-Next']) {
    assert.notEqual(components.headers[name]?.required, true, name)
  }
})

const codingCases: readonly (readonly [accept: string, coding: string | undefined])[] = [
  ['gzip, deflate, br, zstd', 'zstd'],
  ['gzip, deflate, br', 'br'],
  ['gzip, deflate', 'gzip'],
  ['GZIP', 'gzip'],
  ['gzip;q=1, br;q=0.5', 'gzip'],
  ['br;q=0, gzip;q=0.1', 'gzip'],
  ['identity', undefined],
  ['identity;q=1, gzip;q=0.5', undefined],
  ['deflate', undefined],
  ['gzip;q=0', undefined],
  ['*', undefined],
  ['gzip, *', 'gzip'],
  ['zstd, br;q=0.5, *;q=0', 'zstd'],
  ['', undefined],
  ['nonsense;;;=', undefined],
]

for (const [accept, coding] of codingCases) {
  test(`Accept-Encoding: ${accept || '(empty)'} gets ${coding ?? 'no coding'} (5)`, async () => {
    const answer = await ask(path, { headers: { 'accept-encoding': accept } })
    assert.equal(answer.status, 200)
    assert.equal(answer.headers['content-encoding'], coding)
  })
}

test('a small page is not compressed, since it would grow (5)', async () => {
  const headers = { 'accept-encoding': 'gzip' }
  const answer = await ask(pathOf(events, 1), { headers })
  checkPage(answer, { resource: events, all: [] })
  assert.equal(answer.headers['content-encoding'], undefined)
})
