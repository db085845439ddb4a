// An import without --source whose companies are another source's is probably that source's.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { changeResource } from '../../src/resources/index.ts'
import { importRows, makeFolder, queryValue } from '../support/import-rows.ts'

const companies = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, n) => ({ jurisdiction: 'GB', identifier: `${from + n}` }))

const rights = (from: number, to: number) =>
  companies(from, to).map(({ jurisdiction, identifier }) => ({
    ...{ company_jurisdiction: jurisdiction, company_identifier: identifier, key: identifier },
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
  test(`${target} of which another source has most companies are warned of`, async (t) => {
    const db = join(makeFolder(t), 'test.db')
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

  test(`${target} of a new source are warned of if its name is almost that of theirs`, async (t) => {
    const db = join(makeFolder(t), 'test.db')
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

test('the changes that Dossier has recorded are no source that was forgotten', async (t) => {
  const db = join(makeFolder(t), 'test.db')
  for (const [town, asOf] of [
    ['Leeds', '2025-01-01T00:00:00Z'],
    ['York', '2025-02-01T00:00:00Z'],
  ] as const) {
    const rows = companies(0, 3).map((company) => ({ ...company, town }))
    await importRows(db, 'companies', rows, { source: 'sec', asOf, recordIn: changeResource })
  }
  const events = companies(0, 3).map(({ jurisdiction, identifier }) => ({
    ...{ company_jurisdiction: jurisdiction, company_identifier: identifier },
    ...{ date: '2024-01-01', attr: 'town', key: identifier },
  }))
  assert.deepEqual(await warnings(db, 'events', events), [])
})
