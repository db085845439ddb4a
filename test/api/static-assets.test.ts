// The total cost of serving static files.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import type { Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type AssetLimits, assetLimits } from '../../src/http/static-assets.ts'
import type { LoadLimits } from '../../src/http/wire/load.ts'
import { listenOn, makeApp } from '../support/make-app.ts'
import { makeRights, makeRightsStore } from '../support/rights-store.ts'
import { askPort, checkRawFailure, openWire, requestTo, runServer } from '../support/run-server.ts'
import { residentMib } from '../support/run-dossier.ts'
import { until } from '../support/until.ts'

const bundle = '/docs/swagger-ui-bundle.js'
const { records, path, whole } = makeRights(12)

/** Milliseconds of processor time of all threads, including those that compress. */
async function allThreadsMs(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

test('a file is compressed once for all requests', async (t) => {
  const { ask: askNew } = await makeApp(t)
  const get = (method = 'GET') =>
    askNew(bundle, { authorization: null, method, headers: { 'accept-encoding': 'br' } })
  const first = await allThreadsMs(async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => get()))
    for (const { bytes } of answers) assert.deepEqual(bytes, answers[0]?.bytes)
  })
  const later = await allThreadsMs(async () => {
    for (let turn = 0; turn < 100; turn += 1) await get('HEAD')
    for (let turn = 0; turn < 10; turn += 1) await get()
  })
  t.diagnostic(
    `20 at once, the first ones: ${first.toFixed(0)} ms; 110 more: ${later.toFixed(0)} ms`,
  )
  assert.ok(later < 2 * first)
})

async function listen(t: TestContext, limits: Partial<AssetLimits & LoadLimits>) {
  const made = await makeApp(t, { records, limits })
  return { ...made, port: await listenOn(made) }
}

/** Requests more of the bundle than the system buffers, and does not read. */
async function stall(t: TestContext, port: number, count: number): Promise<Socket[]> {
  const wires = await Promise.all(Array.from({ length: count }, () => openWire(port)))
  t.after(() => wires.forEach(({ socket }) => socket.destroy()))
  for (const wire of wires) {
    wire.socket.pause()
    wire.send(requestTo(bundle, { isLast: false }).repeat(8))
  }
  return wires.map(({ socket }) => socket)
}

test('concurrent file answers are limited; one more is a 503', async (t) => {
  assert.deepEqual(assetLimits, { assetBytesMax: 67_108_864, assetMs: 60_000 })
  // Two bundles are more.
  const { port, key, logged } = await listen(t, { assetBytesMax: 2_500_000, requestsMax: 1 })
  const status = async () => (await askPort(port, bundle)).status
  const readers = await stall(t, port, 2)
  await until(async () => (await status()) === 503)
  const refused = await askPort(port, '/openapi.json')
  checkRawFailure(refused, 503, 'Service Unavailable')
  assert.equal(refused.headers['retry-after'], '5')
  assert.equal(refused.headers['etag'], undefined)
  for (let turn = 0; turn < 5; turn += 1) {
    assert.equal((await askPort(port, path, { key })).body, whole, 'they count as no requests')
  }
  const warnings = logged().filter(({ msg }) => msg === 'overloaded')
  const reasons = warnings.flatMap(({ refused }) => Object.keys(refused as object))
  assert.deepEqual(new Set(reasons), new Set(['assets']))
  readers[0]?.destroy()
  await until(async () => (await status()) === 200)
})

test('several people can open the explorer at once, as soon as the service has started', async (t) => {
  const { ask: askNew } = await makeApp(t)
  const get = (file: string) =>
    askNew(`/${file}`, { authorization: null, headers: { 'accept-encoding': 'gzip' } })
  const { text: page } = await askNew('/', { authorization: null })
  const addresses = page.matchAll(/(?:href|src)="(explorer\/[^"]+)"/g)
  const names = [...new Set(Array.from(addresses, ([, name]) => name ?? ''))]
  assert.ok(names.length > 5)
  // Proxies that speak HTTP/2 with browsers pass on all of their requests at once.
  const ofAll = Array.from({ length: 30 }, () => names).flat()
  const answers = await Promise.all(ofAll.map(get))
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
  // Each once, as a first visit loads them.
  const sizes = answers.slice(0, names.length).map(({ bytes }) => bytes.length)
  const sum = sizes.reduce((one, other) => one + other, 0)
  assert.ok(sum < 59_000, `${sum} bytes`)
})

test('a client that reads a file too slowly is disconnected, though never idle', async (t) => {
  const { port } = await listen(t, { assetBytesMax: 1, assetMs: 500 })
  const [reader = assert.fail()] = await stall(t, port, 1)
  let bytes = 0
  reader.on('data', (chunk) => {
    bytes += chunk.length
    reader.pause()
    setTimeout(() => reader.resume(), 50)
  })
  reader.resume()
  await once(reader, 'close')
  await until(async () => (await askPort(port, bundle)).status === 200)
  const { body: file } = await askPort(port, bundle)
  assert.ok(bytes > 0 && bytes < 8 * file.length, `${bytes} bytes of 8 times ${file.length}`)
})

const onProc = { skip: existsSync('/proc/self/status') ? false : 'there is no /proc' }

test('150 slow readers of a file hold neither memory nor requests', onProc, async (t) => {
  const { store, key } = await makeRightsStore(t)
  const { port, pid } = await runServer(t, store.db, ['--requests-max', '40'])
  assert.equal((await askPort(port, path, { key })).body, whole)
  assert.equal((await askPort(port, bundle)).status, 200)
  const before = residentMib(pid)
  await stall(t, port, 150)
  let peak = 0
  for (let turn = 0; turn < 50; turn += 1) {
    assert.equal((await askPort(port, path, { key })).status, 200)
    peak = Math.max(peak, residentMib(pid))
    await sleep(20)
  }
  t.diagnostic(`resident: ${before.toFixed(0)} MiB, then at most ${peak.toFixed(0)} MiB`)
  assert.ok(peak - before < 64, `${before} MiB, then ${peak} MiB`)
})
