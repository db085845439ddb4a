// Rate limits of keys (contract sections 4 and 5): exact, and reported on every answer.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createCounter } from '../../src/auth/counter.ts'
import { createLimit } from '../../src/auth/rate-limit.ts'
import { rights } from '../../src/resources/rights.ts'
import { bytesInUse } from '../support/bytes-in-use.ts'
import { keyRecord } from '../support/key-record.ts'
import { type Answer, checkFailure, makeApp, pathOf } from '../support/make-app.ts'
import { makeRights, makeRightsStore } from '../support/rights-store.ts'
import { askPort, runServer } from '../support/run-server.ts'

const { records, path, whole } = makeRights(3)

/** An application whose clock moves only on demand. */
async function makeLimited(t: Parameters<typeof makeApp>[0], defaultRate = 'none') {
  let time = 5_000_000
  const made = await makeApp(t, { records, defaultRate, clock: () => time })
  return {
    ...made,
    pass: (ms: number) => (time += ms),
    /** Sends requests with a key of this rate. */
    asker: async (name: string, rate?: string) => {
      const key = await made.store.issueKey(rate === undefined ? { name } : { name, rate })
      return (url = path, headers: Readonly<Record<string, string>> = {}) =>
        made.ask(url, { headers, key })
    },
  }
}

/** The limit fields of an answer, checked to be structured fields (RFC 9651). */
function limitOf({ headers }: Answer) {
  const policy = /^"default";q=(\d+);w=(\d+)$/.exec(headers['ratelimit-policy'] ?? '')
  const state = /^"default";r=(\d+);t=(\d+)$/.exec(headers['ratelimit'] ?? '')
  if (policy === null && state === null) return undefined
  assert.ok(policy && state, JSON.stringify(headers))
  const [, quota, window] = policy
  const [, remaining, reset] = state
  return [quota, window, remaining, reset].map(Number)
}

test('a key over its rate gets 429 with Retry-After until the window ends (E9)', async (t) => {
  const { asker, pass } = await makeLimited(t)
  const ask = await asker('small', '5/10s')
  for (let count = 1; count <= 5; count += 1) {
    const answer = await ask()
    assert.equal(answer.text, whole)
    assert.deepEqual(limitOf(answer), [5, 10, 5 - count, 10])
    assert.equal(answer.headers['retry-after'], undefined)
  }
  pass(3_500)
  for (let count = 0; count < 3; count += 1) {
    const answer = await ask()
    checkFailure(answer, 429, 'Too Many Requests')
    assert.deepEqual(limitOf(answer), [5, 10, 0, 7])
    assert.equal(answer.headers['retry-after'], '7', 'not before the window ends')
  }
  pass(6_499)
  checkFailure(await ask(), 429, 'Too Many Requests')
  pass(1)
  assert.deepEqual(limitOf(await ask()), [5, 10, 4, 10], 'all of it is there again')
})

test('other keys and endpoints without a key are not affected (E9)', async (t) => {
  const { asker, ask } = await makeLimited(t)
  const small = await asker('small', '1/60s')
  const other = await asker('other', '1/60s')
  await small()
  checkFailure(await small(), 429, /./)
  assert.equal((await other()).status, 200)
  const free = await ask(path)
  assert.equal(free.status, 200)
  assert.equal(limitOf(free), undefined)
  assert.equal(limitOf(await small('/healthz')), undefined)
  assert.equal((await small('/healthz')).status, 200)
})

test('every answer to a limited key has RateLimit and RateLimit-Policy (5)', async (t) => {
  const { asker } = await makeLimited(t)
  const ask = await asker('small', '100/60s')
  const etag = (await ask()).headers['etag'] ?? ''
  const asked: readonly (readonly [number, string, Record<string, string>?])[] = [
    [200, path],
    [304, path, { 'if-none-match': etag }],
    [400, `${path}?limit=0`],
    [400, pathOf(rights, '%zz')],
    [404, pathOf(rights, 99)],
    [404, '/api/nothing'],
    [404, '/%61pi/nothing'],
  ]
  for (const [index, [status, url, headers]] of asked.entries()) {
    const answer = await ask(url, headers)
    assert.equal(answer.status, status)
    assert.deepEqual(limitOf(answer), [100, 60, 98 - index, 60], url)
  }
})

test('a refusal does not reveal a limit or count towards it (2.2)', async (t) => {
  const { store, ask } = await makeLimited(t)
  const rate = '2/60s'
  const key = await store.issueKey({ name: 'scoped', scopes: ['rights'], rate })
  for (let count = 0; count < 5; count += 1) {
    const answer = await ask('/api/v1/companies/1/jobs', { key })
    checkFailure(answer, 403, 'Forbidden')
    assert.equal(limitOf(answer), undefined)
  }
  assert.deepEqual(limitOf(await ask(path, { key })), [2, 60, 1, 60])
})

test('--default-rate applies to keys without a rate; none removes the limit', async (t) => {
  const { asker } = await makeLimited(t, '3/60s')
  assert.deepEqual(limitOf(await (await asker('plain'))()), [3, 60, 2, 60])
  assert.deepEqual(limitOf(await (await asker('own', '9/1h'))()), [9, 3_600, 8, 3_600])
  assert.equal(limitOf(await (await asker('free', 'none'))()), undefined)
})

test('at any timing, each window allows exactly the quota (E10)', async () => {
  const key = (id: number) => ({ ...keyRecord, id, rate: id === 0 ? '3/10s' : undefined })
  const step = fc.tuple(fc.nat({ max: 2 }), fc.integer({ min: 0, max: 6_000 }))
  const start = fc.double({ min: 0, max: 10_000, noNaN: true })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 200 }), start, async (steps, startedAt) => {
      let now = startedAt
      const limit = createLimit(
        { quota: 2, seconds: 5 },
        createCounter(() => now),
      )
      const windows = new Map<number, { endsAt: number; count: number }>()
      for (const [id, ms] of steps) {
        now += ms
        const [quota, length] = id === 0 ? [3, 10_000] : [2, 5_000]
        const last = windows.get(id)
        const window = last && now < last.endsAt ? last : { endsAt: now + length, count: 0 }
        window.count += 1
        windows.set(id, window)
        const verdict = await limit(key(id))
        assert.ok(verdict)
        assert.equal(verdict.isWithin, window.count <= quota)
        assert.equal(verdict.remaining, Math.max(0, quota - window.count))
        // A sum of fractions may be a little too great.
        const left = Math.min(Math.ceil((window.endsAt - now) / 1_000), length / 1_000)
        assert.equal(verdict.resetSeconds, left)
        assert.ok(verdict.resetSeconds >= 1)
      }
    }),
  )
})

test('setting the wall clock moves no window (C16, I9)', async (t) => {
  let wall = Date.parse('2030-01-01T00:00:00Z')
  let time = 0
  const { store, ask } = await makeApp(t, { records, now: () => wall, clock: () => time })
  const key = await store.issueKey({ name: 'small', rate: '2/60s' })
  const left = async () => limitOf(await ask(path, { key }))
  assert.deepEqual(await left(), [2, 60, 1, 60])
  wall -= 3_600_000
  assert.deepEqual(await left(), [2, 60, 0, 60])
  wall += 400 * 86_400_000
  assert.equal((await ask(path, { key })).status, 429)
  time += 60_000
  assert.deepEqual(await left(), [2, 60, 1, 60])
})

test('a million keys are counted exactly in bounded memory (E8)', async (t) => {
  const counter = createCounter(() => 0)
  const rate = { quota: 2, seconds: 3_600 }
  const wrong: number[] = []
  const count = async (from: number, to: number, expected: number) => {
    for (let id = from; id < to; id += 1) {
      const counted = counter(id, rate)
      const known = counted instanceof Promise ? await counted : counted
      if (known.count !== expected) wrong.push(id)
    }
  }
  const before = bytesInUse()
  await count(0, 1_000_000, 1)
  await count(0, 1_000_000, 2)
  await count(1_000_000, 1_200_000, 1)
  assert.deepEqual(wrong, [])
  const mib = (bytesInUse() - before) / 1_048_576
  t.diagnostic(`${mib.toFixed(1)} MiB`)
  assert.ok(mib < 150, `${mib} MiB`)
})

test('the workers of a server share their limits (E9, C15)', async (t) => {
  const { store } = await makeRightsStore(t)
  const key = await store.issueKey({ name: 'small', rate: '20/1h' })
  const { port } = await runServer(t, store.db, ['--workers', '2', '--bad-key-rate', '5/1h'])
  const ask = async (key: string) => (await askPort(port, path, { key })).status
  const statuses = await Promise.all(Array.from({ length: 30 }, () => ask(key)))
  assert.equal(statuses.filter((status) => status === 200).length, 20)
  assert.equal(statuses.filter((status) => status === 429).length, 10)
  const refused: number[] = []
  for (let turn = 0; turn < 8; turn += 1) refused.push(await ask(`${key}x`))
  assert.deepEqual(refused, [403, 403, 403, 403, 403, 429, 429, 429])
})
