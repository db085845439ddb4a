// Stopping the real executable, and its log.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { rights } from '../../src/resources/rights.ts'
import { writeRows } from '../support/import-rows.ts'
import { startLoad } from '../support/load-client.ts'
import { expectedBody } from '../support/make-app.ts'
import { makeRecords } from '../support/make-record.ts'
import {
  answerIn,
  askPort,
  exchange,
  openWire,
  requestTo,
  runServer,
} from '../support/run-server.ts'
import { runDossier, startDossier } from '../support/run-dossier.ts'
import { aboveStores } from '../support/store-at.ts'
import { makeRightsStore } from '../support/rights-store.ts'
import { until } from '../support/until.ts'

const above = { skip: aboveStores }
const { store, key, all, path, whole } = await makeRightsStore({ after })

const body = '{"page":2,"limit":5}'
const secondPage = expectedBody({ resource: rights, all, page: 2, limit: 5 })
const closing = requestTo(path, { key })
const plain = requestTo(path, { key, isLast: false })
/** A request that is incomplete until the rest of its body arrives. */
const open = requestTo(path, { key, json: body, isLast: false }).slice(0, 5 - body.length)

/** Opens a connection that has had an answer. */
async function openWitness(port: number) {
  const witness = await openWire(port)
  witness.send(plain)
  await witness.until(/pagination_offset/)
  return witness
}

/** Sends the beginnings of requests, which have arrived once a witness has an answer. */
async function beginRequests(port: number, count = 1) {
  const wires = await Promise.all(Array.from({ length: count }, () => openWire(port)))
  for (const wire of wires) wire.send(open)
  const [wire = assert.fail()] = wires
  return { wire, wires, witness: await openWitness(port) }
}

// A stop that waits for a client takes longer, even on a busy machine.
const patient = ['--stop-seconds', '100']
const promptMs = 90_000

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`${signal} ends an idle server with open connections at once, with exit code 0`, async (t) => {
    const server = await runServer(t, store.db, patient)
    const wire = await openWitness(server.port)
    const { ms, lines } = await server.end(signal)
    await wire.closed()
    assert.ok(ms < promptMs, `${ms} ms`)
    assert.equal(lines.at(-1)?.['msg'], 'stopped')
  })
}

test('SIGTERM under load: no request fails, and every client gets Connection: close (I1)', async (t) => {
  const server = await runServer(t, store.db, patient)
  // Idle connections are open at the same time.
  const idle = await Promise.all(Array.from({ length: 10 }, () => openWire(server.port)))
  const task = { port: server.port, path, key, body: whole }
  const load = startLoad({ ...task, clients: 20, endsWhenClosed: true })
  while (load.answered() < 500) await sleep(5)
  server.stop()
  await load.ended()
  assert.deepEqual(load.failures, [])
  assert.equal(load.closings(), 20)
  // A slow machine lets them rest too long, which is a 408.
  for (const wire of idle) assert.match(await wire.closed(), /^$|^HTTP\/1\.1 408 /)
  const { ms } = await server.ended(0)
  assert.ok(ms < promptMs, `${ms} ms`)
})

test('after SIGTERM the server is not ready, and answers for 400 ms (I1)', above, async (t) => {
  const server = await runServer(t, store.db, patient)
  server.stop()
  const stoppedAt = performance.now()
  const isOver = () => performance.now() - stoppedAt >= 400
  // Readiness ends first, and health checks see that until the server stops.
  while ((await askPort(server.port, '/readyz')).status === 200);
  // No request asked for it: the server closes.
  for (;;) {
    const answers = []
    try {
      for (const target of ['/healthz', '/readyz', path]) {
        answers.push(await askPort(server.port, target, { key, isLast: false }))
      }
    } catch (error) {
      // This process may be late too.
      if (isOver()) break
      throw error
    }
    const told = answers.map(({ status, headers }) => [status, headers['connection']])
    assert.deepEqual(told, [
      [200, 'close'],
      [503, 'close'],
      [200, 'close'],
    ])
    if (isOver()) break
  }
  const { ms } = await server.ended(0)
  assert.ok(ms >= 400 && ms < promptMs, `${ms} ms`)
})

test('SIGTERM before readiness or during an import ends the process and damages nothing (I3)', async (t) => {
  for (const afterMs of [0, 120, 240]) {
    const args = ['serve', '--db', store.db, '--port', '0', '--log-format', 'json']
    const { child, ended } = startDossier(t, store.folder, args)
    await sleep(afterMs)
    child.kill()
    const { code, out, err } = await ended
    // Before our code runs, the signal itself ends the process.
    const told = `${afterMs} ms: ${String(code)} ${out}${err}`
    assert.ok(code === 0 || child.signalCode === 'SIGTERM', told)
    if (child.signalCode === null) assert.match(out, /"msg":"stopped"\}\n$/)
    assert.doesNotMatch(out + err, /Error/)
  }
  const server = await runServer(t, store.db)
  const load = startLoad({
    port: server.port,
    path,
    key,
    clients: 4,
    endsWhenClosed: true,
    body: whole,
  })
  const rows = makeRecords(rights, 5_000, 100).map((record) => ({ company_id: 2, ...record }))
  const file = writeRows(join(store.folder, 'more.ndjson'), rows)
  // Not in this process, whose clients have to go on: they must not find the server gone.
  const importing = runDossier(store.folder, `import rights ${file} --db ${store.db}`)
  await until(() => load.answered() > 0)
  server.stop()
  const [{ code, err }] = await Promise.all([importing, load.ended()])
  // On a busy machine, its low priority may cost an import its connection.
  assert.ok(code === 0 || /no connection/.test(err), err)
  assert.deepEqual(load.failures, [])
  await server.ended(0)
})

test('SIGTERM during requests: they complete, then the server exits with 0', above, async (t) => {
  const server = await runServer(t, store.db)
  const { wires, witness } = await beginRequests(server.port, 10)
  server.stop()
  await witness.closed()
  for (const wire of wires) wire.send(body.slice(5))
  for (const wire of wires) {
    const answer = answerIn(await wire.closed())
    assert.equal(answer.status, 200)
    assert.equal(answer.body, secondPage)
  }
  await server.ended(0)
})

test('an unfinished request delays a stop by --stop-seconds at most', above, async (t) => {
  const server = await runServer(t, store.db, ['--stop-seconds', '1'])
  await beginRequests(server.port)
  const { ms } = await server.end()
  assert.ok(ms >= 900 && ms < 9_000, `${ms} ms`)
})

test('a second signal ends it at once', above, async (t) => {
  const server = await runServer(t, store.db, patient)
  const { witness } = await beginRequests(server.port)
  server.stop()
  await witness.closed()
  server.stop()
  const { ms } = await server.ended(143)
  assert.ok(ms < promptMs, `${ms} ms`)
})

test('SIGUSR1 neither opens a debugger nor ends a server or its workers', above, async (t) => {
  const server = await runServer(t, store.db, ['--workers', '2'])
  const workers = [...server.printed().matchAll(/"worker":(\d+),/g)].map(([, pid]) => Number(pid))
  assert.equal(workers.length, 2)
  for (const pid of [server.pid, ...workers]) process.kill(pid, 'SIGUSR1')
  for (let count = 0; count < 10; count += 1) {
    assert.equal(answerIn(await exchange(server.port, closing)).status, 200)
  }
  await server.end()
  assert.doesNotMatch(server.printed(), /debugger|a worker has died/i)
})
