// What an import survives: the campaigns of `torture/` in a short form.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { createRandom } from '../../src/demo/random.ts'
import { campaigns, campaignsOf } from '../../torture/campaigns.ts'
import { storeKind } from '../support/store-at.ts'

const rules: Readonly<Record<string, string>> = {
  kills: 'an import that is killed leaves the state before or the state after (G1)',
  'kills-at-calls': 'so does one that is killed at a write, a sync or a cut (G2)',
  'failing-calls': 'a disk that fails leaves the state before, and one line that says so (G4)',
  'size-limit': 'so does the limit of file sizes (G3)',
  'full-disk': 'so does a full disk (G3)',
  readers: 'an answer during imports is wholly of one of them (G21)',
  turns: 'imports take turns; interrupted ones and cut archives change nothing (G8, G10, G20)',
  backups: 'a backup that is taken during imports is a state between two of them',
  'postgres-kills': 'an import into PostgreSQL that is ended on either side leaves no half (G1)',
  'postgres-crashes': 'so does one whose PostgreSQL crashes, and it says what became of it (G1)',
  'postgres-turns':
    'imports into PostgreSQL take turns, and one that ends holds up no other (G8, G10)',
}

// Shared, so that the states before and after are made once.
const folder = mkdtempSync(join(tmpdir(), 'dossier-test-'))
after(() => rmSync(folder, { recursive: true, force: true }))

// How many first loads and how many updates are killed. A server takes its time to start again.
const extents = { sqlite: { kills: 2, rows: 500 }, postgres: { kills: 1, rows: 500 } }

for (const [name, campaign] of Object.entries(campaignsOf[storeKind])) {
  test(`${rules[name]} (${name})`, async (t) => {
    const seed = Date.now() % 1_000_000
    t.diagnostic(`seed ${seed}`)
    const ground = {
      random: createRandom(seed),
      ...extents[storeKind],
      folder,
      isShort: true,
    }
    const skipped: string[] = []
    for await (const { what, found, fault, isSkipped } of campaign(ground)) {
      if (isSkipped) skipped.push(`${what}: ${found}`)
      assert.equal(fault, undefined, `${what}: ${found} (seed ${seed})`)
    }
    if (skipped.length > 0) t.skip(skipped.join('; '))
  })
}

test('every campaign has its rule', () => {
  assert.deepEqual(Object.keys(rules).sort(), Object.keys(campaigns).sort())
})
