// Liveness and readiness.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkFailure, makeApp } from '../support/make-app.ts'

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
  const alive = await ask('/healthz', { authorization: null })
  assert.deepEqual([alive.status, alive.text], [200, '{"ok":true}'])
  assert.equal(alive.headers['cache-control'], 'no-store')
  const answer = await ask('/readyz')
  checkFailure(answer, 503, 'Service Unavailable')
  assert.ok(answer.headers['retry-after'])
  isBroken = false
  assert.equal((await ask('/readyz')).status, 200)
})
