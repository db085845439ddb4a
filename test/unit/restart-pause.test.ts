// The pause before a dead worker is replaced.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { restartPauseMs } from '../../src/server/worker-pool.ts'

test('a worker that ran for a while is replaced at once', () => {
  assert.equal(restartPauseMs(10_000, 0), 0)
  assert.equal(restartPauseMs(3_600_000, 30_000), 0)
})

test('workers that die early are replaced more and more slowly, up to half a minute', () => {
  const pauses: number[] = []
  for (let pause = 0; pauses.length < 12;) pauses.push((pause = restartPauseMs(50, pause)))
  assert.deepEqual(pauses.slice(0, 5), [100, 200, 400, 800, 1_600])
  assert.deepEqual(pauses.slice(-3), [30_000, 30_000, 30_000])
})
