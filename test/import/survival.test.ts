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
  kills: 'G1 an import that is killed leaves the state before or the state after',
  'kills-at-calls': 'G2 so does one that is killed at a write, a sync or a cut',
  'failing-calls': 'G4 a disk that fails leaves the state before, and one line that says so',
  'size-limit': 'G3 so does the limit of file sizes',
  'full-disk': 'G3 so does a full disk',
  readers: 'G21 an answer during imports is wholly of one of them',
  turns: 'G8 G10 G20 imports take turns; interrupted ones and cut archives change nothing',
  backups: 'a backup that is taken during imports is a state between two of them',
  'postgres-kills': 'G1 an import into PostgreSQL that is ended on either side leaves no half',
  'postgres-crashes': 'G1 so does one whose PostgreSQL crashes, and it says what became of it',
  'postgres-turns':
    'G8 G10 imports into PostgreSQL take turns, and one that ends holds up no other',
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
