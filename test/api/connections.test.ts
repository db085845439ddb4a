// The cost of one connection: requests sent without reading answers, and all time limits. The
// limits are those of the server, reduced if a test would have to wait.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { after, test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { resources } from '../../src/resources/index.ts'
import { rights } from '../../src/resources/rights.ts'
import { openStoreReader } from '../../src/store/open-store.ts'
import type { StoreReader } from '../../src/store/serving/store-reader.ts'
import { type WireLimits, wireLimits } from '../../src/http/wire/server.ts'
import { listenOn, makeApp } from '../support/make-app.ts'
import { makeRecords } from '../support/make-record.ts'
import {
  answerIn,
  answersIn,
  askPort,
  bodiesOf,
  checkRawFailure,
  exchange,
  openWire,
  requestTo,
  runServer,
} from '../support/run-server.ts'
import { makeRights, makeRightsStore } from '../support/rights-store.ts'
import { aboveStores, patientBounds, storeKind } from '../support/store-at.ts'
import { residentMib } from '../support/run-dossier.ts'
import { makeTempStore } from '../support/temp-store.ts'
import { until } from '../support/until.ts'

const above = { skip: aboveStores }
const { records, path, whole } = makeRights(12)

/** Reads a listing of 15 MB: more than the system buffers for a client that does not read. */
async function openLong(): Promise<StoreReader> {
  const store = await makeTempStore({ after }, resources)
  const name = 'x'.repeat(15_000)
  const long = makeRecords(rights, 1_000).map((record) => ({ ...record, name }))
  await store.load([{ resource: rights, company: 1, records: long }])
  return openStoreReader(store.db, patientBounds)
}

const long = storeKind === 'sqlite' ? await openLong() : undefined
after(() => long?.close())

/** A listening application with these limits, over another store or with slow key look-ups. */
async function listen(
  t: TestContext,
  limits: Partial<WireLimits>,
  { pages, isKeyFound }: { pages?: StoreReader | undefined; isKeyFound?: Promise<unknown> } = {},
) {
  const made = await makeApp(t, {
    records,
    limits: { checkMs: 50, ...limits },
    wrapStore: (store) => ({
      ...(pages ?? store),
      close: () => store.close(),
      async findKey(hash) {
        await isKeyFound
        return store.findKey(hash)
      },
    }),
  })
  const port = await listenOn(made)
  const { app, key, callsOf, logged } = made
  const request = (query = '', fields: readonly string[] = []) =>
    requestTo(path + query, { key, fields, isLast: false })
  const last = requestTo(path, { key })
  /** The number of connections of the server. */
  const open = promisify(app.server.getConnections.bind(app.server))
  return { app, port, key, request, last, open, logged, pagesRead: () => callsOf('readPage') }
}

/** Opens a connection of which nothing is read yet. */
async function openUnread(port: number): Promise<Socket> {
  const { socket } = await openWire(port)
  return socket.pause()
}

test('a connection may have eight requests waiting for answers (D23)', above, async (t) => {
  const { port, request, last } = await listen(t, {})
  assert.equal(wireLimits.unansweredMax, 8)
  const answers = answersIn(await exchange(port, request().repeat(7) + last))
  assert.deepEqual(bodiesOf(answers), new Array<string>(8).fill(whole))
})

test('the client guide has the limit of unanswered requests (D23)', above, () => {
  const guide = readFileSync(new URL('../../docs/client.md', import.meta.url), 'utf8')
  const told = /more than (\d+) unanswered requests is closed/.exec(guide)?.[1]
  assert.equal(Number(told), wireLimits.unansweredMax)
})

test('only a client that sends a ninth without reading is disconnected (D23)', above, async (t) => {
  const { port, request, last, open } = await listen(t, {})
  const witness = await openWire(port)
  witness.send(request())
  await witness.until(/pagination_offset/)
  // The first answer is on its way before the ninth request is seen.
  assert.ok(answersIn(await exchange(port, request().repeat(9))).length <= 1)
  assert.equal(await open(), 1)
  witness.send(last)
  assert.equal(answersIn(await witness.closed()).length, 2)
})

test('no page is read for a client that left during the key look-up (D23)', async (t) => {
  const held = Promise.withResolvers<undefined>()
  const { port, request, last, open, pagesRead } = await listen(
    t,
    { halfClosedMs: 20 },
    { isKeyFound: held.promise },
  )
  assert.equal(await exchange(port, request().repeat(9)), '')
  const socket = connect(port, '127.0.0.1', () => socket.end(request(), () => socket.destroy()))
  await once(socket, 'close')
  await until(async () => (await open()) === 0)
  held.resolve(undefined)
  // Whatever waited for the key has gone on by then.
  assert.equal(answerIn(await exchange(port, requestTo('/healthz'))).status, 200)
  assert.equal(pagesRead(), 0)
  assert.equal(answerIn(await exchange(port, last)).body, whole)
  assert.equal(pagesRead(), 1)
})

test('a client that reads may send any number of requests (D23)', above, async (t) => {
  const { port, request } = await listen(t, {})
  const wire = await openWire(port)
  for (let turn = 0; turn < 10; turn += 1) {
    wire.send(request().repeat(7) + request('', [`X-Request-Id: turn-${turn}`]))
    await wire.until(new RegExp(`x-request-id: turn-${turn}`))
  }
  wire.socket.end()
  assert.equal(answersIn(await wire.closed()).length, 80)
})

const noProc = existsSync('/proc/self/status') ? false : 'there is no /proc'
const onProc = { skip: noProc }
const aboveOnProc = { skip: noProc || aboveStores }

test('50 clients of 200 pages that never read take little memory (E3)', onProc, async (t) => {
  const { store, key } = await makeRightsStore(t, 1_000)
  const { port, pid } = await runServer(t, store.db, ['--cache-mib', '0'])
  assert.equal((await askPort(port, '/healthz')).status, 200)
  const before = residentMib(pid)
  const request = requestTo(`${path}?limit=1000`, { key, isLast: false })
  const sockets = await Promise.all(Array.from({ length: 50 }, () => openUnread(port)))
  for (const socket of sockets) socket.write(request.repeat(200))
  t.after(() => sockets.forEach((socket) => socket.destroy()))
  let peak = 0
  for (let turn = 0; turn < 10; turn += 1) {
    assert.equal((await askPort(port, '/healthz')).status, 200)
    peak = Math.max(peak, residentMib(pid))
    await sleep(20)
  }
  t.diagnostic(`resident: ${before.toFixed(0)} MiB, then at most ${peak.toFixed(0)} MiB`)
  const mostMib = 100_000_000 / 2 ** 20
  assert.ok(peak - before < mostMib, `${before} MiB, then ${peak} MiB`)
})

test('an answer is built only after the previous one is sent (E3)', above, async (t) => {
  const { port, request, pagesRead } = await listen(t, { unansweredMax: 3 }, { pages: long })
  const socket = await openUnread(port)
  socket.write(request('?limit=1000') + request('?limit=999') + request('?limit=998'))
  await until(() => pagesRead() > 0)
  await sleep(200)
  assert.equal(pagesRead(), 1)
  socket.resume()
  await until(() => pagesRead() === 3)
  socket.destroy()
})

test('a client that does not read its answer is disconnected (E3)', above, async (t) => {
  assert.equal(wireLimits.standstillMs, 15_000)
  const { port, request, open } = await listen(t, { standstillMs: 300 }, { pages: long })
  const socket = await openUnread(port)
  const askedAt = performance.now()
  socket.write(request('?limit=1000'))
  await until(async () => (await open()) === 1)
  await until(async () => (await open()) === 0)
  const ms = performance.now() - askedAt
  assert.ok(ms > 300, `${ms} ms: not before its time`)
  socket.destroy()
})

test('a client that reads slowly gets its answer (E3)', above, async (t) => {
  const standstillMs = 2_000
  const { port, request } = await listen(t, { standstillMs }, { pages: long })
  const startedAt = performance.now()
  const socket = await openUnread(port)
  socket.write(request('?limit=700', ['Connection: close']))
  let bytes = 0
  socket.on('data', (chunk) => {
    bytes += chunk.length
    socket.pause()
    setTimeout(() => socket.resume(), 20)
  })
  socket.resume()
  await once(socket, 'close')
  assert.ok(bytes > 10_000_000, `${bytes} bytes`)
  assert.ok(performance.now() - startedAt > standstillMs, 'it took longer than a client may rest')
})

test('a stream may pause longer, and is reset if it is cut off (E3)', above, async (t) => {
  // A stream may pause four times as long as others: time enough on a busy machine.
  const standstillMs = 500
  const { port, key, open } = await listen(t, { standstillMs }, { pages: long })
  const stream = async () => {
    const wire = await openWire(port)
    wire.socket.pause()
    // Without chunks, only a reset tells that something is missing.
    wire.send(`GET ${path}?format=csv&limit=all HTTP/1.0\r\nAuthorization: Bearer ${key}\r\n\r\n`)
    return wire
  }
  const [patient, late] = [await stream(), await stream()]
  const errors: Error[] = []
  late.socket.on('error', (error) => errors.push(error))
  await sleep(standstillMs + 100)
  patient.socket.resume()
  assert.ok((await patient.closed()).length > 15_000_000)
  await until(async () => (await open()) === 0)
  late.socket.resume()
  assert.ok((await late.closed()).length < 15_000_000)
  assert.match(String(errors), /ECONNRESET/)
})

test('an answer whose client leaves before its end is logged as aborted', above, async (t) => {
  const { port, request, last, logged } = await listen(t, {}, { pages: long })
  for (const query of ['?limit=1000', '?format=csv&limit=all']) {
    const { socket } = await openWire(port)
    socket.write(request(query))
    await once(socket, 'data')
    socket.destroy()
  }
  await exchange(port, last)
  await until(() => logged().length === 3)
  const lines = logged().map(({ status, aborted }) => ({ status, aborted }))
  const cut = { status: 200, aborted: true }
  assert.deepEqual(lines, [cut, cut, { status: 200, aborted: undefined }])
})

test('a head that arrives too slowly is a 408 (E1)', above, async (t) => {
  assert.equal(wireLimits.headMs, 10_000)
  assert.equal(wireLimits.checkMs, 1_000)
  const { port, last } = await listen(t, { headMs: 300 })
  const dripping = await Promise.all(Array.from({ length: 20 }, () => openWire(port)))
  const timers = dripping.map((wire) => setInterval(() => wire.send('X'), 30))
  for (const wire of dripping) wire.send('GET /healthz HTTP/1.1\r\nHost: x\r\n')
  assert.equal(answerIn(await exchange(port, last)).body, whole)
  for (const wire of dripping) checkRawFailure(answerIn(await wire.closed()), 408)
  for (const timer of timers) clearInterval(timer)
})

const body = ['Content-Type: application/json', 'Content-Length: 100', 'X-Request-Id: own']

for (const [what, limits, sent, dripped] of [
  ['a body that arrives too slowly is a 408 (B12)', { headMs: 200, requestMs: 400 }, body, ' '],
  ['a stalled body is a 408 after the idle limit (B12)', { standstillMs: 300 }, body, ''],
  ['a client that sends nothing gets a 408 and is disconnected (E2)', { headMs: 200 }, [], ''],
] as const) {
  test(what, above, async (t) => {
    assert.equal(wireLimits.requestMs, 30_000)
    const { port, request, open } = await listen(t, limits)
    const wire = await openWire(port)
    if (sent.length > 0) wire.send(`${request('', sent)}{"page":1 `)
    const timer = setInterval(() => wire.send(dripped), 30)
    const answer = answerIn(await wire.closed())
    clearInterval(timer)
    checkRawFailure(answer, 408, 'Request Timeout')
    assert.equal(answer.headers['x-request-id'] === 'own', sent.length > 0)
    // The client may see the end of a connection before the server does.
    await until(async () => (await open()) === 0)
  })
}

test('a 408 comes after the answers to the requests before it (B12)', above, async (t) => {
  const { port, request } = await listen(t, { headMs: 200, requestMs: 400 })
  const [first, second] = answersIn(await exchange(port, `${request()}GET /heal`))
  assert.equal(first?.body, whole)
  assert.ok(second)
  checkRawFailure(second, 408)
})

test('an idle connection is closed at its time limit, not before (E2)', above, async (t) => {
  assert.equal(wireLimits.restMs, 65_000)
  // Node adds a second, so that no request reaches a closed connection.
  const { port, request } = await listen(t, { restMs: 100, standstillMs: 500, headMs: 500 })
  const wire = await openWire(port)
  const start = performance.now()
  wire.send(request())
  await wire.until(/pagination_offset/)
  assert.equal(answerIn(await wire.closed()).body, whole)
  const ms = performance.now() - start
  assert.ok(ms > 1_000, `${ms} ms`)
})

test('a refused client that does not hang up is disconnected (E2)', above, async (t) => {
  const { app, port, open } = await listen(t, { standstillMs: 200 })
  const served = once(app.server, 'connection') as Promise<[Socket]>
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  socket.on('error', () => undefined)
  socket.resume()
  socket.write('nonsense\r\n\r\n')
  await served
  await until(async () => (await open()) === 0)
  socket.destroy()
})

/** A running server, and a good request to it. */
async function serve(t: TestContext, limits: { readonly openFilesMax?: number } = {}) {
  const { store, key } = await makeRightsStore(t)
  const server = await runServer(t, store.db, [], limits)
  return { ...server, key, ask: () => askPort(server.port, path, { key }) }
}

/** The number of open files and sockets of a process. */
function openFiles(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length
}

test('the server survives more connections than it may open files (E5)', aboveOnProc, async (t) => {
  const limit = 48
  const { port, pid, ask } = await serve(t, { openFilesMax: limit })
  assert.equal((await ask()).body, whole)
  assert.ok(openFiles(pid) < limit)
  const sockets = Array.from({ length: 80 }, () => connect(port, '127.0.0.1'))
  for (const socket of sockets) socket.on('error', () => undefined)
  await sleep(300)
  assert.ok(openFiles(pid) < limit + 5, 'not all of them are there')
  for (const socket of sockets) socket.destroy()
  await until(async () => (await exchange(port, requestTo('/healthz'))) !== '')
  for (let turn = 0; turn < 5; turn += 1) assert.equal((await ask()).body, whole)
})

test('clients that leave in the middle of an answer leak nothing (E11)', onProc, async (t) => {
  const server = await serve(t)
  const { port, pid, key, ask } = server
  assert.equal((await ask()).body, whole)
  const before = openFiles(pid)
  for (let turn = 0; turn < 20; turn += 1) {
    const sockets = Array.from({ length: 50 }, () => connect(port, '127.0.0.1'))
    for (const socket of sockets) {
      socket.on('error', () => undefined)
      socket.write(requestTo(path, { key, isLast: false }).repeat(4), () => {
        setImmediate(() => socket.resetAndDestroy())
      })
    }
    await Promise.all(sockets.map((socket) => once(socket, 'close')))
  }
  // A server's pool (--pool, 10) stays open: it had one connection before.
  const pooled = storeKind === 'sqlite' ? 0 : 9
  await until(() => openFiles(pid) <= before + pooled)
  assert.equal((await ask()).body, whole)
  const levels = server.printed().match(/"level":[45]0/g) ?? []
  assert.deepEqual(levels, [], 'no fault of ours, so none in the log')
})
