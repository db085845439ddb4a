// Contract 12.1 to 12.5: what has changed since a state of the registry.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { passedMax } from '../../src/store/changes/changed-listings.ts'
import { askAnnounced } from '../support/announcement.ts'
import {
  type Change,
  makeFollowed,
  makeRegistry,
  type Page,
  path,
  right,
  told,
} from '../support/followed-registry.ts'
import { checkFailure, checkTag, listenOn } from '../support/make-app.ts'
import { askPort } from '../support/run-server.ts'
import { until as waitUntil } from '../support/until.ts'
import { revert } from '../support/write-store.ts'

test('after=0 gets everything, and until is the cursor from which to continue (12.2)', async () => {
  const { page, put, ask, follow } = await makeRegistry()
  assert.deepEqual(await page('?after=0'), {
    ok: true,
    changes: [],
    after: '0',
    until: '0',
    next: null,
  })
  await put('rights', [right(1, 'a'), right(2, 'b'), right(3, 'c', 2)])
  const first = await page('?after=0')
  assert.deepEqual(told(first), [
    ...['companies 1 1 put 1', 'companies 2 2 put 1'],
    ...['rights 1 1 put 1', 'rights 1 2 put 1', 'rights 2 3 put 1'],
  ])
  const listing = JSON.parse((await ask('/api/v1/companies/1/rights')).text) as { rights: object[] }
  assert.deepEqual(first.changes[2]?.record, listing.rights[0])
  const company = { id: 1, jurisdiction: null, identifier: null, name: null, sources: [] }
  assert.deepEqual(first.changes[0]?.record, company)
  assert.deepEqual([first.after, first.next], ['0', null])
  assert.match(first.until, /^1\.[0-9a-f]{16}\.[0-9a-z]{8}$/)

  await put('rights', [right(1, 'new'), right(3, 'c', 2)], true)
  const second = await page(`?after=${first.until}`)
  assert.deepEqual(told(second), ['rights 1 1 put 2', 'rights 1 2 remove 2'])
  assert.equal(second.changes[1]?.record, null)
  assert.deepEqual(told(await page(`?after=${second.until}`)), [])
  // What has changed and is as it was is not told.
  await put('rights', [right(1, 'a'), right(2, 'b'), right(3, 'c', 2)], true)
  assert.deepEqual(told(await page(`?after=${first.until}`)), [])
  assert.equal((await follow(`?after=${first.until}`)).headers['data-version'], '3')
})

test('the greatest ids are exact, and cursors lead past them (1.5, 12.1)', async () => {
  const { page, put } = await makeRegistry()
  const [greatest, less] = [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER - 1]
  await put('rights', [right(greatest, 'a', greatest), right(less, 'b', greatest)])
  const expected = [
    `companies ${greatest} ${greatest} put 1`,
    ...[`rights ${greatest} ${less} put 1`, `rights ${greatest} ${greatest} put 1`],
  ]
  for (const limit of [1, 2, 9]) {
    assert.deepEqual(await walk(page, `?after=0&limit=${limit}`), expected)
  }
})

test('pages of any length lead through the same changes, even by links (12.2)', async () => {
  const { page, put, ask, follow, key } = await makeRegistry()
  const rows = Array.from({ length: 1_500 }, (_, n) => {
    return { id: n + 1, company_id: (n % 3) + 1, date: `20${10 + (n % 15)}-01-01`, attr: 'x' }
  })
  await put('events', rows)
  await put('rights', [right(1, 'a')])
  const whole = [...(await walk(page, '?after=0&limit=1000'))]
  assert.equal(whole.length, 1_504)
  assert.equal(new Set(whole).size, whole.length)
  for (const limit of [1, 7, 999]) {
    const some = limit === 1 ? '&resource=rights' : ''
    const expected = limit === 1 ? whole.filter((one) => one.startsWith('rights')) : whole
    assert.deepEqual(await walk(page, `?after=0&limit=${limit}${some}`), expected)
  }
  const answer = await follow('?after=0&limit=2&format=ndjson')
  assert.equal(answer.headers['content-type'], 'application/x-ndjson; charset=utf-8')
  assert.equal(answer.headers['vary'], 'Accept, Accept-Encoding')
  const { headers } = answer
  assert.equal(answer.text.trimEnd().split('\n').length, 2)
  const next = headers['changes-next'] ?? ''
  assert.equal(headers['link'], `<${path}?after=${next}&limit=2&format=ndjson>; rel="next"`)
  assert.equal(headers['changes-until'], (await page('?after=0')).until)
  const followed = await ask(`${path}?after=${next}&limit=2&format=ndjson`, { key })
  assert.equal((JSON.parse(followed.text.split('\n')[0] ?? '') as Change).id, 3)
})

async function walk(page: (query: string) => Promise<Page>, query: string): Promise<string[]> {
  const found: string[] = []
  for (let at = query; ;) {
    const one = await page(at)
    found.push(...told(one))
    if (one.next === null) return found
    at = query.replace(/after=[^&]*/, `after=${one.next}`)
  }
}

test('an import between two pages is not in them (12.2)', async () => {
  const { page, put } = await makeRegistry()
  await put('rights', [right(1, 'a'), right(2, 'b')])
  const first = await page('?after=0&limit=2')
  await put('rights', [right(2, 'later'), right(3, 'c')])
  const second = await page(`?after=${first.next}&limit=3`)
  assert.deepEqual([second.until, second.next], [first.until, null])
  const told = second.changes.map(({ record }) => record?.id)
  assert.deepEqual(told, [2])
  assert.equal((second.changes[0]?.record as { name?: string } | undefined)?.name, 'b')
})

test('changes can be of one company, of one listing, up to a version', async () => {
  const { ask, key, page, put } = await makeRegistry()
  const named = { jurisdiction: 'GB', identifier: '7', name: 'Acme' }
  await put('companies', [{ id: 7, ...named }])
  await put('rights', [right(1, 'a', 7), right(2, 'b', 8)])
  await put('jobs', [{ id: 1, company_id: 7, title: 'x' }])
  const ofSeven = ['companies 7 7 put 1', 'rights 7 1 put 2', 'jobs 7 1 put 3']
  assert.deepEqual(told(await page('?after=0&company_id=7')), ofSeven)
  assert.deepEqual(told(await page('?after=0&company_id=GB:7')), ofSeven)
  assert.deepEqual(told(await page('?after=0&company_id=7&until=2')), ofSeven.slice(0, 2))
  const { text } = await ask(path, { key, json: { after: 0, company_id: 7, until: 2 } })
  assert.deepEqual(told(JSON.parse(text) as Page), ofSeven.slice(0, 2))
  assert.deepEqual(told(await page('?after=1&until=2&resource=rights')), [
    ...['rights 7 1 put 2', 'rights 8 2 put 2'],
  ])
  const { until } = await page('?after=0&until=2')
  assert.deepEqual(told(await page(`?after=${until}`)), ['jobs 7 1 put 3'])
  assert.deepEqual(told(await page(`?after=0&until=${until}&resource=jobs`)), [])
})

test('companies that another attribute names are in the changes, and keep their former names', async () => {
  const { page, put, store, ask } = await makeRegistry()
  const company = (id: number) => {
    const names = { name: `n ${id}`, trade_name: `t ${id}` }
    return { id, jurisdiction: 'GB', identifier: String(id), ...names }
  }
  await put('companies', [company(1), company(2)])
  const { until } = await page('?after=0')
  await store.importRows('companies', [company(3)], { nameAttribute: 'trade_name' })
  await nextTurn()
  const { changes } = await page(`?after=${until}`)
  assert.deepEqual(
    changes
      .map(({ id, record }) => [id, record?.name])
      .toSorted(([a], [b]) => Number(a) - Number(b)),
    [1, 2, 3].map((id) => [id, `t ${id}`]),
  )
  const nameAt = async (query: string) => {
    const { text } = await ask(`/api/v1/companies/1${query}`)
    return (JSON.parse(text) as { company: { name: string } }).company.name
  }
  assert.deepEqual([await nameAt(''), await nameAt('?version=1')], ['t 1', 'n 1'])
  const pinned = await page('?after=0&until=1')
  const told = pinned.changes.map(({ record }) => record?.name)
  assert.deepEqual(told, ['n 1', 'n 2'])
})

test('only what the key may read is in the changes; without the scope, the same 403 (12.5, 2.2)', async () => {
  const { ask, put, store } = await makeRegistry()
  await put('rights', [right(1, 'a')])
  await put('jobs', [{ id: 1, company_id: 1, title: 'x' }])
  const forbidden = await ask('/api/v1/nothing', { authorization: null })
  // A key without scopes does not have this one.
  assert.equal((await ask(`${path}?after=0`)).text, forbidden.text)
  const key = await store.issueKey({ name: 'one', scopes: ['changes', 'jobs'] })
  const page = JSON.parse((await ask(`${path}?after=0`, { key })).text) as Page
  assert.deepEqual(told(page), ['jobs 1 1 put 2'])
  const other = await ask(`${path}?after=0&resource=rights`, { key })
  assert.deepEqual([other.status, other.text], [403, forbidden.text])
})

test('waiting clients are answered when there is something, by one look-up for all (12.4)', async () => {
  const { page, put, until, callsOf } = await makeFollowed()
  const asked = performance.now()
  const none = await page(`?after=${until}&wait=1`)
  assert.deepEqual([none.changes, none.until], [[], until])
  assert.ok(performance.now() - asked > 900)
  let answered = 0
  const wait = (query: string) =>
    page(`?after=${until}&wait=60${query}`).then((one) => {
      answered += 1
      return one
    })
  const earlier = callsOf('readRegistry')
  const waiting = Array.from({ length: 50 }, () => wait(''))
  const ofOther = wait('&resource=jobs')
  await waitUntil(() => callsOf('readRegistry') >= earlier + 51, 'all have arrived')
  await sleep(1_000)
  const before = callsOf('readRegistry')
  const began = performance.now()
  await sleep(2_000)
  const looks = callsOf('readRegistry') - before
  // A busy machine sleeps longer.
  const looksMax = 1 + Math.ceil((performance.now() - began) / 1_000)
  assert.ok(looks <= looksMax, `${looks} looks instead of ${looksMax}`)
  assert.equal(answered, 0)
  await put('rights', [right(1, 'b')])
  for (const one of await Promise.all(waiting)) assert.deepEqual(told(one), ['rights 1 1 put 2'])
  // Nothing has come for the one who asks for other listings.
  await sleep(100)
  assert.equal(answered, 50)
  await put('jobs', [{ id: 1, company_id: 1, title: 'x' }])
  assert.deepEqual(told(await ofOther), ['jobs 1 1 put 3'])
})

test('a waiting client gets nothing if its key is revoked meanwhile (2.2)', async () => {
  const { ask, put, store, until } = await makeFollowed()
  const key = await store.issueKey({ name: 'once', scopes: ['changes', 'rights'] })
  const waiting = ask(`${path}?after=${until}&wait=60`, { key })
  await sleep(50)
  await store.revokeKey('once')
  // A key that was found good is not looked up again for half a second.
  await sleep(600)
  await put('rights', [right(1, 'b')])
  checkFailure(await waiting, 403, 'Forbidden')
})

test('a waiting client gets an empty answer at once when the service stops', async () => {
  const { page, app, until } = await makeFollowed()
  const waiting = page(`?after=${until}&wait=60`)
  await sleep(50)
  app.startDraining()
  assert.deepEqual((await waiting).changes, [])
})

test('answers are as the OpenAPI document announces them', async () => {
  const { ask, key, put, store } = await makeRegistry()
  const follow = await askAnnounced({ ask }, path)
  await put('companies', [{ jurisdiction: 'GB', identifier: '7', name: 'Acme' }])
  await put('rights', [right(1, 'a')])
  for (const query of ['0', '0&limit=1', 'x', '99']) {
    await follow(`?after=${query}`, { key })
  }
  const all = `${path}?after=0`
  const tag = await checkTag((question) => ask(all, { key, ...question }))
  assert.match(tag, /^W\/"/)
  await follow('?after=0', { key, headers: { 'if-none-match': tag } })
  // The key is admitted, and this request counts, before its parameters are read.
  const limited = await store.issueKey({ name: 'limited', scopes: ['changes'], rate: '9/60s' })
  const refused = await follow('?after=0&resource=rights', { key: limited })
  assert.equal(refused.status, 403)
})

test('a wait may be longer than a connection may be idle (12.4)', async () => {
  const { app, key, until } = await makeFollowed({ limits: { standstillMs: 1_500 } })
  const { body } = await askPort(await listenOn({ app }), `${path}?after=${until}&wait=4`, { key })
  assert.deepEqual((JSON.parse(body) as Page).changes, [])
})

test('HEAD does not wait', async () => {
  const { ask, key, until } = await makeFollowed()
  const answer = await ask(`${path}?after=${until}&wait=60`, { method: 'HEAD', key })
  assert.deepEqual([answer.status, answer.text], [200, ''])
})

test('a company that was never known is a 404, one that is gone is not (9.3)', async () => {
  const { follow, put, page, store } = await makeRegistry()
  await put('rights', [right(1, 'a', 7)])
  await put('rights', [right(2, 'b', 8)])
  const { until } = await page('?after=0')
  checkFailure(await follow('?after=0&company_id=9'), 404, /^Company 9 is not in the registry$/)
  checkFailure(await follow('?after=0&company_id=9&wait=5'), 404, /Company 9/)
  await revert(store.db, { to: 1 })
  await nextTurn()
  assert.deepEqual(told(await page(`?after=${until}&company_id=8`)), [
    ...['companies 8 8 remove 3', 'rights 8 2 remove 3'],
  ])
  assert.deepEqual(told(await page('?after=0&company_id=8')), [])
})

test('a page ends after a number of listings that have changed again since', async () => {
  const { page, put } = await makeRegistry()
  const count = passedMax + 600
  const rows = (name: string) => Array.from({ length: count }, (_, n) => right(n + 1, name, n + 1))
  await put('rights', rows('a'))
  await put('rights', rows('b'))
  const first = await page('?after=0&resource=rights&limit=10')
  assert.deepEqual(first.changes, [])
  const next = await page(`?after=${first.next}&resource=rights&limit=10`)
  assert.deepEqual(
    told(next),
    Array.from({ length: 10 }, (_, n) => `rights ${n + 1} ${n + 1} put 2`),
  )
})
