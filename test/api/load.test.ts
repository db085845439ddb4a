// E4 and E12: overload is refused at once, and service resumes when it ends.

import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { WireLimits } from '../../src/http/wire/server.ts'
import type { LoadLimits } from '../../src/http/wire/load.ts'
import { checkFailure, listenOn, makeApp } from '../support/make-app.ts'
import { makeRights } from '../support/rights-store.ts'
import {
  answerIn,
  askPort,
  checkRawFailure,
  exchange,
  openWire,
  requestTo,
} from '../support/run-server.ts'
import { until } from '../support/until.ts'

const { records, path, whole } = makeRights(3)

/** A listening application whose store answers only when the gate is open. */
async function listen(t: TestContext, limits: Partial<LoadLimits & WireLimits>) {
  const { promise: gate, resolve: open } = Promise.withResolvers<undefined>()
  const made = await makeApp(t, {
    records,
    limits,
    cacheBytesMax: 0,
    wrapStore: (store) => ({
      ...store,
      readPage: (...range) => gate.then(() => store.readPage(...range)),
    }),
  })
  const port = await listenOn(made)
  const get = (url: string) => requestTo(url, { key: made.key })
  const askOver = (url = path) => askPort(port, url, { key: made.key })
  return { ...made, port, get, askOver, open: () => open(undefined) }
}

/** How many refusals for a reason are in a log. */
function refusedOf(lines: readonly Readonly<Record<string, unknown>>[], reason: string): number {
  const counts = lines.map(
    ({ refused }) => (refused as Record<string, number> | undefined)?.[reason],
  )
  return counts.reduce<number>((sum, count = 0) => sum + count, 0)
}

/** Waits until a request gets a status. */
async function untilStatus(ask: () => Promise<number>, status: number): Promise<void> {
  await until(async () => (await ask()) === status, `it is ${status}`)
}

test('a request over the limit of concurrent requests gets 503 with Retry-After (E12)', async (t) => {
  const { port, get, askOver, open, logged } = await listen(t, { requestsMax: 3 })
  const wires = await Promise.all(Array.from({ length: 3 }, () => openWire(port)))
  for (const wire of wires) wire.send(get(path))
  await untilStatus(async () => (await askOver(`${path}?limit=0`)).status, 503)
  for (let turn = 0; turn < 20; turn += 1) {
    const answer = await askOver()
    checkRawFailure(answer, 503, 'Service Unavailable')
    assert.match(answer.headers['retry-after'] ?? '', /^[1-9]\d*$/)
  }
  for (const url of ['/healthz', '/readyz']) {
    assert.equal((await askOver(url)).status, 200, 'the checks are answered')
  }
  open()
  for (const wire of wires) assert.equal(answerIn(await wire.closed()).body, whole)
  assert.equal((await askOver()).body, whole)
  const warnings = logged().filter(({ level }) => Number(level) > 30)
  const told = new Set(warnings.map(({ level, msg }) => `${String(level)} ${String(msg)}`))
  assert.deepEqual(told, new Set(['40 overloaded']))
  assert.ok(warnings.length < 10, 'one line a second')
  await until(() => refusedOf(logged(), 'requests') >= 20, 'all of them are counted')
})

test('a client that leaves frees its place (E12)', async (t) => {
  const { port, get, askOver, open } = await listen(t, { requestsMax: 2 })
  const status = async () => (await askOver(`${path}?limit=0`)).status
  for (let turn = 0; turn < 3; turn += 1) {
    const wires = await Promise.all([openWire(port), openWire(port)])
    for (const wire of wires) wire.send(get(path))
    await untilStatus(status, 503)
    for (const wire of wires) wire.socket.destroy()
    await untilStatus(status, 400)
  }
  open()
  assert.equal((await askOver()).body, whole)
})

test('requests are refused only while the event loop is late (E12)', async (t) => {
  const { ask } = await makeApp(t, { records, limits: { delayMsMax: 50 } })
  await untilStatus(async () => (await ask(path)).status, 200)
  const block = async () => {
    const end = performance.now() + 300
    while (performance.now() < end);
    await sleep(1)
  }
  await block()
  assert.equal((await ask(path)).text, whole)
  for (let turn = 0; turn < 5; turn += 1) await block()
  const late = await ask(path)
  checkFailure(late, 503, 'Service Unavailable')
  assert.ok(late.headers['retry-after'])
  assert.equal((await ask('/healthz')).status, 200)
  await untilStatus(async () => (await ask(path)).status, 200)
})

test('a connection over the limit is closed at once; the next one is served when there is room (E4)', async (t) => {
  const { port, get, open, logged } = await listen(t, { connectionsMax: 2 })
  open()
  const [first] = await Promise.all([openWire(port), openWire(port)])
  assert.equal(await exchange(port, get(path)), '')
  first.socket.destroy()
  await until(async () => (await exchange(port, get(path))) !== '')
  assert.ok(refusedOf(logged(), 'connections') >= 1)
})
