// The campaigns of `torture/` in a short form.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { campaignsOf } from '../../torture/campaigns.ts'
import { makeFolder } from '../support/import-rows.ts'
import { runShort } from '../support/short-campaign.ts'
import { storeKind } from '../support/store-at.ts'

const rules: Readonly<Record<string, string>> = {
  kills: 'a killed import leaves the previous state or the state after (G1)',
  'kills-at-calls':
    'an import killed at a write, sync or truncation leaves the state before or after (G2)',
  'failing-calls': 'a disk failure leaves the state before, and is reported in one line (G4)',
  'size-limit': 'reaching the file size limit leaves the state before, and is reported (G3)',
  'full-disk': 'a full disk leaves the state before, and is reported in one line (G3)',
  readers: 'an answer during imports is entirely from one of them (G21)',
  turns:
    'imports take turns; interrupted ones and truncated archives change nothing (G8, G10, G20)',
  backups: 'a backup taken during imports is a state between two of them',
  restore: 'a killed restore leaves the replaced store or the restored one',
  withholding: 'a withholding that is killed, or fails, leaves a store that agrees with its list',
  'withheld-moves':
    'a killed import that finds a withheld person elsewhere leaves a store that agrees with its list',
  canaries: 'whatever is imported, taken back and restored, nothing shows what is withheld',
  exporting: 'an export that is killed, or fails, leaves a whole copy or none, and no rests',
  'postgres-kills': 'an import into PostgreSQL ended on either side leaves nothing partial (G1)',
  'postgres-crashes':
    'a PostgreSQL crash leaves no partial import, and the outcome is reported (G1)',
  'postgres-turns':
    'imports into PostgreSQL take turns, and one that ends blocks no other (G8, G10)',
  'postgres-canaries':
    'whatever is imported into PostgreSQL, and taken back, nothing shows what is withheld',
  'postgres-withheld-moves':
    'a killed import into PostgreSQL that finds a withheld person elsewhere leaves none of it shown',
}

// Shared, so that the states before and after are made once.
const folder = makeFolder({ after })

// One first load and one update are killed.
const extent = { kills: 1, rows: 500 }

for (const [name, campaign] of Object.entries(campaignsOf[storeKind])) {
  test(`${rules[name]} (${name})`, (t) => runShort(t, campaign, { ...extent, folder }))
}

test('every campaign has a rule', () => {
  const names = [...Object.keys(campaignsOf.sqlite), ...Object.keys(campaignsOf.postgres)]
  assert.deepEqual(Object.keys(rules).sort(), names.sort())
})
