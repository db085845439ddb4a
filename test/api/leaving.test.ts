// Clients that leave before their answer begins: nothing of theirs stays behind. One that closes
// its sending side alone may still wait for its answer.

import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { streamsMax } from '../../src/http/wire/streaming.ts'
import { listenOn, makeApp } from '../support/make-app.ts'
import { makeRights } from '../support/rights-store.ts'
import { answersIn, askPort, openWire, requestTo } from '../support/run-server.ts'
import { until } from '../support/until.ts'

type Request = Parameters<typeof requestTo>[1]

const { records, path } = makeRights(12)

/** A listening application, whose store reads pages only once it is let. */
async function listen(t: TestContext, halfClosedMs = 100) {
  const held = Promise.withResolvers<undefined>()
  const reading = Promise.withResolvers<undefined>()
  const made = await makeApp(t, {
    records,
    limits: { assetBytesMax: 20_000, halfClosedMs },
    wrapStore: (store) => ({
      ...store,
      readPage: async (...asked) => {
        reading.resolve(undefined)
        await held.promise
        return store.readPage(...asked)
      },
    }),
  })
  let arrived = 0
  let open = 0
  const isEmpty = () => open === 0
  made.app.server
    .on('request', () => (arrived += 1))
    .on('connection', (socket) => {
      open += 1
      // Node no longer counts a connection that is about to close, but still answers it.
      socket.once('close', () => (open -= 1))
    })
  const port = await listenOn(made)

  /** Sends requests, and leaves as soon as the application has all of them. */
  async function leave(target: string, count: number, request?: Request): Promise<void> {
    const before = arrived
    for (let n = 0; n < count; n += 1) {
      const wire = await openWire(port)
      wire.send(requestTo(target, { key: made.key, ...request }))
      await until(() => arrived === before + n + 1)
      wire.socket.destroy()
    }
    await until(isEmpty)
    held.resolve(undefined)
  }
  return { ...made, port, leave, reading: reading.promise, isEmpty, held }
}

test('clients that leave while a file is prepared do not count as its readers (E11)', async (t) => {
  const { port, leave } = await listen(t)
  await leave('/', 4)
  await until(async () => (await askPort(port, '/')).status === 200)
  assert.equal((await askPort(port, '/docs')).status, 200)
})

for (const coding of ['identity', 'gzip']) {
  const what = `clients that leave before their stream in ${coding} begins do not keep its place (E11)`
  test(what, async (t) => {
    const { ask, logged, leave } = await listen(t)
    const all = `${path}?format=csv&limit=all`
    await leave(all, streamsMax, { fields: [`Accept-Encoding: ${coding}`] })
    await until(async () => (await ask(all)).status === 200)
    const faults = logged().filter(({ level }) => level === 50)
    assert.deepEqual(faults, [])
  })
}

test('a client that leaves before its answer is logged with 499', async (t) => {
  const { logged, leave } = await listen(t)
  await leave(path, 1)
  await until(() => logged().length > 0)
  const lines = logged().map(({ status, bytes, key }) => ({ status, bytes, key }))
  assert.deepEqual(lines, [{ status: 499, bytes: 0, key: 'test' }])
})

test('the failure of a request that a stop has cut off is not logged as a fault', async (t) => {
  const { app, key, port, logged, reading, isEmpty, held } = await listen(t)
  const wire = await openWire(port)
  wire.send(requestTo(path, { key }))
  await reading
  app.stopAnswering()
  wire.socket.destroy()
  await until(isEmpty)
  held.reject(new Error('statement has been finalized'))
  await until(() => logged().length > 0)
  await sleep(50)
  const told = logged().map(({ level, status }) => ({ level, status }))
  assert.deepEqual(told, [{ level: 30, status: 499 }])
})

test('nothing is read for a client that has left while it waited for changes', async (t) => {
  const { ask, store, callsOf, leave } = await listen(t)
  const key = await store.issueKey({ name: 'follower', scopes: ['changes', 'rights'] })
  const { until: last } = JSON.parse((await ask('/api/v1/changes?after=0', { key })).text) as {
    until: string
  }
  await leave(`/api/v1/changes?after=${last}&wait=60`, 1, { key })
  await sleep(300)
  const before = callsOf('readRegistry', 'readChanges')
  await sleep(500)
  assert.equal(callsOf('readRegistry', 'readChanges'), before)
})

test('a client that closes its sending side after its requests gets their answers (D23)', async (t) => {
  const { port, key, held } = await listen(t, 60_000)
  const answered = ['/healthz', '/', '/openapi.json', path].map(async (target) => {
    const wire = await openWire(port)
    const request = requestTo(target, { key, isLast: false })
    wire.socket.end(request.repeat(3))
    return answersIn(await wire.closed()).map(({ status }) => status)
  })
  setTimeout(() => held.resolve(undefined), 300)
  for (const statuses of await Promise.all(answered)) assert.deepEqual(statuses, [200, 200, 200])
})
