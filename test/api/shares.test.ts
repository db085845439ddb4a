// L3: no key takes what others need, without a rate limit.

import assert from 'node:assert/strict'
import { after, test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ScanLimits } from '../../src/http/scan-turns.ts'
import { compress, unsentBytesMax } from '../../src/http/answers/send.ts'
import type { ApiError } from '../../src/http/errors.ts'
import type { WireLimits } from '../../src/http/wire/server.ts'
import { streamsMax } from '../../src/http/wire/streaming.ts'
import { rights } from '../../src/resources/rights.ts'
import { timeStore } from '../../src/server/time-store.ts'
import type { StoreReader } from '../../src/store/serving/store-reader.ts'
import { openStoreReader } from '../../src/store/open-store.ts'
import { pageBytesMax } from '../../src/store/page-size.ts'
import { keyRecord } from '../support/key-record.ts'
import { checkFailure, makeApp, pathOf } from '../support/make-app.ts'
import { makeRecords } from '../support/make-record.ts'
import { patientBounds } from '../support/store-at.ts'
import { makeTempStore } from '../support/temp-store.ts'
import { until } from '../support/until.ts'

const [long, short] = [pathOf(rights, 1), pathOf(rights, 2)]
const wide = `${pathOf(rights, 3)}?limit=270`
const medium = pathOf(rights, 4)
/** Beyond this, a view is made beside the event loop. */
const longTotal = 10_001

const filled = await makeTempStore({ after }, [rights])
await filled.load([
  { resource: rights, company: 1, records: makeRecords(rights, longTotal) },
  { resource: rights, company: 2, records: makeRecords(rights, 5, 20_000) },
  {
    resource: rights,
    company: 3,
    records: makeRecords(rights, 270, 30_000).map((one) => ({ ...one, name: 'x'.repeat(60_000) })),
  },
  { resource: rights, company: 4, records: makeRecords(rights, longTotal - 1, 40_000) },
])
const scopes = ['rights', 'companies', 'changes']
const oneKey = await filled.issueKey({ name: 'one', scopes })
const otherKey = await filled.issueKey({ name: 'other', scopes })

const asItIs = (reader: StoreReader) => reader
const measured = (reader: StoreReader) => timeStore(reader, { countStore: () => undefined })

type Limits = ScanLimits & Pick<WireLimits, 'standstillMs'>

/** A server of the store above, and clients with its two keys. */
async function serve(t: TestContext, limits: Partial<Limits> = {}, wrap = asItIs) {
  const reader = wrap(await openStoreReader(filled.db, patientBounds))
  const { app, logged } = await makeApp(t, { limits, cacheBytesMax: 0, wrapStore: () => reader })
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  const client = (key: string) => (path: string, signal?: AbortSignal) => {
    const headers = { authorization: `Bearer ${key}`, 'accept-encoding': 'identity' }
    return fetch(origin + path, { headers, ...(signal && { signal }) })
  }
  return { logged, one: client(oneKey), other: client(otherKey) }
}

let filters = 0
const filtered = (path: string) => `${path}?status=${(filters += 1)}`
let pages = 0
const changesOf = (limit: number) => `/api/v1/changes?after=0&limit=${limit}`
const status = async (asked: Promise<Response>) => {
  const answer = await asked
  await answer.bytes()
  return answer.status
}

for (const [what, path, clients] of [
  ['long', long, 40],
  ['shorter', medium, 100],
] as const) {
  test(`endless filters of a ${what} listing by one key get no other key refused (J1, L3)`, async (t) => {
    const { one, other, logged } = await serve(t)
    const stopping = new AbortController()
    const attack = async () => {
      while (!stopping.signal.aborted) {
        if ((await status(one(filtered(path)))) === 503) await sleep(20)
      }
    }
    const attackers = Array.from({ length: clients }, attack)
    await sleep(200)
    const statuses: number[] = []
    for (let turn = 0; turn < 10; turn += 1) {
      statuses.push(await status(other(filtered(path))), await status(other(filtered(short))))
    }
    stopping.abort()
    await Promise.all(attackers)
    assert.deepEqual(new Set(statuses), new Set([200]))
    const isRefused = logged().some(({ msg }) => msg === 'overloaded')
    assert.equal(isRefused, path === long, 'of scans of long listings, a key may have fewer')
  })
}

test('a listing of few records waits for no scan of a long one (L3)', async (t) => {
  const { one } = await serve(t, { scansMax: 0, scanMs: 60_000 })
  const leaving = new AbortController()
  const waiting = one(filtered(long), leaving.signal)
  assert.equal(await status(one(filtered(short))), 200)
  leaving.abort()
  await assert.rejects(waiting)
})

test('a client that waits too long gets a 503 with Retry-After, and keeps its connection (L3)', async (t) => {
  for (const wrap of [asItIs, measured]) {
    const { one, logged } = await serve(t, { scansMax: 0, scanMs: 300 }, wrap)
    const answer = await one(filtered(long))
    assert.equal(answer.status, 503)
    assert.equal(answer.headers.get('retry-after'), '5')
    await sleep(20)
    const lines = logged().filter(({ level }) => Number(level) > 30)
    const told = lines.map(({ level, msg, refused }) => ({ level, msg, refused }))
    assert.deepEqual(told, [{ level: 40, msg: 'overloaded', refused: { scans: 1 } }])
  }
})

test('a key has its share of waiting requests, and work that its clients leave is dropped (L3)', async (t) => {
  const asks = [
    () => filtered(long),
    () => filtered(short),
    () => '/api/v1/companies?q=x',
    () => '/api/v1/companies?identifier=x&identifier=y',
    () => '/api/v1/companies/2',
    () => changesOf((pages += 1)),
  ]
  for (const ask of asks) await checkShare(t, ask)
})

async function checkShare(t: TestContext, ask: () => string) {
  const most = { scansWaitingMax: 8, tasksMax: 8 }
  const { one, other } = await serve(t, { ...most, scansMax: 0, shortMax: 0, scanMs: 60_000 })
  const leaving = new AbortController()
  const refusedOf = async (asker: typeof one, signal: AbortSignal, min: number) => {
    let refused = 0
    for (let asked = 0; asked < 6; asked += 1) {
      const answer = status(asker(ask(), signal))
      void answer.then(
        () => (refused += 1),
        () => undefined,
      )
    }
    await until(() => refused >= min || signal.aborted)
    await sleep(150)
    return refused
  }
  assert.equal(await refusedOf(one, leaving.signal, 2), 2)
  assert.equal(await refusedOf(other, leaving.signal, 4), 4, 'half of what the one has left')
  leaving.abort()
  while ((await refusedOf(one, AbortSignal.timeout(1_000), 2)) !== 2) await sleep(50)
}

test('a key has its share of the streams (L3)', async (t) => {
  const { one, other } = await serve(t)
  const unread = Array.from({ length: streamsMax + 8 }, () => one(`${long}?format=csv&limit=all`))
  const answers = await Promise.all(unread)
  assert.equal(answers.filter((answer) => answer.status === 200).length, streamsMax / 2)
  for (const { status: given, headers } of answers) {
    if (given !== 200) assert.deepEqual([given, headers.get('retry-after')], [503, '5'])
  }
  for (let turn = 0; turn < 20; turn += 1) {
    assert.equal(await status(other(`${long}?format=csv&limit=all`)), 200)
  }
  for (const answer of answers) await answer.body?.cancel()
  await until(async () => (await status(one(`${long}?format=csv&limit=all`))) === 200)
})

test('a key has its share of the memory of answers that are not read (L3)', async (t) => {
  const { one, other } = await serve(t, { standstillMs: 600_000 })
  const asked = Array.from({ length: 20 }, () => one(wide))
  const answers = await Promise.all(asked)
  const [given, refused] = [200, 503].map((code) => answers.filter(({ status }) => status === code))
  const bytes = Number(given?.[0]?.headers.get('content-length'))
  assert.ok(Math.abs((given?.length ?? 0) * bytes - unsentBytesMax / 2) <= bytes)
  assert.equal(refused?.[0]?.headers.get('retry-after'), '5')
  assert.equal(await status(one(short)), 200)
  assert.equal(await status(other(wide)), 200)
  for (const answer of answers) await answer.body?.cancel()
  await until(async () => (await status(one(wide))) === 200)
})

test('a key has its share of the memory of answers that are compressed (L3)', async () => {
  const body = Buffer.alloc(pageBytesMax)
  const ask = (id: number) => compress({ key: { ...keyRecord, id } }, body, 'zstd')
  const codes = (asked: readonly Promise<Buffer>[]) =>
    Promise.all(
      asked.map((one) =>
        one.then(
          () => 200,
          (error: unknown) => (error as ApiError).code,
        ),
      ),
    )
  const most = unsentBytesMax / pageBytesMax / 2
  const asked = Array.from({ length: most + 2 }, () => ask(1))
  assert.deepEqual(await codes([...asked.slice(most), ask(2)]), [503, 503, 200])
  assert.deepEqual(new Set(await codes(asked.slice(0, most))), new Set([200]))
  assert.deepEqual(await codes([ask(1)]), [200], 'the memory is given back')
})

test('a key has its share of the places for waiting (L3, 12.4)', async (t) => {
  const { ask, store } = await makeApp(t)
  const key = await store.issueKey({ name: 'follower', scopes })
  const asked = Array.from({ length: 2_001 }, () => ask('/api/v1/changes?after=0&wait=60', { key }))
  checkFailure(await Promise.race(asked), 503, 'Service Unavailable')
  await store.importRows('rights', [{ id: 1, company_id: 1, name: 'a' }])
  const answers = await Promise.all(asked)
  assert.equal(answers.filter((one) => one.status === 200).length, 2_000)
})

test('followers that wake together, each for a different page, all get it (L3, 12.4)', async (t) => {
  const { one } = await serve(t)
  const asked = Array.from({ length: 100 }, (_, n) => status(one(changesOf(n + 1))))
  assert.deepEqual(new Set(await Promise.all(asked)), new Set([200]))
})

test('clients that ask for the same changes get them, even if the first one leaves (L3, 12.4)', async (t) => {
  const held = Promise.withResolvers<undefined>()
  let asked = 0
  const { one, other, logged } = await serve(t, { scansMax: 1 }, (reader) => ({
    ...reader,
    readRegistry() {
      asked += 1
      return reader.readRegistry()
    },
    readChanges: (...given) => held.promise.then(() => reader.readChanges(...given)),
  }))
  const leaving = new AbortController()
  const asking: Promise<number>[] = []
  for (const [n, ask] of [one, one, other, one].entries()) {
    const answer = ask(changesOf(n === 0 ? 1 : 2), n === 1 ? leaving.signal : undefined)
    if (n === 1) answer.catch(() => undefined)
    else asking.push(status(answer))
    await until(() => asked === n + 1)
  }
  leaving.abort()
  await until(() => logged().some(({ status: given }) => given === 499))
  held.resolve(undefined)
  assert.deepEqual(await Promise.all(asking), [200, 200, 200])
})
