// Waiting for what another process, or the event loop, does at its own time.

import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'

/** Waits until a claim holds; returns how long that took, in milliseconds. */
export async function until(
  claim: () => boolean | Promise<boolean>,
  what = 'it holds',
): Promise<number> {
  const startedAt = performance.now()
  while (!(await claim())) {
    assert.ok(performance.now() - startedAt < 20_000, `waited in vain until ${what}`)
    await sleep(10)
  }
  return performance.now() - startedAt
}
