// Waiting for what another process, or the event loop, does at its own time.

import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'

/** Far beyond what anything takes: the machines that run tests may be slow by a factor of ten. */
export const patienceMs = 120_000

/** Waits until a claim holds; returns how long that took, in milliseconds. */
export async function until(
  claim: () => boolean | Promise<boolean>,
  what = 'it holds',
): Promise<number> {
  const startedAt = performance.now()
  while (!(await claim())) {
    assert.ok(performance.now() - startedAt < patienceMs, `waited in vain until ${what}`)
    await sleep(10)
  }
  return performance.now() - startedAt
}
