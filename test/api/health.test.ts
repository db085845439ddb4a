// Liveness and readiness.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkFailure, makeApp } from '../support/make-app.ts'

for (const url of ['/healthz', '/readyz']) {
  test(`${url} answers without a key, and is not cacheable (I11)`, async (t) => {
    const { ask } = await makeApp(t)
    const answer = await ask(url, { authorization: null })
    assert.equal(answer.status, 200)
    assert.equal(answer.text, '{"ok":true}')
    assert.match(answer.headers['content-type'] ?? '', /^application\/json/)
    assert.equal(answer.headers['cache-control'], 'no-store')
    assert.ok(answer.headers['x-request-id'])
    const head = await ask(url, { authorization: null, method: 'HEAD' })
    assert.equal(head.status, 200)
    assert.equal(head.text, '')
  })
}

test('if the store does not answer, the service is alive but not ready until it does (I11)', async (t) => {
  let isBroken = true
  const { ask } = await makeApp(t, {
    wrapStore: (store) => ({
      ...store,
      ping: () => {
        if (isBroken) throw new Error('unable to open database file')
        return store.ping()
      },
    }),
  })
  assert.equal((await ask('/healthz')).status, 200)
  const answer = await ask('/readyz')
  checkFailure(answer, 503, 'Service Unavailable')
  assert.ok(answer.headers['retry-after'])
  isBroken = false
  assert.equal((await ask('/readyz')).status, 200)
})
