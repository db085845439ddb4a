// Changes between two extracts of real registers, compared with figures measured in the files
// by other means.

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { changeResource } from '../../src/resources/index.ts'
import { changesIn } from '../support/history.ts'
import { importInto, makeFolder } from '../support/import-rows.ts'
import { checkSound } from '../support/verify-store.ts'

const data = resolve(import.meta.dirname, '../../../shared/data')
const skip = existsSync(data) ? false : 'the real data (../shared/data) is not beside this checkout'
const mappings = resolve(import.meta.dirname, '../../mappings')

interface Register {
  readonly mapping: string
  readonly file: (day: string) => string
}

const datenanfragen: Register = {
  mapping: 'datenanfragen-companies',
  file: (day) => `datenanfragen_companies/companies-${day}.ndjson.gz`,
}
const sp500: Register = {
  mapping: 'sp500-constituents',
  file: (day) => `sp500_constituents/constituents-${day}.csv`,
}

async function importDay(db: string, { mapping, file }: Register, day: string) {
  const report = await importInto(db, 'companies', [join(data, file(day))], {
    mapping: readFileSync(join(mappings, `${mapping}.sql`), 'utf8'),
    isSnapshot: true,
    asOf: `${day}T00:00:00Z`,
    recordIn: changeResource,
  })
  assert.ok(report.version !== undefined)
  return report.counts
}

/** Two extracts; how many companies are in both, changed, new and gone; changes by attribute. */
type Pair = readonly [
  register: Register,
  from: string,
  to: string,
  companies: readonly [both: number, changed: number, appeared: number, gone: number],
  changes: Readonly<Record<string, number>>,
]

/** Of each register its greatest change. */
const pairs: readonly Pair[] = [
  [
    datenanfragen,
    '2024-12-18',
    '2026-07-21',
    [2_889, 906, 180, 65],
    { name: 169, address: 272, email: 223, phone: 679, fax: 484, web: 119 },
  ],
  [
    sp500,
    '2023-05-22',
    '2024-03-29',
    [487, 84, 13, 13],
    { name: 13, address: 9, sector: 3, sub_industry: 43, symbols: 6, date_added: 14, founded: 9 },
  ],
]

for (const [register, from, to, companies, changes] of pairs) {
  const [both, changed, appeared, gone] = companies
  const title = `${register.mapping} ${from} → ${to}: ${changed} of ${both} companies changed`
  test(title, { skip }, async (t) => {
    const db = join(makeFolder(t), 'registry.db')
    await importDay(db, register, from)
    assert.deepEqual(changesIn(db), [])
    const counts = await importDay(db, register, to)
    assert.deepEqual(
      [counts.updated + counts.unchanged, counts.updated, counts.inserted, counts.removed],
      [both, changed, appeared, gone],
    )
    const byAttr = Map.groupBy(changesIn(db), ({ attr }) => attr)
    const told = Object.fromEntries([...byAttr].map(([attr, list]) => [attr, list.length]))
    assert.deepEqual(told, { ...changes, register_entry: gone })
    await checkSound(db)
    // Of a register of a few hundred companies this takes no time.
    if (register !== sp500) return
    const again = await importDay(db, register, to)
    assert.deepEqual(
      [again.inserted, again.updated, again.removed, again.recorded],
      [0, 0, 0, 0],
      'the same extract twice changes nothing',
    )
  })
}

test('us_plum_book 2012 → 2016: renumbered persons are not a change', { skip }, async (t) => {
  const db = join(makeFolder(t), 'registry.db')
  for (const year of ['2012', '2016']) {
    const file = join(data, `us_plum_book/positions-${year}.csv.gz`)
    await importInto(db, 'employees', [file], {
      mapping: readFileSync(join(mappings, 'us-plum-book.sql'), 'utf8'),
      source: 'plum-book',
      isSnapshot: true,
      asOf: `${year}-12-01T00:00:00Z`,
      recordIn: changeResource,
    })
  }
  const changes = changesIn(db)
  assert.ok(changes.length > 1_000)
  for (const { attr, before, after } of changes) {
    assert.equal(attr, 'officers')
    assert.notEqual(before, after)
  }
  const moved = changes.filter(({ before, after }) => before !== null && after !== null)
  assert.ok(moved.length > 10)
  for (const { before, after } of moved) {
    assert.equal(before?.split(', ')[0], after?.split(', ')[0], 'the same person')
  }
  await checkSound(db)
})
