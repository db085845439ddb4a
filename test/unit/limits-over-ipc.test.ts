// Limits shared by several processes, which ask the one that keeps the counts.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCounter } from '../../src/auth/counter.ts'
import { createLimit } from '../../src/auth/rate-limit.ts'
import { answerLimits, type Ask, askCounter, askThrottle } from '../../src/auth/limits-over-ipc.ts'
import { createThrottle } from '../../src/auth/throttle.ts'
import type { Answers } from '../../src/server/ipc.ts'
import type { KeyRecord } from '../../src/store/keys.ts'

const key: KeyRecord = {
  ...{ id: 7, name: 'small', hint: '', scopes: undefined, createdAt: 0 },
  ...{ expiresAt: undefined, revokedAt: undefined, rate: '10/60s' },
}

/** The process that keeps the counts, reached as in production: through JSON, after a delay. */
function keeper(clock: () => number): Ask {
  const throttle = createThrottle({ quota: 2, seconds: 60 }, clock)
  const answers: Answers = answerLimits(createCounter(clock), throttle)
  const overWire = (value: unknown) =>
    value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as unknown)
  return async (topic, question) => {
    await Promise.resolve()
    const answer = answers[topic]
    assert.ok(answer, topic)
    return overWire(await answer(overWire(question)))
  }
}

const gone: Ask = () => Promise.reject(new Error('the other process has gone'))

test('a key found valid at one process is known at all (C15)', async () => {
  const ask = keeper(() => 0)
  const [one, two] = [askThrottle(ask), askThrottle(ask)]
  one.noteGood('good')
  for (let count = 0; count < 20; count += 1) {
    await one.fail('192.0.2.1', `bad ${count}`)
    await two.waitOf('192.0.2.1', `new ${count}`)
  }
  assert.equal(await two.waitOf('192.0.2.1', 'another'), 60)
  assert.equal(await two.waitOf('192.0.2.1', 'good'), undefined)
  // Until it is revoked.
  await one.fail('192.0.2.1', 'good')
  assert.equal(await two.waitOf('192.0.2.1', 'good'), 60)
})

test('a process that cannot reach the counter counts locally without delay', async () => {
  const limit = createLimit(
    undefined,
    createCounter(() => 0, askCounter(gone)),
  )
  const verdicts = []
  for (let turn = 0; turn < 12; turn += 1) verdicts.push(await limit(key))
  assert.equal(verdicts.filter((verdict) => verdict?.isWithin).length, 10)
  const throttle = askThrottle(gone)
  assert.equal(await throttle.fail('192.0.2.1'), undefined)
  assert.equal(await throttle.waitOf('192.0.2.1', 'new'), undefined)
  throttle.noteGood('new')
})
