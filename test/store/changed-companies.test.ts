// What changes tell of companies is what a company's own address says, whatever its sources say
// (contract 8.4, 12.2).

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { openStoreReader } from '../../src/store/open-store.ts'
import { checkWay, readServed } from '../support/follower.ts'
import { importRows, makeFolder } from '../support/import-rows.ts'
import { runStep } from '../support/random-steps.ts'
import { patientBounds, storeAt } from '../support/store-at.ts'

const jurisdiction = 'GB'
const long = 'x'.repeat(9_000)
const named = (id: number, more: object) => ({
  ...{ id, jurisdiction, identifier: String(id), ...more },
})

/** What one source says: names that are hard to find or to copy. */
const odd = [
  named(1, { name: 'Plain Limited', address: 'Quay Street' }),
  named(2, { address: 'without a name' }),
  named(3, { name: 'Ünïcode 雪 😀', city: 'Ærø' }),
  named(4, { name: 'with "quotes" and \\ backslash' }),
  named(5, { name: 'ends with a backslash \\' }),
  named(6, { a: { name: 'inner' }, name: 'outer' }),
  named(7, { a: [{ name: 'inner' }], b: 'only inner ones' }),
  named(8, { a: '{"name":"in a text"}', 'full"name': 'another', name: 'true one' }),
  named(9, { 'full"name': 'another' }),
  named(10, { name: ['a', 'list'] }),
  named(11, { name: '', constructor: 'x' }),
  named(12, { name: 'tab\tand line\nend \u0001 \u007f \u2028', z: { '{': '"' } }),
  { ...named(13, { name: 'its number is odd' }), identifier: 'É"\\13' },
  named(14, { name: long, address: long }),
]

/** The last version: a revert of two sources is two versions. */
const last = 7

test('changes tell of each company what its address says, at every version', async (t) => {
  const db = join(makeFolder(t), 'registry.db')
  await importRows(db, 'rights', [{ id: 1, company_id: 14, name: 'a' }])
  await importRows(db, 'companies', odd)
  const second = { source: 'other', nameAttribute: 'trade "name"', asOf: '2024-01-31T00:00:00Z' }
  const trade = (id: number, name: unknown) => named(id, { 'trade "name"': name, note: long })
  const rows = [trade(1, 'É "two"'), trade(3, null), trade(14, 'two'), trade(20, 'É "one"')]
  await importRows(db, 'companies', rows, second)
  await importRows(db, 'rights', [{ id: 2, company_id: 30, name: 'b' }])
  await runStep(db, { kind: 'revert', versions: 2 }, { day: 1, latest: 4, earliest: 1 })
  await importRows(db, 'companies', [named(1, { name: 'Newer' })], { isSnapshot: true })
  const reader = await openStoreReader(storeAt(db), patientBounds)
  try {
    await nextTurn()
    const ids = Array.from({ length: 40 }, (_, n) => n + 1)
    assert.equal((await reader.readRegistry()).version, last)
    const states = [new Map<string, string>()]
    for (let one = 1; one <= last; one += 1) states.push(await readServed(reader, ids, one))
    for (let since = 0; since <= last; since += 1) {
      for (let until = since; until <= last; until += 1) {
        for (const limit of [3, 1_000]) {
          await checkWay(reader, limit, [since, until], states)
        }
      }
    }
  } finally {
    await reader.close()
  }
})
