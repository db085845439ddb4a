// The page cache: it never serves a stale page.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { events } from '../../src/resources/events.ts'
import { rights } from '../../src/resources/rights.ts'
import { bytesInUse } from '../support/bytes-in-use.ts'
import { checkPage, listenOn, makeApp, pathOf } from '../support/make-app.ts'
import { makeRecord, makeRecords } from '../support/make-record.ts'
import { makeRights } from '../support/rights-store.ts'
import { exchange, requestTo, statusesIn } from '../support/run-server.ts'
import { aboveStores, storeKind } from '../support/store-at.ts'

const above = { skip: aboveStores }
// What fits into it is the same on every store.
const sizes = storeKind === 'sqlite' ? [0, 1, 20_000, 64 * 1_048_576] : [0, 64 * 1_048_576]

for (const [n, cacheBytesMax] of sizes.entries()) {
  const resource = n % 2 === 0 ? rights : events
  test(`${resource.name}: a cache of ${cacheBytesMax} bytes never serves a stale page`, async (t) => {
    const path = pathOf(resource, 1)
    const codings = ['identity', 'gzip']
    let all = makeRecords(resource, 10)
    const { ask, store } = await makeApp(t, {
      cacheBytesMax,
      records: [{ resource, company: 1, records: all }],
    })
    for (let turn = 0; turn < 4; turn += 1) {
      for (const page of [1, 2, 1, 2]) {
        checkPage(await ask(`${path}?page=${page}&limit=6`), { resource, all, page, limit: 6 })
        for (const coding of codings) {
          await ask(`${path}?page=${page}&limit=6`, { headers: { 'accept-encoding': coding } })
        }
      }
      const news = makeRecord(resource, { id: 100 + turn })
      await store.load([{ resource, company: 1, records: [news] }])
      all = [...all, news]
    }
    await store.load([{ resource, company: 1, records: all.slice(0, 3) }], { isSnapshot: true })
    checkPage(await ask(`${path}?page=1&limit=6`), { resource, all: all.slice(0, 3), limit: 6 })
  })
}

const { all: ten, records, path } = makeRights(10)

/** What tells of companies and versions. */
const others = ['readCompany', 'findCompanies', 'readVersions'] as const

test('an unchanged page is read once, even across other imports', async (t) => {
  const { ask, store, callsOf } = await makeApp(t, { records })
  for (let turn = 0; turn < 5; turn += 1) await ask(path)
  assert.equal(callsOf('readPage'), 1)
  await store.load([{ resource: rights, company: 2, records: makeRecords(rights, 1, 50) }])
  await ask(path)
  assert.equal(callsOf('readPage'), 1)
  await store.load([{ resource: rights, company: 1, records: makeRecords(rights, 1, 60) }])
  await ask(path)
  assert.equal(callsOf('readPage'), 2)
})

for (const [what, bytes] of [
  ['a cache of 0 bytes keeps nothing', 0],
  ['a page too large for the cache is still served', 2_048],
] as const) {
  test(what, above, async (t) => {
    const { ask, callsOf } = await makeApp(t, { records, cacheBytesMax: bytes })
    for (let turn = 0; turn < 3; turn += 1) {
      checkPage(await ask(path), { resource: rights, all: ten })
    }
    assert.equal(callsOf('readPage'), 3)
  })
}

test('a full cache keeps pages that are requested repeatedly', above, async (t) => {
  const { ask, callsOf } = await makeApp(t, { records, cacheBytesMax: 65_536 })
  // The same records each time, but a different page to the cache.
  const pages = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, n) => `${path}?limit=${from + n}`)
  const readsOf = async (paths: readonly string[]) => {
    const before = callsOf('readPage')
    for (const path of paths) await ask(path)
    return callsOf('readPage') - before
  }
  const kept = pages(10, 20)
  assert.equal(await readsOf(kept), 10)
  assert.equal(await readsOf([...kept, ...kept]), 0, 'there is room for all of them')
  assert.equal(await readsOf(pages(20, 100)), 80, 'somebody walks through others')
  assert.equal(await readsOf(kept), 0, 'and none of them was driven out')
  const news = pages(100, 101)
  assert.equal(await readsOf([...news, ...news, ...news, ...news]), 2, 'it is kept the second time')
  assert.ok((await readsOf(pages(20, 100))) > 70, 'too long ago to be the second time')
})

test('a company imported after a 404 is found at once', async (t) => {
  const { ask, store } = await makeApp(t, { records })
  const conditional = { headers: { 'if-none-match': '"x"' } }
  for (let turn = 0; turn < 2; turn += 1) {
    assert.equal((await ask(pathOf(rights, 9))).status, 404)
    assert.equal((await ask(pathOf(rights, 9), conditional)).status, 404)
  }
  await store.loadCompanies([9])
  checkPage(await ask(pathOf(rights, 9)), { resource: rights, all: [] })
  const news = makeRecords(rights, 1, 70)
  await store.load([{ resource: rights, company: 9, records: news }])
  checkPage(await ask(pathOf(rights, 9), conditional), { resource: rights, all: news })
})

test('answers about companies and versions are made once for each state', async (t) => {
  const { ask, store, callsOf } = await makeApp(t, { records })
  const paths = ['/api/v1/companies/1', '/api/v1/companies?identifier=9', '/api/v1/versions']
  const askAll = () => Promise.all(paths.map(async (path) => (await ask(path)).text))
  const first = await askAll()
  assert.deepEqual(await askAll(), first)
  assert.equal(callsOf(...others), 3)
  await store.load([{ resource: rights, company: 1, records: makeRecords(rights, 1, 60) }])
  const [company = '', , versions = ''] = await askAll()
  assert.equal(callsOf(...others), 6)
  assert.match(company, /"rights":\{"total":11,"version":2/)
  assert.match(versions, /"total":2/)
})

test('a pruned version is not served from the cache', async (t) => {
  const { ask, store } = await makeApp(t, { records })
  await store.load([{ resource: rights, company: 1, records: makeRecords(rights, 1, 60) }])
  const path = '/api/v1/companies/1?version=1'
  assert.equal((await ask(path)).status, 200)
  assert.match((await ask('/api/v1/versions')).text, /"earliest_version":1}/)
  await store.prune()
  assert.equal((await ask(path)).status, 410)
  assert.match((await ask('/api/v1/versions')).text, /"earliest_version":2}/)
})

test('endless different filters take no more memory than the caches may (L1)', above, async (t) => {
  const { app, key } = await makeApp(t, { records })
  // A request that is injected stays in memory.
  const port = await listenOn({ app })
  const askAll = async (count: number) => {
    for (let n = 0; n < count; n += 1) {
      const value = randomBytes(n % 4 === 0 ? 10_000 : 2_900).toString('base64url')
      // From the cache, an answer may keep more than when it was made.
      const asked = (isLast: boolean) => requestTo(`${path}?status=${value}`, { key, isLast })
      const received = await exchange(port, asked(false).repeat(2) + asked(true))
      assert.deepEqual(statusesIn(received), [200, 200, 200])
    }
  }
  await askAll(150)
  const before = bytesInUse()
  await askAll(450)
  const grown = bytesInUse() - before
  // The cache of answers is 1 MiB, and a view has less than 1 kB.
  assert.ok(grown < 4 * 1_048_576, `${Math.round(grown / 1_024)} KiB`)
})
