// Contract section 4: failures of the service. That every failure has the same form, each test that
// gets one shows; what needs a socket (malformed requests, oversized headers) is in socket.test.ts.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { rights } from '../../src/resources/rights.ts'
import { checkFailure, makeApp, pathOf } from '../support/make-app.ts'
import { makeRights } from '../support/rights-store.ts'

const { records, path } = makeRights(3)
const { ask } = await makeApp({ after }, { records })

test('a failure is JSON whatever type the client accepts (4, D19)', async () => {
  for (const accept of ['text/html', 'application/xml', '*/*', 'application/json;q=0']) {
    const headers = { accept, 'accept-encoding': 'gzip, br' }
    checkFailure(await ask(`${path}?limit=0`, { headers }), 400, /^limit is "0"/)
  }
})

test('a 500 reveals no details; the log has them under the same id (4)', async (t) => {
  const secret = 'the password of the database is hunter2'
  const throws = (fault: unknown) => () => {
    throw fault
  }
  for (const broken of [
    { countUse: throws(new TypeError(secret)) },
    { countUse: throws(secret) },
    { countUse: throws(Object.assign(new Error(secret), { statusCode: 200 })) },
    { readUses: () => Promise.reject(new TypeError(secret)) },
  ]) {
    const { ask, logged } = await makeApp(t, broken)
    const answer = await ask('/api/v1/key', { headers: { 'x-request-id': 'unlucky' } })
    checkFailure(answer, 500, 'Internal Server Error')
    assert.doesNotMatch(JSON.stringify(answer.headers), /hunter2/)
    const lines = logged().filter((line) => line['request_id'] === 'unlucky')
    assert.equal(lines.length, 2, 'the fault and the request')
    assert.match(JSON.stringify(lines[0]), /hunter2/)
  }
})

for (const [what, fail] of [
  [
    'throws',
    () => {
      throw new Error('disk I/O error in /var/lib/secret.db')
    },
  ],
  ['rejects', () => Promise.reject(new Error('disk I/O error in /var/lib/secret.db'))],
] as const) {
  test(`503 with Retry-After if the store ${what}, with the reason in the log (4, I11)`, async (t) => {
    const { ask, logged } = await makeApp(t, {
      records,
      wrapStore: (store) => ({ ...store, readHead: fail, readPage: fail, ping: fail }),
    })
    for (const [url, headers] of [
      [path, {}],
      [path, { 'if-none-match': '"x"' }],
      ['/readyz', {}],
    ] as const) {
      const answer = await ask(url, { headers: { ...headers, 'x-request-id': 'unlucky' } })
      checkFailure(answer, 503, 'Service Unavailable')
      assert.match(answer.headers['retry-after'] ?? '', /^[1-9]\d*$/)
    }
    const alive = await ask('/healthz', { authorization: null })
    assert.deepEqual([alive.status, alive.text], [200, '{"ok":true}'])
    assert.equal(alive.headers['cache-control'], 'no-store')
    const faults = logged().filter(({ err }) => err !== undefined)
    assert.equal(faults.length, 3)
    for (const fault of faults) {
      assert.equal(fault['request_id'], 'unlucky')
      assert.match(JSON.stringify(fault), /secret\.db/)
    }
    checkFailure(await ask(`${path}?limit=0`), 400, /^limit/)
  })
}

test('every request gets 503 with Retry-After while the service is stopping (4)', async (t) => {
  const { app, ask } = await makeApp(t, { records })
  assert.equal((await ask(path)).status, 200)
  app.stopAnswering()
  for (const url of [path, pathOf(rights, 'x'), '/nothing', '/healthz', '/docs', '/%zz']) {
    for (const question of [{}, { authorization: null }]) {
      const answer = await ask(url, question)
      checkFailure(answer, 503, 'Service Unavailable')
      assert.match(answer.headers['retry-after'] ?? '', /^[1-9]\d*$/)
      assert.equal(answer.headers['connection'], 'close')
    }
  }
})
