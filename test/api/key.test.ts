// Contract 8.5: a key learns about itself; and contract 7: what keys may read.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { hasScope } from '../../src/store/keys.ts'
import { type Document, readAnnouncement } from '../support/announcement.ts'
import { type Answer, checkFailure, makeApp, memberOf } from '../support/make-app.ts'

let time = 5_000_000
const made = await makeApp({ after }, { clock: () => time, defaultRate: 'none' })
const { ask, store } = made
const document = JSON.parse((await ask('/openapi.json')).text) as Document
const { checkAnnounced } = readAnnouncement(document)
const operation = document.paths['/api/v1/key']?.get ?? assert.fail()
const usual = ['companies', 'rights', 'employees', 'jobs', 'pos_terminals', 'events']

async function get(question?: Parameters<typeof ask>[1], query = ''): Promise<Answer> {
  const answer = await ask(`/api/v1/key${query}`, question)
  checkAnnounced(operation, answer)
  return answer
}

const keyIn = (answer: Answer) => memberOf(answer, 'key') as Readonly<Record<string, unknown>>

test('a key has its name, scopes, times and the registry (8.5)', async () => {
  const before = new Date(Date.now() - 60_000).toISOString()
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
  assert.ok(String(created) > before && String(created) <= new Date().toISOString())
  assert.equal(first.headers['data-version'], '0')
  await store.loadCompanies([1])
  const { registry } = JSON.parse((await get()).text) as { registry: Record<string, unknown> }
  assert.equal(registry['version'], 1)
  assert.ok(String(registry['committed_at']) > before)
})

test('a key with any scopes may ask; changes and exports are only those that were named (7)', async () => {
  const expiresAt = Date.parse('2100-01-31T00:00:00Z')
  const scopes = ['exports', 'jobs', 'changes']
  const authorization = `Bearer ${await store.issueKey({ name: 'narrow', scopes, expiresAt })}`
  const { scopes: shown, expires_at: expires } = keyIn(await get({ authorization }))
  assert.deepEqual(shown, ['jobs', 'changes', 'exports'])
  assert.equal(expires, '2100-01-31T00:00:00.000Z')
  for (const scope of usual) assert.ok(hasScope(undefined, scope), scope)
  for (const scope of ['changes', 'exports']) {
    assert.ok(!hasScope(undefined, scope), scope)
    assert.ok(!hasScope(usual, scope), scope)
    assert.ok(hasScope(scopes, scope), scope)
  }
})

test('a rate limit tells what is left, this request counted (8.5)', async () => {
  const authorization = `Bearer ${await store.issueKey({ name: 'limited', rate: '3/60s' })}`
  const rateOf = async () => keyIn(await get({ authorization }))['rate']
  const rate = { quota: 3, window_seconds: 60, remaining: 2, reset_seconds: 60 }
  assert.deepEqual(await rateOf(), rate)
  time += 10_500
  assert.deepEqual(await rateOf(), { ...rate, remaining: 1, reset_seconds: 50 })
  await get({ authorization })
  checkFailure(await get({ authorization }), 429, 'Too Many Requests')
})

test('it is an endpoint as any other: HEAD, 304, 405, 403, unknown parameters (1.1, 1.4, 2, 5)', async () => {
  const first = await get()
  const tag = first.headers['etag'] ?? ''
  assert.equal(first.headers['cache-control'], 'private, no-cache')
  const again = await get({ headers: { 'if-none-match': tag } })
  assert.deepEqual([again.status, again.text], [304, ''])
  const head = await ask('/api/v1/key', { method: 'HEAD' })
  assert.deepEqual([head.status, head.headers['etag'], head.text], [200, tag, ''])
  checkFailure(await get({ method: 'POST' }), 405, 'Method Not Allowed')
  checkFailure(await get({ authorization: null }), 403, 'Forbidden')
  checkFailure(await get({}, '?page=1'), 400, /^"page" is not a known query parameter/)
  const body = { headers: { 'content-type': 'application/json' }, body: '{"a":1}' }
  checkFailure(await get(body), 400, /^"a" is not a known body member/)
})
