// What is recorded when a source is loaded again after `sources remove`: that its data was removed
// here says nothing of its register. And what is probably data of another source.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { importExtract, recordedOn, told } from '../support/history.ts'
import { type ImportOptions, importRows, queryValue } from '../support/import-rows.ts'
import { readSaid } from '../support/said.ts'
import { makeSoundStore } from '../support/verify-store.ts'
import { one, prune, remove, revert } from '../support/write-store.ts'

const asSnapshot = { isSnapshot: true }

describe('companies that are loaded again after their source was removed', () => {
  const a = { identifier: 'a', name: 'A' }
  const b = { identifier: 'b', name: 'B' }

  test('were never absent from the register; what differs since is recorded', async (t) => {
    const db = makeSoundStore(t)
    await importExtract(db, '2025-01-01', [a, b])
    await remove(db, 'companies')
    assert.ok((await readSaid(db)).every((said) => !said.is_present))
    const { counts } = await importExtract(db, '2025-02-01', [a, { ...b, name: 'C' }])
    assert.deepEqual([counts.inserted, counts.recorded], [2, 1])
    assert.deepEqual(told(db), ['b name: B → C'])
    assert.ok((await readSaid(db)).every((said) => said.is_present))
  })

  test('return if a snapshot had lacked them before', async (t) => {
    const db = makeSoundStore(t)
    await importExtract(db, '2025-01-01', [a, b], asSnapshot)
    await importExtract(db, '2025-02-01', [b], asSnapshot)
    await remove(db, 'companies')
    await importExtract(db, '2025-03-01', [a, b], asSnapshot)
    assert.deepEqual(told(db), [
      'a register_entry: present → absent',
      'a register_entry: absent → present',
    ])
  })

  test('were not absent either if they are loaded twice, the first time being reverted', async (t) => {
    const db = makeSoundStore(t)
    await importExtract(db, '2025-01-01', [a])
    await remove(db, 'companies')
    await importExtract(db, '2025-02-01', [{ ...a, name: 'X' }])
    await revert(db, one(3))
    await importExtract(db, '2025-03-01', [{ ...a, name: 'Y' }])
    assert.deepEqual(told(db), ['a name: A → Y'])
  })
})

describe('officers that are loaded again after their source was removed', () => {
  const officer = (key: string, name: string, position = 'Director') => ({
    company_jurisdiction: 'XX',
    company_identifier: 'a',
    key,
    name,
    position,
  })
  const jane = officer('1', 'Jane')
  const john = officer('2', 'John')
  const load = (db: string, day: number, rows: readonly object[], options: ImportOptions = {}) => {
    return importRows(db, 'employees', rows, { ...recordedOn(`2025-01-0${day}`), ...options })
  }

  test('have not joined', async (t) => {
    const db = makeSoundStore(t)
    await load(db, 1, [jane, john])
    await remove(db, 'employees')
    await load(db, 2, [jane, john])
    await load(db, 3, [officer('2', 'John', 'Chair')])
    assert.deepEqual(told(db), ['a officers: John, Director → John, Chair'])
  })

  test('join if they had left before, which was recorded', async (t) => {
    const db = makeSoundStore(t)
    const other = { ...officer('7', 'Eve'), company_identifier: 'b' }
    await load(db, 1, [jane, other], asSnapshot)
    await load(db, 2, [other], asSnapshot)
    await load(db, 3, [jane, john, other], asSnapshot)
    const changes = [
      'a officers: Jane, Director → (none)',
      'a officers: (none) → Jane, Director',
      'a officers: (none) → John, Director',
    ]
    assert.deepEqual(told(db), changes)
    await remove(db, 'employees')
    await prune(db)
    await load(db, 4, [john, other], asSnapshot)
    assert.deepEqual(told(db), changes)
  })
})

const companies = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, n) => ({ jurisdiction: 'GB', identifier: `${from + n}` }))

const rights = (from: number, to: number) =>
  companies(from, to).map(({ jurisdiction, identifier }) => ({
    company_jurisdiction: jurisdiction,
    company_identifier: identifier,
    key: identifier,
  }))

/** Imports, without a source unless one is named; returns the warnings. */
async function warnings(
  db: string,
  target: string,
  rows: readonly object[],
  options: { source?: string; isStrict?: boolean; isDryRun?: boolean } = {},
): Promise<string[]> {
  const all: string[] = []
  const onWarning = (warning: string) => all.push(warning)
  const isSourceAssumed = options.source === undefined
  await importRows(db, target, rows, { isSourceAssumed, onWarning, ...options })
  return all
}

for (const [target, rows] of Object.entries({ companies, rights })) {
  test(`importing ${target} warns if another source has most of the companies`, async (t) => {
    const db = makeSoundStore(t)
    await importRows(db, target, rows(0, 30), { source: 'sec' })
    await importRows(db, target, rows(0, 20), { source: 'other' })
    const says =
      'of the first 40 companies, the source sec has 30 and default has 0; ' +
      'was --source sec forgotten? If not, add --source default'
    assert.deepEqual(await warnings(db, target, rows(0, 40), { isDryRun: true }), [says])
    await assert.rejects(warnings(db, target, rows(0, 40), { isStrict: true }), {
      message: `${says}; nothing was changed`,
    })
    assert.equal(Number(queryValue(db, 'select count(*) from imports')), 2)
    assert.deepEqual(await warnings(db, target, rows(15, 45)), [], 'half of them are not most')
    assert.deepEqual(await warnings(db, target, rows(10, 30)), [], 'they are its own by now')
  })

  test(`importing ${target} warns if the name of a new source resembles an existing one`, async (t) => {
    const db = makeSoundStore(t)
    await importRows(db, target, rows(0, 30), { source: 'reg' })
    await importRows(db, target, rows(0, 30), { source: 'other' })
    const of = (source: string) => ({ source, isDryRun: true })
    const says = (source: string) =>
      'of the first 40 companies, the source reg has 30, ' +
      `and ${source} is a new source; was --source reg meant?`
    for (const source of ['rge', 'Reg', 'regg', 'rog']) {
      assert.deepEqual(await warnings(db, target, rows(0, 40), of(source)), [says(source)])
    }
    for (const source of ['gre', 'register', 'another']) {
      assert.deepEqual(await warnings(db, target, rows(0, 40), of(source)), [])
    }
    assert.deepEqual(await warnings(db, target, rows(15, 45), of('rge')), [], 'half are not most')
    await assert.rejects(warnings(db, target, rows(0, 40), { source: 'rge', isStrict: true }), {
      message: `${says('rge')} Nothing was changed; to begin a new source, leave --strict out`,
    })
    await importRows(db, target, rows(35, 40), { source: 'rge' })
    assert.deepEqual(await warnings(db, target, rows(0, 40), of('rge')), [], 'no longer new')
  })
}

test('the source of recorded changes does not count as a forgotten one', async (t) => {
  const db = makeSoundStore(t)
  for (const [town, day] of [
    ['Leeds', '2025-01-01'],
    ['York', '2025-02-01'],
  ] as const) {
    const rows = companies(0, 3).map((company) => ({ ...company, town }))
    await importRows(db, 'companies', rows, { source: 'sec', ...recordedOn(day) })
  }
  const events = companies(0, 3).map(({ jurisdiction, identifier }) => ({
    company_jurisdiction: jurisdiction,
    company_identifier: identifier,
    date: '2024-01-01',
    attr: 'town',
    key: identifier,
  }))
  assert.deepEqual(await warnings(db, 'events', events), [])
})
