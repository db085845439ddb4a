// D11: pages of other origins can read answers only if the operator allows it.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { rights } from '../../src/resources/rights.ts'
import { resolveSettings, settingsOf } from '../../src/config/resolve-settings.ts'
import { type Answer, checkFailure, makeApp, pathOf } from '../support/make-app.ts'
import { makeRights } from '../support/rights-store.ts'

const { records, path, whole } = makeRights(3)
const mine = 'https://mine.example'
const preflight = {
  'access-control-request-method': 'GET',
  'access-control-request-headers': 'authorization',
}

/** The CORS fields of an answer. */
function grantsOf({ headers }: Answer): string[] {
  return Object.keys(headers).filter((name) => name.startsWith('access-control-'))
}

const plain = await makeApp({ after }, { records })
const listed = await makeApp({ after }, { records, corsOrigins: [mine, 'http://localhost:3000'] })
const open = await makeApp({ after }, { records, corsOrigins: ['*'] })

test('without --cors-origin, no answer has CORS fields (D11)', async () => {
  for (const origin of [mine, 'null', 'http://127.0.0.1']) {
    for (const url of [path, `${path}?limit=0`, '/healthz', '/docs', '/nothing', '/%zz']) {
      const answer = await plain.ask(url, { headers: { origin } })
      assert.deepEqual(grantsOf(answer), [])
      assert.doesNotMatch(answer.headers['vary'] ?? '', /origin/i)
    }
    const headers = { origin, ...preflight }
    const answer = await plain.ask(path, { method: 'OPTIONS', headers })
    checkFailure(answer, 405, 'Method Not Allowed')
    assert.deepEqual(grantsOf(answer), [])
    const anonymous = { method: 'OPTIONS', headers, authorization: null }
    checkFailure(await plain.ask(path, anonymous), 403, 'Forbidden')
  }
})

test('a listed origin reads every answer, failures included (D11)', async () => {
  for (const origin of [mine, 'http://localhost:3000']) {
    const headers = { origin }
    assert.equal((await listed.ask(path, { headers })).text, whole)
    for (const url of [path, `${path}?limit=0`, '/healthz', '/nothing', '/%zz', '/docs']) {
      for (const question of [{ headers }, { headers, authorization: null }]) {
        const answer = await listed.ask(url, question)
        assert.equal(answer.headers['access-control-allow-origin'], origin)
        assert.match(answer.headers['access-control-expose-headers'] ?? '', /\bRetry-After\b/)
        assert.equal(answer.headers['access-control-allow-credentials'], undefined)
        assert.match(answer.headers['vary'] ?? '', /^Origin\b/)
      }
    }
  }
})

test('a listed origin reads why a request is refused before its path is known (D11, 4)', async (t) => {
  const { app, ask } = await makeApp(t, { records, corsOrigins: [mine] })
  const expecting = await ask(path, { headers: { origin: mine, expect: 'sweets' } })
  checkFailure(expecting, 417, 'Expectation Failed')
  app.stopAnswering()
  const stopped = await ask(path, { headers: { origin: mine } })
  checkFailure(stopped, 503, 'Service Unavailable')
  for (const answer of [expecting, stopped]) {
    assert.equal(answer.headers['access-control-allow-origin'], mine)
    assert.match(answer.headers['vary'] ?? '', /^Origin\b/)
  }
})

test('other origins read nothing, and Vary names Origin (D11)', async () => {
  const others = [
    ...['https://other.example', `${mine}.evil.example`, 'http://mine.example', 'null', ''],
  ]
  for (const origin of [...others, `${mine}:443`, mine.toUpperCase(), undefined]) {
    const headers = origin === undefined ? {} : { origin }
    const answer = await listed.ask(path, { headers })
    assert.deepEqual(grantsOf(answer), [])
    assert.equal(answer.headers['vary'], 'Origin, Accept, Accept-Encoding')
    const asked = { ...headers, ...preflight }
    checkFailure(await listed.ask(path, { method: 'OPTIONS', headers: asked }), 405, /./)
  }
  const key = await listed.store.issueKey({ name: 'follower', scopes: ['changes', 'rights'] })
  const followed = await listed.ask('/api/v1/changes?after=0', { key })
  assert.equal(followed.headers['vary'], 'Origin, Accept, Accept-Encoding')
})

test('a preflight gets the same answer for every path, without a key (D11)', async () => {
  for (const url of [path, pathOf(rights, 404), '/api/nothing', '/nothing', '/healthz']) {
    const headers = { origin: mine, ...preflight }
    const answer = await listed.ask(url, { method: 'OPTIONS', headers, authorization: null })
    assert.equal(answer.status, 204)
    assert.equal(answer.text, '')
    assert.equal(answer.headers['access-control-allow-origin'], mine)
    assert.equal(answer.headers['access-control-allow-methods'], 'GET, HEAD')
    const allowed = answer.headers['access-control-allow-headers'] ?? ''
    for (const field of ['Authorization', 'If-Range']) assert.ok(allowed.includes(field), allowed)
    assert.equal(answer.headers['access-control-max-age'], '600')
    assert.ok(answer.headers['x-request-id'])
  }
  const bare = { method: 'OPTIONS', headers: { origin: mine } }
  checkFailure(await listed.ask(path, bare), 405, 'Method Not Allowed')
})

test('* allows all origins, never with credentials (D11)', async () => {
  for (const origin of [mine, 'null', undefined]) {
    const answer = await open.ask(path, origin === undefined ? {} : { headers: { origin } })
    assert.equal(answer.headers['access-control-allow-origin'], '*')
    assert.equal(answer.headers['access-control-allow-credentials'], undefined)
    assert.equal(answer.headers['vary'], 'Accept, Accept-Encoding')
  }
})

test('--cors-origin takes none, *, or origins as browsers write them', () => {
  const read = (value: string) =>
    settingsOf(resolveSettings({ 'cors-origin': value }, {})).corsOrigin
  assert.deepEqual(read('none'), [])
  assert.deepEqual(read('*'), ['*'])
  assert.deepEqual(read(`${mine}, http://localhost:3000`), [mine, 'http://localhost:3000'])
  for (const value of [
    ...['', 'mine.example', `${mine}/`, 'HTTPS://x', 'ftp://x', 'null', `${mine},`],
  ]) {
    assert.throws(() => read(value), /^UsageError: --cors-origin is .*; it must be none, \*, or/)
  }
})
