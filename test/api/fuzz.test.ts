// Requests that no sound client would send: the campaigns of `fuzz/` in a short form.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type Found, fuzzRaw, fuzzStructured } from '../../fuzz/campaigns.ts'
import { createJudge } from '../../fuzz/judge.ts'
import { startFuzzed } from '../../fuzz/server.ts'
import type { Received } from '../../fuzz/wire.ts'
import { createOpenApi } from '../../scripts/openapi/document.ts'
import { resources } from '../../src/resources/index.ts'
import type { Document } from '../support/announcement.ts'
import { failureText } from '../support/make-app.ts'
import { storeKind } from '../support/store-at.ts'

const server = await startFuzzed({ after })
const campaigns = [
  ['structured', fuzzStructured, 1_000],
  ['mutated raw', fuzzRaw, 700],
] as const

for (const [name, campaign, count] of campaigns) {
  test(`every answer is one that the OpenAPI document announces (${name} requests)`, async (t) => {
    const seed = Date.now() % 1_000_000
    t.diagnostic(`seed ${seed}`)
    const found = await campaign({ server, seed, count })
    checkFound(found, count)
  })
}

function checkFound({ faults, sent, statuses, descriptors }: Found, count: number): void {
  assert.deepEqual(faults, [])
  assert.equal(sent, count)
  // The campaign is useless if all requests are refused for the same reason.
  for (const status of [200, 400, 403, 404, 405, 417, 431]) {
    assert.ok(statuses.has(status), `some are a ${status}`)
  }
  const [before = 0, end = 0] = descriptors
  // A server on PostgreSQL keeps up to ten connections to it.
  const kept = storeKind === 'sqlite' ? 0 : 10
  assert.ok(end <= before + kept, `${before} descriptors, then ${end}: each is given back`)
}

const { judge, judgeAny } = createJudge(createOpenApi(resources) as unknown as Document)
const headers = {
  'x-request-id': 'a',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'content-type': 'application/json; charset=utf-8',
}
const asked = { method: 'GET', target: '/api/v1/companies/1/rights', isEntitled: true }
const refusal: Received = { status: 403, headers, text: failureText(403, 'Forbidden') }

test('the check detects an answer that is not announced', () => {
  judge(asked, refusal)
  judgeAny(refusal)
  const without = (name: string) => ({
    ...refusal,
    headers: Object.fromEntries(Object.entries(headers).filter(([given]) => given !== name)),
  })
  const broken: readonly Received[] = [
    { ...refusal, status: 500, text: failureText(500, 'Internal Server Error') },
    { ...refusal, status: 503, text: failureText(503, 'Service Unavailable') },
    { ...refusal, status: 418, text: failureText(418, "I'm a Teapot") },
    { ...refusal, status: 404 },
    { ...refusal, text: '' },
    { ...refusal, text: '{}' },
    { ...refusal, text: `${refusal.text} ` },
    { ...refusal, text: '<html>' },
    { ...refusal, status: 200, text: '{"ok":true,"rights":[]}' },
    { ...refusal, headers: { ...headers, server: 'x' } },
    ...Object.keys(headers).map(without),
  ]
  for (const answer of broken) {
    assert.throws(() => judge(asked, answer), JSON.stringify(answer))
    const isOfAny = answer.text === '' || answer.headers['content-type'] === undefined
    if (!isOfAny) assert.throws(() => judgeAny(answer), JSON.stringify(answer))
  }
  const notFound = { ...refusal, status: 404, text: failureText(404, 'Not Found') }
  judge(asked, notFound)
  assert.throws(() => judge({ ...asked, isEntitled: false }, notFound), /without a key/)
})
