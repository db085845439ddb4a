// Limits shared by several processes, one of which keeps the counts.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCounter } from '../../src/auth/counter.ts'
import { type Ask, askCounter, askThrottle } from '../../src/auth/limits-over-ipc.ts'
import { createLimit } from '../../src/auth/rate-limit.ts'
import { keyRecord } from '../support/key-record.ts'

const key = { ...keyRecord, rate: '10/60s' }

test('a process that cannot reach the counter counts locally without delay', async () => {
  const gone: Ask = () => Promise.reject(new Error('the other process has gone'))
  const counter = createCounter(() => 0, askCounter(gone))
  const limit = createLimit(undefined, counter)
  const verdicts = []
  for (let turn = 0; turn < 12; turn += 1) verdicts.push(await limit(key))
  assert.equal(verdicts.filter((verdict) => verdict?.isWithin).length, 10)
  const throttle = askThrottle(gone)
  assert.equal(await throttle.fail('192.0.2.1'), undefined)
  assert.equal(await throttle.waitOf('192.0.2.1', 'new'), undefined)
  throttle.noteGood('new')
})
