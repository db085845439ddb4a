// Contract section 2: authorization, and how little a refusal reveals.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { makeKey } from '../../src/auth/key.ts'
import { rights } from '../../src/resources/rights.ts'
import { type Answer, makeApp, pathOf } from '../support/make-app.ts'
import { makeRights } from '../support/rights-store.ts'

const refusal = '{"ok":false,"error":{"code":403,"message":"Forbidden"}}'

const { records, path, whole } = makeRights(3)
const { ask, key, store, callsOf } = await makeApp({ after }, { records })
const expired = await store.issueKey({ name: 'expired', expiresAt: Date.now() })
const jobsOnly = await store.issueKey({ name: 'jobs-only', scopes: ['jobs'] })
const revoked = await store.issueKey({ name: 'revoked' })
await store.revokeKey('revoked')

/** Authorization fields that are refused; null sends none. */
const refused: Readonly<Record<string, string | null>> = {
  'no field (C1)': null,
  'an empty field (C2)': '',
  'the scheme alone (C2)': 'Bearer',
  'the scheme and a space': 'Bearer ',
  'the key alone': key,
  'the scheme Basic (C2)': `Basic ${Buffer.from(`user:${key}`).toString('base64')}`,
  'the scheme Token (C2)': `Token ${key}`,
  'a tab (C2)': `Bearer\t${key}`,
  'no space': `Bearer${key}`,
  'a colon': `Bearer: ${key}`,
  'a second word': `Bearer ${key} ${key}`,
  'a comma': `Bearer ${key},`,
  'a quoted key': `Bearer "${key}"`,
  'a key in upper case (C5)': `Bearer ${key.toUpperCase()}`,
  'a truncated key (C5)': `Bearer ${key.slice(0, -1)}`,
  'a key without its prefix': `Bearer ${key.slice('dossier_'.length)}`,
  'a key that is longer (C5)': `Bearer ${key}0`,
  'a key with a wrong checksum (C3)': `Bearer ${key.slice(0, -6)}000000`,
  'an unknown key (C4)': `Bearer ${makeKey(randomBytes(32))}`,
  'an expired key (C4)': `Bearer ${expired}`,
  'a revoked key (C4)': `Bearer ${revoked}`,
  'a key for another listing': `Bearer ${jobsOnly}`,
  'ten thousand characters (C6)': `Bearer ${'a'.repeat(10_000)}`,
  'characters beyond ASCII (C6)': 'Bearer dossier_\u00e9\u00ff',
}

/** An answer without the parts that differ between requests. */
function comparable({ status, headers, text }: Answer) {
  return { status, text, headers: { ...headers, 'x-request-id': undefined, date: undefined } }
}

test('the scheme is case-insensitive, and any number of spaces follows (2.1, C2)', async () => {
  for (const scheme of ['Bearer', 'bearer', 'BEARER', 'bEaReR', 'Bearer ', 'Bearer  ']) {
    assert.equal((await ask(path, { authorization: `${scheme} ${key}` })).text, whole)
  }
})

for (const [name, authorization] of Object.entries(refused)) {
  const isLookedUp = name.endsWith('(C4)') || name === 'a key for another listing'
  const cost = isLookedUp ? 'after a look-up' : 'without a look-up'
  test(`${name}: 403 with exactly the specified bytes, ${cost} (2.2, 2.4, C1 to C6)`, async () => {
    const before = callsOf('findKey')
    assert.equal((await ask(path, { authorization })).text, refusal)
    const answer = await ask(path, { authorization })
    // A valid key is remembered for a moment; of the others, none tells by its time what it was.
    const lookUps = isLookedUp ? (authorization === `Bearer ${jobsOnly}` ? 1 : 2) : 0
    assert.equal(callsOf('findKey') - before, lookUps)
    assert.equal(answer.status, 403)
    assert.equal(answer.text, refusal)
    const none = await ask(path, { authorization: null })
    assert.deepEqual(comparable(answer), comparable(none), 'nor do the headers tell anything')
  })
}

test('a key in the query, a cookie or the body is ignored (2.2, C8)', async () => {
  for (const answer of [
    await ask(`${path}?access_token=${key}`, { authorization: null }),
    await ask(`${path}?api_key=${key}`, { authorization: null }),
    await ask(path, { authorization: null, headers: { cookie: `key=${key}` } }),
    await ask(path, { authorization: null, headers: { 'x-api-key': key } }),
    await ask(path, { authorization: null, json: { key } }),
  ]) {
    assert.equal(answer.text, refusal)
  }
})

test('a key for another listing is refused before the method is checked (2.3)', async () => {
  for (const method of ['POST', 'OPTIONS', 'DELETE']) {
    const own = { method, key: jobsOnly }
    assert.equal((await ask(path, own)).text, refusal, method)
    const jobsPath = path.replace('/rights', '/jobs')
    assert.equal((await ask(jobsPath, own)).status, 405, method)
  }
})

const hidden: readonly (readonly [what: string, path: string, method?: string])[] = [
  ['validation of page', `${path}?page=0`],
  ['validation of parameters', `${path}?pgae=1`],
  ['validation of the company', pathOf(rights, 'abc')],
  ['the URL is read', pathOf(rights, '%zz')],
  ['the 404 for a company', pathOf(rights, 404)],
  ['the 404 for a path', '/api/v1/companies/1/nothing'],
  ['the 404 for another version', '/api/v9/companies/1/rights'],
  ['the 404 of /api/', '/api/'],
  ['the 405', path, 'POST'],
  ['the 405 for a method that no route has', path, 'PROPFIND'],
  ['the body is read', path, 'PUT'],
  ['the answer to HEAD', path, 'HEAD'],
]

for (const [what, url, method = 'GET'] of hidden) {
  test(`the refusal comes before ${what} (2.3, C17)`, async () => {
    const answer = await ask(url, { method, authorization: null })
    assert.equal(answer.status, 403)
    assert.equal(answer.text, method === 'HEAD' ? '' : refusal)
  })
}

test('the refusal comes before a body is rejected (2.3)', async () => {
  for (const body of ['{', '[]', 'x'.repeat(100_000)]) {
    const headers = { 'content-type': body === '{' ? 'application/json' : 'text/plain' }
    assert.equal((await ask(path, { authorization: null, headers, body })).text, refusal)
  }
})

test('the refusal comes before a 304, and before a cached page (2.3)', async () => {
  const tag = (await ask(path)).headers['etag'] ?? ''
  for (const headers of [{ 'if-none-match': tag }, { 'if-none-match': '*' }, {}]) {
    assert.equal((await ask(path, { headers })).status, 'if-none-match' in headers ? 304 : 200)
    for (const authorization of [null, `Bearer ${jobsOnly}`]) {
      assert.equal((await ask(path, { authorization, headers })).text, refusal)
    }
  }
})

test('another spelling of the path does not bypass a scope (2.3)', async () => {
  const answer = await ask('/%61pi/v1/companies/1/rights', { key: jobsOnly })
  assert.notEqual(answer.status, 200, answer.text.slice(0, 80))
})

test('a store failure during a key look-up never grants access (2.2, C11)', async (t) => {
  const fail = () => {
    throw new Error('disk I/O error')
  }
  for (const findKey of [fail, () => Promise.reject(new Error('connection lost'))]) {
    const { ask } = await makeApp(t, { wrapStore: (reader) => ({ ...reader, findKey }) })
    assert.equal((await ask(path)).status, 503)
  }
})
