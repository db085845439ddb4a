// Changes between two extracts of real registers, compared with figures measured in the files
// by other means.

import assert from 'node:assert/strict'
import { copyFileSync, existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { after, test } from 'node:test'
import { changeResource } from '../../src/resources/index.ts'
import { openStoreReader } from '../../src/store/open-store.ts'
import { textOf as recordsText } from '../../src/store/record-texts.ts'
import { changesIn } from '../support/history.ts'
import { importInto, makeFolder, query } from '../support/import-rows.ts'
import { readSaid } from '../support/said.ts'
import { storeAt } from '../support/store-at.ts'
import { checkSound } from '../support/verify-store.ts'
import { wholeListing } from '../../src/store/selection.ts'

const data = resolve(import.meta.dirname, '../../../shared/data')
const skip = existsSync(data) ? false : 'the real data (../shared/data) is not beside this checkout'
const mappings = resolve(import.meta.dirname, '../../mappings')
// DOSSIER_TEST_DATA=all for the long form: the extracts of the largest register in a row, too.
const isLong = process.env['DOSSIER_TEST_DATA'] === 'all'

interface Register {
  readonly mapping: string
  readonly file: (day: string) => string
}

const sec: Register = {
  mapping: 'sec-company-tickers',
  file: (day) => `sec_company_tickers/tickers-${day}.csv`,
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

const folderOfDays = makeFolder({ after })
const storesOfDays = new Map<string, Promise<string>>()

/** A store that has only the extract of a day; several tests begin with its copy. */
function storeOfDay(register: Register, day: string): Promise<string> {
  const db = join(folderOfDays, `${register.mapping}-${day}.db`)
  const known = storesOfDays.get(db) ?? importDay(db, register, day).then(() => db)
  storesOfDays.set(db, known)
  return known
}

/** A copy of the store of a day. */
async function copyOfDay(t: Parameters<typeof makeFolder>[0], register: Register, day: string) {
  const db = join(makeFolder(t), 'registry.db')
  copyFileSync(await storeOfDay(register, day), db)
  return db
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
    sec,
    '2021-12-26',
    '2023-01-31',
    [8_180, 1_625, 656, 1_350],
    { name: 403, tickers: 1_145, exchanges: 885 },
  ],
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
    const db = await copyOfDay(t, register, from)
    assert.deepEqual(changesIn(db), [])
    const counts = await importDay(db, register, to)
    assert.deepEqual(
      [counts.updated + counts.unchanged, counts.updated, counts.inserted, counts.removed],
      [both, changed, appeared, gone],
    )
    const byAttr = Map.groupBy(changesIn(db), ({ attr }) => attr)
    const told = Object.fromEntries([...byAttr].map(([attr, list]) => [attr, list.length]))
    assert.deepEqual(told, { ...changes, register_entry: gone })
    const again = await importDay(db, register, to)
    assert.deepEqual(
      [again.inserted, again.updated, again.removed, again.recorded],
      [0, 0, 0, 0],
      'the same extract twice changes nothing',
    )
  })
}

const days: readonly (readonly [Register, readonly string[]])[] = [
  // The longest of them, in the long form: S&P 500 has lists of texts, too.
  ...(isLong
    ? [[sec, ['2021-12-26', '2023-01-31', '2024-02-29', '2025-02-27', '2025-02-28']] as const]
    : []),
  [datenanfragen, ['2020-12-31', '2022-12-30', '2024-12-18', '2026-07-21']],
  [sp500, ['2023-05-22', '2024-03-29', '2025-03-28', '2026-03-28', '2026-08-08']],
]

/** The mapping's attributes of each company of an extract, as texts. */
async function statesOn(register: Register, day: string) {
  const db = await storeOfDay(register, day)
  const rows = await readSaid(db)
  return new Map(
    rows.map(({ identifier, attributes }) => [
      String(identifier),
      new Map(
        Object.entries(JSON.parse(attributes) as Record<string, unknown>).map(([attr, value]) => [
          attr,
          textOf(value),
        ]),
      ),
    ]),
  )
}

// The attributes of these registers are texts and lists of texts.
function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  assert.ok(Array.isArray(value))
  return [...new Set(value as string[])].sort().join('; ')
}

/** How many companies are asked for a listing of a day. */
const askedMax = 300

/** The changes served of companies that have some, or of those asked for; at a day, if given. */
async function servedChanges(db: string, day?: string, asked?: Iterable<number>) {
  const store = await openStoreReader(storeAt(db))
  const found =
    day === undefined ? undefined : await store.findVersion(changeResource, { asOf: day })
  assert.ok(found === undefined || 'version' in found)
  const version = found?.version
  const known = query(db, `select distinct company_id from ${changeResource.name}_view`)
  const ids = asked ?? known.map((row) => Number(row['company_id']))
  const listings = new Map<number, string>()
  for (const companyId of [...ids].slice(0, askedMax)) {
    const selection = { ...wholeListing(changeResource, companyId), version }
    const page = await store.readPage(selection, 0, 1_000)
    if (page !== undefined && !('outside' in page))
      listings.set(companyId, recordsText(page.records))
  }
  await store.close()
  return listings
}

for (const [register, [firstDay = '', ...laterDays]] of days) {
  const title = `${register.mapping}: the events of all extracts lead from each first state to the last`
  test(title, { skip }, async (t) => {
    const db = await copyOfDay(t, register, firstDay)
    const states = await statesOn(register, firstDay)
    let last = states
    const served = [[firstDay, await servedChanges(db)] as const]
    for (const day of laterDays) {
      last = await statesOn(register, day)
      await importDay(db, register, day)
      served.push([day, await servedChanges(db)])
      for (const [identifier, state] of last) {
        if (!states.has(identifier)) states.set(identifier, new Map(state))
      }
    }
    for (const [day, listings] of served) {
      assert.deepEqual(await servedChanges(db, day, listings.keys()), listings, `as of ${day}`)
    }
    const absent = new Set<string>()
    for (const { identifier, attr, before, after } of changesIn(db)) {
      const state = states.get(identifier ?? '')
      assert.ok(identifier !== null && state)
      if (attr === 'register_entry') {
        assert.equal(absent.has(identifier) ? 'absent' : 'present', before)
        if (after === 'absent') absent.add(identifier)
        else absent.delete(identifier)
      } else {
        assert.equal(state.get(attr) ?? null, before)
        if (after === null) state.delete(attr)
        else state.set(attr, after)
      }
    }
    const present = [...states].filter(([identifier]) => !absent.has(identifier))
    assert.deepEqual(new Map(present), last)
    await checkSound(db)
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
