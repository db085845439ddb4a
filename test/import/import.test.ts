// Imports: accepted and refused input, and reports.

import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { folderWith } from '../support/import-folder.ts'
import { importRows, makeFolder, queryStore, queryValue } from '../support/import-rows.ts'
import { readSaid } from '../support/said.ts'
import { storeDigest } from '../support/store-state.ts'

test('several files and a glob are one import, each file once', async (t) => {
  const line = (id: number) => `{"id":${id},"company_id":7}\n`
  const { load } = folderWith(t, {
    'b1.ndjson': line(1),
    'b2.ndjson': line(2),
    'c.ndjson': line(3),
  })
  const report = await load('rights', ['b*.ndjson', 'c.ndjson', 'b1.ndjson'])
  assert.equal(report.counts.inserted, 3)
  assert.equal(report.files.length, 3)
})

test('a mapping is a SELECT over the view source that keeps the location of a row', async (t) => {
  const { folder, load } = folderWith(t, { 'x.csv': 'Nr,Firm,Paid\nA-1,77,15\nA-2,78,15.45\n' })
  const mapping = `select "Nr" as key, 'DE' as company_jurisdiction, "Firm" as company_identifier,
    "Paid" as salary_from, source_file, source_row from source; -- the end`
  const rejected: unknown[] = []
  const report = await load('jobs', ['x.csv'], {
    mapping,
    onRejected: (row) => rejected.push(row),
  })
  assert.equal(report.counts.inserted, 1)
  assert.deepEqual(JSON.parse(JSON.stringify(report.problems)) as unknown, [
    {
      file: join(folder, 'x.csv'),
      unit: 'row',
      number: 2,
      field: 'salary_from',
      value: '"15.45"',
      reason: 'must be an integer in plain digits',
    },
  ])
  assert.equal(rejected.length, 1)
})

test('a missing file, a folder and a glob without a match are reported', async (t) => {
  const { folder, load } = folderWith(t, {})
  mkdirSync(join(folder, 'sub'))
  // The name may be empty, of a variable of a shell that is not set.
  await assert.rejects(load('rights', ['no such.csv']), /: '.*such\.csv' does not exist/)
  await assert.rejects(load('rights', ['sub']), /is a folder/)
  await assert.rejects(load('rights', ['*.csv']), /no file matches/)
})

test('a row that the store refuses is reported in the columns of the source, and can be corrected', async (t) => {
  const { db } = folderWith(t, {})
  const rows = [
    { key: 'K', company_id: 7, name: 'a' },
    { key: 'K', company_id: 7, name: 'b' },
    { company_jurisdiction: 'GB', company_identifier: '9', name: 'c' },
    { id: 5, company_id: 8, company_jurisdiction: 'GB', company_identifier: '7', name: 'd' },
  ]
  await importRows(db, 'companies', [{ id: 7, jurisdiction: 'GB', identifier: '7', note: 'n' }])
  const rejected: { row: unknown }[] = []
  const onRejected = (row: { row: unknown }) => rejected.push(row)
  await importRows(db, 'rights', rows, { knownCompaniesOnly: true, onRejected })
  const blank = Object.fromEntries(
    ['jurisdiction', 'object_type', 'status', 'registration_number', 'registration_date']
      .concat('application_date', 'created_at', 'updated_at')
      .map((name) => [name, null]),
  )
  const told = rejected.map(({ row }) => row)
  const expected = rows.slice(1).map((row) => ({ ...row, ...blank, holders: [] }))
  assert.deepEqual(told, expected)
  const company = { id: 8, jurisdiction: 'GB', identifier: '7', note: ['m'] }
  await importRows(db, 'companies', [company], { onRejected })
  assert.deepEqual(rejected.at(-1)?.row, company)
  const repeated = await importRows(db, 'rights', [{ ...(told[0] as object), key: 'L' }])
  assert.equal(repeated.counts.inserted, 1)
})

test('companies have one id per identifier, one identifier per id, and attributes by source', async (t) => {
  const { db } = folderWith(t, {})
  const company = { jurisdiction: 'GB', identifier: '1', name: 'One', tags: ['x'], none: ' ' }
  await importRows(db, 'companies', [company, { ...company, identifier: '2', id: 42 }])
  assert.equal(queryValue(db, "select id from companies where identifier = '1'"), 1_000_000_000_001)
  const said = (await readSaid(db)).find((said) => said.company_id === 42)?.attributes
  assert.equal(said, '{"name":"One","tags":["x"]}')
  const again = await importRows(db, 'companies', [{ ...company, name: 'Uno' }], { source: 'b' })
  assert.equal(again.counts.inserted, 1)
  const clash = await importRows(db, 'companies', [
    { ...company, id: 43 },
    { ...company, identifier: '3', id: 42 },
    { jurisdiction: 'GB' },
  ])
  assert.equal(clash.version, undefined)
  assert.deepEqual(clash.problems.map(({ reason }) => reason).sort(), [
    'GB 1 is company 1000000000001',
    'is GB 2 in the registry; a company keeps its number: correct it, or leave out the id',
    'is required',
  ])
})

test('a refused row gives no company its register number', async (t) => {
  const db = join(makeFolder(t), 'test.db')
  await importRows(db, 'jobs', [
    { id: 1, company_id: 1 },
    { id: 2, company_id: 3 },
  ])
  const named = (id: number, company: number) => ({
    id,
    company_id: company,
    company_jurisdiction: 'GB',
    company_identifier: `n${company}`,
  })
  const { counts } = await importRows(
    db,
    'jobs',
    // The id 1 belongs to the other source.
    [named(1, 3), { id: 11, company_id: 3 }, named(1, 4), { id: 12, company_id: 4 }, named(13, 5)],
    { source: 'other', onRejected: () => undefined },
  )
  assert.equal(counts.refused, 2)
  const known = await queryStore(db, 'select id, identifier from companies order by id')
  const told = known.map(({ id, identifier }) => [Number(id), identifier])
  assert.deepEqual(told, [
    [1, null],
    [3, null],
    [4, null],
    [5, 'n5'],
  ])
})

test('the unknown company of a record is created and counted, or refused with --known-companies-only (G12)', async (t) => {
  const { db } = folderWith(t, {})
  const rows = [
    { id: 1, company_jurisdiction: 'GB', company_identifier: '9' },
    { id: 2, company_id: 5 },
  ]
  const known = await importRows(db, 'rights', rows, { knownCompaniesOnly: true })
  assert.equal(known.counts.refused, 2)
  assert.match(known.problems[0]?.reason ?? '', /not in the registry/)
  assert.equal((await importRows(db, 'rights', rows)).counts.companiesCreated, 2)
  const named = await importRows(db, 'companies', [{ id: 5, jurisdiction: 'GB', identifier: '5' }])
  assert.equal(named.counts.inserted, 1)
  assert.equal(queryValue(db, 'select identifier from companies where id = 5'), '5')
})

test('a dry run checks everything and changes nothing', async (t) => {
  const { db } = folderWith(t, {})
  await importRows(db, 'rights', [{ id: 1, company_id: 7, name: 'a' }])
  const before = await storeDigest(db)
  const rows = [
    { id: 1, company_id: 7, name: 'b' },
    { id: 2, company_id: 8 },
  ]
  const report = await importRows(db, 'rights', rows, { isDryRun: true })
  assert.deepEqual([report.counts.updated, report.counts.inserted], [1, 1])
  assert.equal(report.version, undefined)
  assert.equal(await storeDigest(db), before)
})
