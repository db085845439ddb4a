// Stopping the real executable, and its log.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { rights } from '../../src/resources/rights.ts'
import { startLoad } from '../support/load-client.ts'
import { expectedBody, failureText, pathOf } from '../support/make-app.ts'
import { makeRecords } from '../support/make-record.ts'
import {
  answerIn,
  answersIn,
  exchange,
  openWire,
  runBriefly,
  runServer,
} from '../support/run-server.ts'
import { aboveStores } from '../support/store-at.ts'
import { makeRightsStore } from '../support/rights-store.ts'

const above = { skip: aboveStores }
const { store, key, all, path } = await makeRightsStore({ after })

const body = '{"page":2,"limit":5}'
const secondPage = expectedBody({ resource: rights, all, page: 2, limit: 5 })
const fields = `Host: x\r\nAuthorization: Bearer ${key}\r\n`
const closing = `GET ${path} HTTP/1.1\r\n${fields}Connection: close\r\n\r\n`
const plain = `GET ${path} HTTP/1.1\r\n${fields}\r\n`
/** A request that is incomplete until its body arrives. */
const open =
  `GET ${path} HTTP/1.1\r\n${fields}` +
  `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`

/** Sends the beginning of a request, which has arrived once a witness has an answer. */
async function beginRequest(port: number) {
  const wire = await openWire(port)
  wire.send(open + body.slice(0, 5))
  const witness = await openWire(port)
  witness.send(plain)
  await witness.until(/pagination_offset/)
  return { wire, witness }
}

// Less than --stop-seconds (10), the time of a stop that waits for a client, and long enough for a
// busy machine.
const promptMs = 8_000

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`${signal} ends an idle server with open connections at once, with exit code 0`, async (t) => {
    const server = await runServer(t, store.db)
    const wire = await openWire(server.port)
    wire.send(plain)
    await wire.until(/pagination_offset/)
    server.stop(signal)
    await wire.closed()
    const { code, ms, lines } = await server.ended()
    assert.equal(code, 0)
    assert.ok(ms < promptMs, `${ms} ms`)
    assert.equal(lines.at(-1)?.['msg'], 'stopped')
  })
}

test('SIGTERM under load: no request fails, and every client gets Connection: close (I1)', async (t) => {
  const server = await runServer(t, store.db)
  const expected = expectedBody({ resource: rights, all })
  const task = { port: server.port, path, key, body: expected }
  // Idle connections are open at the same time.
  const idle = await Promise.all(Array.from({ length: 10 }, () => openWire(server.port)))
  const load = startLoad({ ...task, clients: 20, endsWhenClosed: true })
  while (load.answered() < 500) await sleep(5)
  server.stop()
  await load.ended()
  assert.deepEqual(load.failures, [])
  assert.equal(load.closings(), 20)
  for (const wire of idle) assert.equal(await wire.closed(), '')
  const { code, ms } = await server.ended()
  assert.equal(code, 0)
  assert.ok(ms < promptMs, `${ms} ms`)
})

test(
  'after SIGTERM the server is alive but not ready, and still answers for 400 ms (I1)',
  above,
  async (t) => {
    const server = await runServer(t, store.db)
    const ask = async (target: string, extra = '') =>
      answerIn(await exchange(server.port, `GET ${target} HTTP/1.1\r\nHost: x\r\n${extra}\r\n`))
    server.stop()
    const stoppedAt = performance.now()
    const close = 'Connection: close\r\n'
    const isOver = () => performance.now() - stoppedAt >= 400
    // Readiness ends first, and health checks see that until the server stops.
    while ((await ask('/readyz', close)).status === 200);
    // No request asked for it: the server closes.
    for (;;) {
      const targets = ['/healthz', '/readyz', path]
      const fields = `Authorization: Bearer ${key}\r\n`
      const answers = []
      try {
        for (const target of targets) answers.push(await ask(target, fields))
      } catch (error) {
        // This process may be late too.
        if (isOver()) break
        throw error
      }
      assert.deepEqual(
        answers.map(({ status, headers }) => [status, headers['connection']]),
        [
          [200, 'close'],
          [503, 'close'],
          [200, 'close'],
        ],
      )
      if (isOver()) break
    }
    const { code, ms } = await server.ended()
    assert.equal(code, 0)
    assert.ok(ms >= 400 && ms < promptMs, `${ms} ms`)
  },
)

test('SIGTERM before readiness or during an import ends the process and damages nothing (I3)', async (t) => {
  for (const afterMs of [0, 60, 120, 180, 240, 300]) {
    const { code, signal, printed } = await runBriefly(t, store.db, afterMs)
    // Before our code runs, the signal itself ends the process.
    assert.ok(code === 0 || signal === 'SIGTERM', `${afterMs} ms: ${String(code)} ${printed}`)
    if (signal === null) assert.match(printed, /"msg":"stopped"\}\n$/)
    assert.doesNotMatch(printed, /Error/)
  }
  const server = await runServer(t, store.db)
  const load = startLoad({
    ...{ port: server.port, path, key, clients: 4, endsWhenClosed: true },
    body: expectedBody({ resource: rights, all }),
  })
  const importing = store.load(
    [{ resource: rights, company: 2, records: makeRecords(rights, 5_000, 100) }],
    {},
  )
  server.stop()
  await Promise.all([load.ended(), importing])
  assert.deepEqual(load.failures, [])
  assert.equal((await server.ended()).code, 0)
})

test('SIGTERM during requests: they complete, then the server exits with 0', above, async (t) => {
  const server = await runServer(t, store.db)
  const wires = await Promise.all(Array.from({ length: 10 }, () => openWire(server.port)))
  for (const wire of wires) wire.send(open + body.slice(0, 5))
  // All have arrived once a later one has been answered.
  const witness = await openWire(server.port)
  witness.send(plain)
  await witness.until(/pagination_offset/)
  server.stop()
  await witness.closed()
  for (const wire of wires) wire.send(body.slice(5))
  for (const wire of wires) {
    const answer = answerIn(await wire.closed())
    assert.equal(answer.status, 200)
    assert.equal(answer.body, secondPage)
  }
  const { code } = await server.ended()
  assert.equal(code, 0)
})

test(
  'a request on an open connection after SIGTERM gets a 503 and is closed (4)',
  above,
  async (t) => {
    const server = await runServer(t, store.db)
    const { wire, witness } = await beginRequest(server.port)
    server.stop()
    await witness.closed()
    wire.send(body.slice(5) + plain)
    const [first, second] = answersIn(await wire.closed())
    assert.equal(first?.body, secondPage)
    // The first answer may already have closed the connection; a second one must be a 503.
    if (second !== undefined) {
      assert.equal(second.status, 503)
      assert.equal(second.body, failureText(503, 'Service Unavailable'))
      assert.match(second.headers['retry-after'] ?? '', /^[1-9]\d*$/)
      assert.equal(second.headers['connection'], 'close')
    }
    assert.equal((await server.ended()).code, 0)
  },
)

test('an unfinished request delays a stop by --stop-seconds at most', above, async (t) => {
  const server = await runServer(t, store.db, ['--stop-seconds', '1'])
  await beginRequest(server.port)
  server.stop()
  const { code, ms } = await server.ended()
  assert.equal(code, 0)
  assert.ok(ms >= 900 && ms < promptMs, `${ms} ms`)
})

test('a second signal ends it at once', above, async (t) => {
  const server = await runServer(t, store.db)
  const wire = await openWire(server.port)
  wire.send(open)
  const witness = await openWire(server.port)
  witness.send(plain)
  await witness.until(/pagination_offset/)
  server.stop()
  await witness.closed()
  server.stop()
  const { code, ms } = await server.ended()
  assert.equal(code, 143)
  assert.ok(ms < promptMs, `${ms} ms`)
})

test('the log has one line of JSON for each request, with its id and no key', above, async (t) => {
  const server = await runServer(t, store.db)
  const close = 'Connection: close\r\n\r\n'
  const secret = await store.issueKey({ name: 'canary' })
  const asked: readonly (readonly [status: number, target: string, extra: string])[] = [
    [200, path, `Authorization: Bearer ${secret}\r\n`],
    [403, path, ''],
    [403, path, `Authorization: Basic ${secret}\r\n`],
    [403, path, `Authorization: Bearer ${secret}x\r\n`],
    [403, `${path}?key=${secret}`, ''],
    [403, `/api/${secret}`, ''],
    [404, `/${secret}`, ''],
    [400, `${path}?${secret}=1`, `Authorization: Bearer ${secret}\r\n`],
    [400, `${path}?page=${secret}`, `Authorization: Bearer ${secret}\r\n`],
    [400, pathOf(rights, secret), `Authorization: Bearer ${secret}\r\n`],
    [400, pathOf(rights, `%zz${secret}`), `Authorization: Bearer ${secret}\r\n`],
    [200, '/healthz', `User-Agent: ${secret}\r\nReferer: ${secret}\r\nCookie: ${secret}\r\n`],
    [404, '/%1b[31m%0d%0a%e2%80%a8"\\', ''],
  ]
  for (const [index, [status, target, extra]] of asked.entries()) {
    const head = `GET ${target} HTTP/1.1\r\nHost: x\r\nX-Request-Id: r${index}\r\n`
    const answer = answerIn(await exchange(server.port, head + extra + close))
    assert.equal(answer.status, status, target)
    assert.equal(answer.headers['x-request-id'], `r${index}`)
  }
  const asId = `GET /healthz HTTP/1.1\r\nHost: x\r\nX-Request-Id: ${secret}\r\n${close}`
  await exchange(server.port, asId)
  await exchange(server.port, `${secret}\r\n\r\n`)
  await exchange(
    server.port,
    `GET /healthz HTTP/1.1\r\nHost: x\r\nX: ${secret.repeat(400)}\r\n\r\n`,
  )
  server.stop()
  const { code, lines } = await server.ended()
  assert.equal(code, 0)

  assert.ok(!server.printed().includes(secret.slice(8, 40)), 'no key, nor most of one')
  for (const [index, [status]] of asked.entries()) {
    const ofRequest = lines.filter((line) => line['request_id'] === `r${index}`)
    assert.equal(ofRequest.length, 1, `request ${index}`)
    assert.equal(ofRequest[0]?.['status'], status)
    assert.equal(ofRequest[0]['method'], 'GET')
    assert.equal(typeof ofRequest[0]['ms'], 'number')
  }
  const broken = lines.filter(({ msg }) => msg === 'broken request')
  assert.deepEqual(
    broken.map((line) => line['status']),
    [400, 431],
  )
  const requests = lines.filter((line) => 'request_id' in line)
  assert.equal(requests.length, asked.length + 3)
})

test('a key revoked by another process is refused within a second (2.2)', async (t) => {
  const server = await runServer(t, store.db)
  const leaving = await store.issueKey({ name: 'leaving' })
  const request =
    `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${leaving}\r\n` +
    'Connection: close\r\n\r\n'
  assert.equal(answerIn(await exchange(server.port, request)).status, 200)
  await store.revokeKey('leaving')
  const start = performance.now()
  for (let isLetIn = true; isLetIn;) {
    const sentMs = performance.now() - start
    isLetIn = answerIn(await exchange(server.port, request)).status === 200
    assert.ok(!isLetIn || sentMs < 1_000, 'it is refused within a second')
  }
  server.stop()
  assert.equal((await server.ended()).code, 0)
})

test('SIGUSR1 neither opens a debugger nor ends a server or its workers', above, async (t) => {
  const server = await runServer(t, store.db, ['--workers', '2'])
  const workers = [...server.printed().matchAll(/"worker":(\d+),/g)].map(([, pid]) => Number(pid))
  assert.equal(workers.length, 2)
  for (const pid of [server.pid, ...workers]) process.kill(pid, 'SIGUSR1')
  for (let count = 0; count < 10; count += 1) {
    assert.equal(answerIn(await exchange(server.port, closing)).status, 200)
  }
  server.stop()
  assert.equal((await server.ended()).code, 0)
  assert.doesNotMatch(server.printed(), /debugger|a worker has died/i)
})
