// Contract 12.1 to 12.5: what has changed since a state of the registry.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { passedMax } from '../../src/store/changes/changed-listings.ts'
import { askAnnounced } from '../support/announcement.ts'
import {
  type Answer,
  checkFailure,
  checkTag,
  listenOn,
  makeApp,
  type TestApp,
} from '../support/make-app.ts'
import { askPort } from '../support/run-server.ts'
import { until as waitUntil } from '../support/until.ts'
import { revert } from '../support/write-store.ts'
import { scopeNames } from '../../src/cli/keys.ts'

const path = '/api/v1/changes'

interface Change {
  readonly resource: string
  readonly company_id: number
  readonly id: number
  readonly version: number
  readonly change: string
  readonly record: { readonly id: number; readonly name?: string } | null
}

interface Page {
  readonly changes: readonly Change[]
  readonly after: string
  readonly until: string
  readonly next: string | null
}

interface Registry extends TestApp {
  /** That may follow. */
  readonly key: string
  readonly follow: (query: string) => Promise<Answer>
  readonly page: (query: string) => Promise<Page>
  readonly put: (target: string, rows: readonly object[], isSnapshot?: boolean) => Promise<void>
}

/** An application, a key that may follow, and imports into the store. */
async function makeRegistry(options: Parameters<typeof makeApp>[1] = {}): Promise<Registry> {
  const made = await makeApp({ after }, options)
  const { store, ask } = made
  const key = await store.issueKey({ name: 'follower', scopes: scopeNames })
  const follow: Registry['follow'] = (query) => ask(path + query, { key })
  return {
    ...made,
    key,
    follow,
    async page(query) {
      const answer = await follow(query)
      assert.equal(answer.status, 200, answer.text)
      return JSON.parse(answer.text) as Page
    },
    async put(target, rows, isSnapshot = false) {
      await store.importRows(target, rows, { isSnapshot })
      // A reader asks once in a turn of the event loop whether anything was committed.
      await nextTurn()
    },
  }
}

/** A registry of one right, and the cursor up to which it has been followed. */
async function makeFollowed(options?: Parameters<typeof makeApp>[1]) {
  const made = await makeRegistry(options)
  await made.put('rights', [right(1, 'a')])
  return { ...made, until: (await made.page('?after=0')).until }
}

const right = (id: number, name: string, company = 1) => ({ id, company_id: company, name })
const told = ({ changes }: Page) =>
  changes.map(({ resource, company_id: company, id, version, change }) => {
    return `${resource} ${company} ${id} ${change} ${version}`
  })

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

async function walk(page: Registry['page'], query: string): Promise<string[]> {
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

test('an invalid cursor, or one of another state, is refused in one sentence (12.3)', async () => {
  const { follow, put, page } = await makeRegistry()
  await put('rights', [right(1, 'a')])
  await put('rights', [right(1, 'b')])
  const { until } = await page('?after=0')
  const bad: [query: string, message: string | RegExp][] = [
    ['', /^after is missing; it takes 0, a cursor/],
    ['?after=', /^after is ""; it takes 0/],
    ['?after=x', /^after is "x"; it takes 0/],
    ['?after=-1', /^after is "-1"/],
    ['?after=01', /^after is "01"/],
    ['?after=0~1', /^after is "0~1"/],
    [`?after=0~${until}~rights.1.7`, /^after is "0~/],
    [`?after=0~${until}~rights.1.7~.&resource=jobs`, /^after continues with rights, which/],
    [`?after=0~${until}~right.1.7~.`, /^after continues with right, which/],
    [`?after=0~${until}~rights.1.7~.~x`, /^after is "0~/],
    [`?after=0~${until}~rights.1~.`, /^after is "0~/],
    [`?after=0~${until}~rights.1.7~x`, /^after is "0~/],
    [`?after=1~${until}~rights.1.7~.`, /^after is "1~/],
    [`?after=0~${until}~rights.1.7~.&until=1`, 'until is 1, but the cursor leads to 2'],
    ['?after=0&after=0', 'after is given more than once; give one'],
    ['?after=0&until=x', /^until is "x"; it takes the number/],
    ['?after=2&until=1', 'until is version 1, which is before that of after'],
    ['?after=0&limit=1001', /^limit is "1001"/],
    ['?after=0&wait=61', 'wait is "61"; it takes an integer from 0 to 60'],
    ['?after=0&resource=right', 'resource is "right"; did you mean rights?'],
    ['?after=0&resource=qqqqqq', /^resource is "qqqqqq"; it takes companies, rights/],
    ['?after=0&company_id=-7', /^company_id is "-7"/],
    ['?after=0&format=csv', 'format is "csv"; it takes json or ndjson'],
    ['?after=0&format=xml', 'format is "xml"; it takes json or ndjson'],
    ['?afer=0', '"afer" is not a known query parameter; did you mean after?'],
  ]
  for (const [query, message] of bad) checkFailure(await follow(query), 400, message)
  const later = await follow(`?after=${until.replace('2.', '3.')}`)
  checkFailure(later, 404, 'Version 3 does not exist yet; the last one is 2')
  assert.equal(later.headers['retry-after'], '1')
  const elsewhere = 'Version 2 of the cursor belongs to another history; begin again with after=0'
  const ofAnotherStore = await follow('?after=3.0123456789abcdef.zzzzzzzz')
  checkFailure(ofAnotherStore, 410, elsewhere.replace('2', '3'))
  checkFailure(await follow('?after=2.0123456789abcdef.z'), 410, elsewhere)
  checkFailure(await follow('?after=0&until=2.0123456789abcdef.z'), 410, elsewhere)
  checkFailure(await follow(`?after=0~2.0123456789abcdef.z~rights.1.1.0.1~.`), 410, elsewhere)
  checkFailure(await follow('?after=0&company_id=GB:1'), 404, /GB:1 is not in the registry/)
})

test('a page of a walk with another resource or company is refused: it would skip changes', async () => {
  const { follow, put, page } = await makeRegistry()
  await put('rights', [right(1, 'a'), right(2, 'b')])
  await put('jobs', [{ id: 1, company_id: 1, title: 'x' }])
  for (const [asked, others] of [
    ['', ['&resource=rights', '&company_id=1']],
    ['&resource=rights', ['', '&resource=rights&company_id=1']],
    ['&resource=rights&company_id=1', ['', '&resource=rights']],
  ] as const) {
    const { next } = await page(`?after=0&limit=1${asked}`)
    assert.equal((await follow(`?after=${next}${asked}`)).status, 200)
    for (const other of others) {
      const message = /^after (?:is a page of another request; repeat its|continues with companies)/
      checkFailure(await follow(`?after=${next}${other}`), 400, message)
    }
  }
})

test('a cursor misses nothing after pruning; a walk to a pruned version begins again', async () => {
  const { follow, put, page, store } = await makeRegistry()
  await put('rights', [right(1, 'a'), right(2, 'b'), right(3, 'c', 2)])
  const first = await page('?after=0&limit=1')
  const { until } = await page('?after=0')
  await put('rights', [right(1, 'a'), right(2, 'b')], true)
  await put('rights', [right(2, 'later')])
  await store.prune()
  await nextTurn()
  const says = 'Version 1, to which these changes lead, was pruned; begin again with after=0'
  checkFailure(await follow(`?after=${first.next}`), 410, says)
  const message = 'Version 2, to which these changes lead, was pruned; until takes one from 3 on'
  checkFailure(await follow('?after=0&until=2'), 410, message)
  // What has not changed may be told with it: the state at the cursor is not known any more.
  const found = (await page(`?after=${until}&resource=rights`)).changes.map(
    ({ id, change }) => `${id} ${change}`,
  )
  assert.deepEqual(found, ['3 remove', '1 put', '2 put'])
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
