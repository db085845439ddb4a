// Contract 8.5: a key learns about itself; and contract 7: what keys may read.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { askAnnounced } from '../support/announcement.ts'
import { type Answer, checkFailure, checkTag, makeApp, memberOf } from '../support/make-app.ts'

let time = 5_000_000
const begun = new Date(Date.now() - 60_000).toISOString()
const made = await makeApp({ after }, { clock: () => time, defaultRate: 'none' })
const { ask, store } = made
const get = await askAnnounced(made, '/api/v1/key')
const usual = ['companies', 'rights', 'employees', 'jobs', 'pos_terminals', 'events']

const keyIn = (answer: Answer) => memberOf(answer, 'key') as Readonly<Record<string, unknown>>

test('a key has its name, scopes, times and the registry (8.5)', async () => {
  const first = await get()
  const settled = first.text
    .replace(/dossier_.{4}….{4}/, 'HINT')
    .replace(/"\d{4}-\d\d-\d\dT[^"]+Z"/, '"MOMENT"')
  assert.equal(
    settled,
    `{"ok":true,"key":{"name":"test","hint":"HINT","scopes":${JSON.stringify(usual)},` +
      '"created_at":"MOMENT","expires_at":null,"rate":null,"uses":null},' +
      '"registry":{"version":0,"committed_at":null,"earliest_version":1}}',
  )
  const { scopes, created_at: created } = keyIn(first)
  assert.deepEqual(scopes, usual)
  assert.ok(String(created) > begun && String(created) <= new Date().toISOString())
  assert.equal(first.headers['data-version'], '0')
  await store.loadCompanies([1])
  const { registry } = JSON.parse((await get()).text) as { registry: Record<string, unknown> }
  assert.equal(registry['version'], 1)
  assert.ok(String(registry['committed_at']) > begun)
})

test('a key with any scopes may ask; changes and exports are listed only if named (7)', async () => {
  const expiresAt = Date.parse('2100-01-31T00:00:00Z')
  const scopes = ['exports', 'jobs', 'changes']
  const key = await store.issueKey({ name: 'narrow', scopes, expiresAt })
  const { scopes: shown, expires_at: expires } = keyIn(await get('', { key }))
  assert.deepEqual(shown, ['jobs', 'changes', 'exports'])
  assert.equal(expires, '2100-01-31T00:00:00.000Z')
})

test('a rate limit shows what is left after this request (8.5)', async () => {
  const key = await store.issueKey({ name: 'limited', rate: '3/60s' })
  const rateOf = async () => keyIn(await get('', { key }))['rate']
  const rate = { quota: 3, window_seconds: 60, remaining: 2, reset_seconds: 60 }
  assert.deepEqual(await rateOf(), rate)
  time += 10_500
  assert.deepEqual(await rateOf(), { ...rate, remaining: 1, reset_seconds: 50 })
  await get('', { key })
  checkFailure(await get('', { key }), 429, 'Too Many Requests')
})

test('it is an endpoint like any other: HEAD, 304, 405, 403, unknown parameters (1.1, 1.4, 2, 5)', async () => {
  assert.equal((await get()).headers['cache-control'], 'private, no-cache')
  await checkTag((question) => ask('/api/v1/key', question))
  checkFailure(await get('', { method: 'POST' }), 405, 'Method Not Allowed')
  checkFailure(await get('', { authorization: null }), 403, 'Forbidden')
  checkFailure(await get('?page=1'), 400, /^"page" is not a known query parameter/)
  checkFailure(await get('', { json: { a: 1 } }), 400, /^"a" is not a known body member/)
})
