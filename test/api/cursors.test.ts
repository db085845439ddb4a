// Cursors of changes, of states and of pages (contract 12.2, 12.3).

import { test } from 'node:test'
import assert from 'node:assert/strict'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { makeRegistry, type Page, path, right, told } from '../support/followed-registry.ts'
import { checkFailure } from '../support/make-app.ts'

test('an invalid cursor, or one of another state, is refused in one sentence (12.3)', async () => {
  const made = await makeRegistry()
  const { follow, put } = made
  await put('rights', [right(1, 'a')])
  await put('rights', [right(1, 'b')])
  const { until } = await made.page('?after=0')
  const bad: [query: string, message: string | RegExp][] = [
    ['', /^after is missing; it takes 0, a cursor/],
    ['?after=', /^after is ""; it takes 0/],
    ['?after=x', /^after is "x"; it takes 0/],
    ['?after=-1', /^after is "-1"/],
    ['?after=01', /^after is "01"/],
    ['?after=0~1', /^after is "0~1"/],
    [`?after=0~${until}~rights.1.7`, /^after is "0~/],
    [`?after=0~${until}~rights.1.7~jobs.&resource=jobs`, /^after is a page of another request/],
    [`?after=0~${until}~rights.1.7~rights.`, /^after is a page of another request/],
    [`?after=0~${until}~right.1.7~right.`, /^after is a page of another request/],
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
  const page = '0~2.0123456789abcdef.z~rights.1.1.0.1~rights.'
  checkFailure(await follow(`?after=${page}&resource=rights`), 410, elsewhere)
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
      const message = /^after is a page of another request; repeat its resource and company_id/
      checkFailure(await follow(`?after=${next}${other}`), 400, message)
    }
  }
})

test('a page of a walk with a key of other scopes is refused: it would skip changes (12.2)', async () => {
  const { ask, key: broad, put, store } = await makeRegistry()
  await put('rights', [right(1, 'a'), right(2, 'b')])
  await put(
    'jobs',
    [1, 2].map((id) => ({ id, company_id: 1, title: 'x' })),
  )
  const issue = (...scopes: string[]) =>
    store.issueKey({ name: scopes.join(' '), scopes: ['changes', ...scopes] })
  const jobs = await issue('jobs')
  const narrow = await issue('jobs', 'events')
  // What the key of jobs has not read stands before the place where its page ends.
  const first = await ask(`${path}?after=0&limit=1`, { key: jobs })
  const { next } = JSON.parse(first.text) as Page
  const askNext = (key: string, query = '') => ask(`${path}?after=${next}${query}`, { key })
  for (const key of [broad, narrow]) {
    checkFailure(await askNext(key), 400, /, with a key of the same scopes$/)
  }
  const same = [await askNext(jobs), await askNext(broad, '&resource=jobs')]
  for (const { text } of same) assert.deepEqual(told(JSON.parse(text) as Page), ['jobs 1 2 put 2'])
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
