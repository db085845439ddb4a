// Contract section 8: finding companies by number and by words of their name.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { askAnnounced } from '../support/announcement.ts'
import { type Answer, checkFailure, checkTag, makeApp, memberOf } from '../support/make-app.ts'

const made = await makeApp({ after })
const { ask, store } = made
await store.importRows('companies', [
  { jurisdiction: 'GB', identifier: '09876543', name: 'Northwind Trading Ltd' },
  { jurisdiction: 'GB', identifier: '11111111', name: 'Northwind' },
  { jurisdiction: 'DE', identifier: '09876543', name: 'Südwind Handel GmbH' },
  { jurisdiction: 'FR', identifier: 'a&b=c', name: 'Northwind Transport' },
  { jurisdiction: 'FR', identifier: '5' },
])
const find = await askAnnounced(made, '/api/v1/companies')

const namesIn = (answer: Answer) =>
  (memberOf(answer, 'companies') as { name: string | null }[]).map(({ name }) => name)

test('companies are found by their number in one register, or in all of them (8.1, 8.2)', async () => {
  const one = await find('?identifier=09876543&jurisdiction=GB')
  assert.equal(
    one.text,
    '{"ok":true,"companies":[{"id":1000000000001,"jurisdiction":"GB","identifier":"09876543",' +
      '"name":"Northwind Trading Ltd"}],"total":1,"pagination_total":1,"pagination_offset":0}',
  )
  const all = await find('?identifier=09876543')
  assert.deepEqual(namesIn(all), ['Südwind Handel GmbH', 'Northwind Trading Ltd'])
  const several = await find('?identifier=5&identifier=a%26b%3Dc&identifier=11111111&identifier=no')
  assert.deepEqual(namesIn(several), [null, 'Northwind Transport', 'Northwind'])
  const none = await find('?identifier=9876543')
  assert.deepEqual([none.status, memberOf(none, 'total')], [200, 0])
})

test('many numbers in many registers are found in the order of the registers (8.2)', async (t) => {
  const own = await makeApp(t)
  const numbers = Array.from({ length: 60 }, (_, n) => `n${(n * 7) % 60}`)
  const areas = ['b', 'é', 'B', '\u{1f600}', '\uf900']
  const rows = areas.flatMap((jurisdiction) =>
    numbers.map((identifier) => ({ jurisdiction, identifier, name: identifier })),
  )
  await own.store.importRows('companies', rows)
  const asked = numbers.map((number) => `identifier=${number}`).join('&')
  const answer = await own.ask(`/api/v1/companies?${asked}&limit=1000`)
  const found = memberOf(answer, 'companies') as (typeof rows)[number][]
  const ordered = ['B', 'b', 'é', '\uf900', '\u{1f600}'].flatMap((jurisdiction) =>
    [...numbers].sort().map((identifier) => `${jurisdiction} ${identifier} ${identifier}`),
  )
  assert.deepEqual(
    found.map(({ jurisdiction, identifier, name }) => `${jurisdiction} ${identifier} ${name}`),
    ordered,
  )
})

test('companies are found by words, the last one as a beginning; shorter names first (8.2)', async () => {
  const found = async (q: string) => namesIn(await find(`?q=${encodeURIComponent(q)}`))
  assert.deepEqual(await found('northwind'), [
    'Northwind',
    'Northwind Transport',
    'Northwind Trading Ltd',
  ])
  assert.deepEqual(await found('NORTHWIND tra'), ['Northwind Transport', 'Northwind Trading Ltd'])
  assert.deepEqual(await found('sudwind h'), ['Südwind Handel GmbH'])
  assert.deepEqual(await found('north wind'), [])
})

test('pages of companies are like those of a listing: counters, links, limits (8.2)', async () => {
  const page = await find('?q=northwind&limit=1&page=2')
  assert.deepEqual(namesIn(page), ['Northwind Transport'])
  assert.match(page.text, /"total":3,"pagination_total":3,"pagination_offset":1}$/)
  const link = page.headers['link'] ?? ''
  assert.match(link, /<\/api\/v1\/companies\?q=northwind&page=3&limit=1>; rel="next"/)
  const next = /<([^>]+)>; rel="next"/.exec(link)?.[1] ?? ''
  assert.deepEqual(namesIn(await ask(next)), ['Northwind Trading Ltd'])
  const past = await find('?q=northwind&page=9007199254740991&limit=1000')
  assert.match(past.text, /"companies":\[\],"total":3,.*"pagination_offset":9007199254740990000}$/)
})

test('a body has the same members as the query (1.2, 8)', async () => {
  const ofBody = (json: object, query = '') => find(query, { json })
  const byNumber = await ofBody({ identifier: ['09876543', '5'], jurisdiction: 'GB' })
  assert.deepEqual(namesIn(byNumber), ['Northwind Trading Ltd'])
  const limited = (await ofBody({ q: 'northwind', limit: 1 })).text
  assert.equal(limited, (await find('?q=northwind&limit=1')).text)
  assert.equal((await ofBody({ q: 'a' }, '?q=a')).status, 200)
  checkFailure(await ofBody({ q: 'a' }, '?q=b'), 400, /^q is b in the query and a in the body/)
  const two = '?identifier=09876543&identifier=5'
  const inOtherOrder = await ofBody({ identifier: ['5', '09876543'] }, two)
  assert.equal(inOtherOrder.text, (await find(two)).text)
  const other = await ofBody({ identifier: '5' }, two)
  checkFailure(other, 400, 'identifier differs between the query and the body; give only one')
  checkFailure(await ofBody({ q: ['a'] }), 400, /^q is \["a"\]; it takes a text/)
  const inList = { identifier: '5', jurisdiction: ['GB'] }
  checkFailure(await ofBody(inList), 400, /^jurisdiction is \["GB"\]; it takes a text/)
  checkFailure(await ofBody({ identifier: 5 }), 400, /^identifier is 5; it takes a text/)
  checkFailure(await ofBody({ q: null }), 400, /^q is null/)
  checkFailure(await ofBody({ identifier: [] }), 400, /^identifier is \[\]/)
  checkFailure(await ofBody({ identifier: ['\ud800'] }), 400, /^identifier is/)
})

const refused: readonly (readonly [query: string, message: RegExp])[] = [
  ['', /^Neither identifier nor q is given/],
  ['?q=a&identifier=1', /^Both identifier and q are given/],
  ['?q=a&jurisdiction=GB', /^jurisdiction goes with identifier/],
  ['?jurisdiction=GB', /^Neither/],
  ['?q=', /^q is ""; it takes a text of 1 to 256 characters$/],
  ['?q=%20-%20', /^q is " - "; it takes words of a name/],
  [`?q=${'a'.repeat(257)}`, /it takes a text of 1 to 256 characters$/],
  ['?q=a&q=b', /^q is given more than once/],
  ['?identifier=', /^identifier is ""/],
  ['?identifier=%00', /^identifier is/],
  [`?${'identifier=1&'.repeat(101)}`, /^identifier is given 101 times; it takes at most 100$/],
  ['?identifier=1&jurisdiction=a&jurisdiction=b', /^jurisdiction is given more than once/],
  ['?identifer=1', /"identifer" is not a known query parameter; did you mean identifier\?$/],
  ['?q=a&page=0', /^page is "0"/],
]

test('anything that is not allowed is a 400 that says what is (1.3, 1.4, 8.1)', async () => {
  for (const [query, message] of refused) checkFailure(await find(query), 400, message)
  assert.equal((await find(`?${'identifier=1&'.repeat(100)}`)).status, 200)
})

test('the lengths of words and numbers are counted in characters (8.1)', async () => {
  // Each takes two UTF-16 code units.
  for (const [name, most] of [
    ['q', 256],
    ['identifier', 1_024],
  ] as const) {
    const asked = (count: number) => find(`?${name}=${encodeURIComponent('𝐚'.repeat(count))}`)
    assert.deepEqual([(await asked(most)).status, name], [200, name])
    checkFailure(await asked(most + 1), 400, new RegExp(`a text of 1 to ${most} characters$`))
  }
})

test('more than 1,000 names are a 400 that asks for another word (8.2)', async (t) => {
  const many = await makeApp(t)
  const named = Array.from({ length: 1_001 }, (_, n) => ({
    jurisdiction: 'GB',
    identifier: String(n),
    name: `Wide Number ${n}`,
  }))
  await many.store.importRows('companies', named.slice(1))
  const path = '/api/v1/companies?q=wide'
  const all = await many.ask(`${path}&limit=1000`)
  assert.equal(namesIn(all).length, 1_000)
  await many.store.importRows('companies', named)
  checkFailure(await many.ask(path), 400, 'More than 1000 names match; add another word')
  checkFailure(await many.ask('/api/v1/companies?q=w'), 400, /^More than 1000 names/)
  assert.deepEqual(namesIn(await many.ask(`${path}%20777`)), ['Wide Number 777'])
})

test('a page of more than 16 MiB is a 400 that names a limit that fits (3.10)', async (t) => {
  const many = await makeApp(t)
  const named = Array.from({ length: 300 }, (_, n) => ({
    jurisdiction: 'GB',
    identifier: String(n),
    name: `${n} wide `.padEnd(65_536, 'x'),
  }))
  await many.store.importRows('companies', named)
  const path = '/api/v1/companies?q=wide'
  const message = 'The page would be larger than 16 MiB; ask for it with a limit of 255 or less'
  checkFailure(await many.ask(`${path}&limit=1000`), 400, message)
  assert.equal(namesIn(await many.ask(`${path}&limit=255`)).length, 255)
  assert.equal(namesIn(await many.ask(`${path}&limit=255&page=2`)).length, 45)
})

test('the tag belongs to the answer: HEAD, 304, other keys, methods (1.1, 2, 5, 7)', async () => {
  const query = '?q=northwind'
  const first = await find(query)
  assert.equal(first.headers['cache-control'], 'private, no-cache')
  assert.equal(first.headers['data-version'], '1')
  const tag = await checkTag((question) => ask(`/api/v1/companies${query}`, question))
  assert.notEqual((await find('?q=northwind%20t')).headers['etag'], tag)
  checkFailure(await find(query, { method: 'POST' }), 405, 'Method Not Allowed')
  checkFailure(await find(query, { authorization: null }), 403, 'Forbidden')
  const narrow = { key: await store.issueKey({ name: 'narrow', scopes: ['rights'] }) }
  checkFailure(await find(query, narrow), 403, 'Forbidden')
  const named = { key: await store.issueKey({ name: 'named', scopes: ['companies'] }) }
  assert.equal((await find(query, named)).status, 200)
  const listing = await ask('/api/v1/companies/1000000000001/rights', named)
  checkFailure(listing, 403, 'Forbidden')
  // Naming a company in a path needs no scope of its own (7).
  assert.equal((await ask('/api/v1/companies/GB:11111111/rights', narrow)).status, 200)
})
