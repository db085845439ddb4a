// A campaign of `torture/` in a short form, as a test.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { createRandom } from '../../src/demo/random.ts'
import type { Campaign, Ground } from '../../torture/outcome.ts'

/** Fails at the first fault; says what is not possible on this machine. */
export async function runShort(
  t: TestContext,
  campaign: Campaign,
  extent: Pick<Ground, 'kills' | 'rows' | 'folder'>,
): Promise<void> {
  const seed = Date.now() % 1_000_000
  t.diagnostic(`seed ${seed}`)
  const skipped: string[] = []
  const ground = { random: createRandom(seed), seed, ...extent, isShort: true }
  for await (const { what, found, fault, isSkipped } of campaign(ground)) {
    if (isSkipped) skipped.push(`${what}: ${found}`)
    assert.equal(fault, undefined, `${what}: ${found} (seed ${seed})`)
  }
  if (skipped.length > 0) t.skip(skipped.join('; '))
}
