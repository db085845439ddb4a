// Imports: accepted and refused input, and reports.

import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { OperatorError } from '../../src/config/operator-error.ts'
import { importInto, importRows, makeFolder, query, queryValue } from '../support/import-rows.ts'
import { readSaid } from '../support/said.ts'
import { aboveStores } from '../support/store-at.ts'
import { storeDigest } from '../support/store-state.ts'

const above = { skip: aboveStores }
const csv = 'id,company_id,name\n1,7,one\n2,7,"two, with ""quotes""\nand a line"\n'
const ndjson = '{"id":1,"company_id":7,"name":"one"}\n\n{"id":2,"company_id":7,"name":"two"}'

function folderWith(t: Parameters<typeof makeFolder>[0], files: Record<string, string | Buffer>) {
  const folder = makeFolder(t)
  for (const [name, bytes] of Object.entries(files)) writeFileSync(join(folder, name), bytes)
  return { db: join(folder, 'test.db'), path: (name: string) => join(folder, name) }
}

const sources: Readonly<Record<string, string | Buffer>> = {
  'a.csv': csv,
  'crlf.csv': `\uFEFF${csv.replaceAll('\n', '\r\n')}`,
  'a.tsv': 'id\tcompany_id\tname\n1\t7\tone\n2\t7\ttwo\n',
  'semicolon.csv': 'id;company_id;name\n1;7;one\n2;7;two, three\n',
  'a.csv.gz': gzipSync(csv),
  'a.csv.zst': zstdCompressSync(csv),
  'a.ndjson': ndjson,
  'crlf.jsonl': `\uFEFF${ndjson.replaceAll('\n', '\r\n')}\r\n`,
  'a.ndjson.gz': gzipSync(ndjson),
  'a.ndjson.zst': zstdCompressSync(ndjson),
  'array.json':
    ' [ {"id":1,"company_id":7,"name":"[one]"} ,\n{"id":2,"company_id":7,"name":"},\\"{"}]\n',
  'lines.json': ndjson,
}

for (const [name, bytes] of Object.entries(sources)) {
  test(`${name} is read as two records`, above, async (t) => {
    const { db, path } = folderWith(t, { [name]: bytes })
    const report = await importInto(db, 'rights', [path(name)])
    assert.deepEqual(report.problems, [])
    assert.equal(report.counts.inserted, 2)
    assert.equal(queryValue(db, "select count(*) from rights_view where name like '%one%'"), 1)
  })
}

test('several files and a glob are one import, each file once', async (t) => {
  const line = (id: number) => `{"id":${id},"company_id":7}\n`
  const { db, path } = folderWith(t, {
    'b1.ndjson': line(1),
    'b2.ndjson': line(2),
    'c.ndjson': line(3),
  })
  const report = await importInto(db, 'rights', [
    path('b*.ndjson'),
    path('c.ndjson'),
    path('b1.ndjson'),
  ])
  assert.equal(report.counts.inserted, 3)
  assert.equal(report.files.length, 3)
})

test('a mapping is a SELECT over the view source that keeps the location of a row', async (t) => {
  const { db, path } = folderWith(t, { 'x.csv': 'Nr,Firm,Paid\nA-1,77,15\nA-2,78,15.45\n' })
  const mapping = `select "Nr" as key, 'DE' as company_jurisdiction, "Firm" as company_identifier,
    "Paid" as salary_from, source_file, source_row from source; -- the end`
  const rejected: unknown[] = []
  const report = await importInto(db, 'jobs', [path('x.csv')], {
    mapping,
    onRejected: (row) => rejected.push(row),
  })
  assert.equal(report.counts.inserted, 1)
  assert.deepEqual(report.problems, [
    {
      file: path('x.csv'),
      unit: 'row',
      number: 2,
      field: 'salary_from',
      value: '"15.45"',
      reason: 'must be an integer in plain digits',
    },
  ])
  assert.equal(rejected.length, 1)
})

const broken: Readonly<Record<string, readonly [bytes: string | Buffer, says: RegExp]>> = {
  'cut.csv.gz': [gzipSync(csv.repeat(99)).subarray(0, 60), /ends too early.*truncated/],
  'cut.ndjson.zst': [zstdCompressSync(Buffer.from(ndjson.repeat(999))).subarray(0, 60), /zst/],
  'no.csv.gz': [Buffer.from([1, 2, 3]), /not a valid gzip file/],
  'latin1.csv': [Buffer.from('id,name\n1,ok\n2,\xe9\n', 'latin1'), /line 3 is not valid UTF-8/],
  'open.csv': ['id,company_id\n1,"7\n2,7\n', /line 2: a quote is not closed/],
  'typo.csv': ['id,compny_id\n1,7\n', /compny_id \(did you mean company_id\?\)/],
  'twice.csv': ['id,name,NAME\n1,x,y\n', /has name and NAME, which are one name/],
  'empty.csv': ['', /is empty/],
  'cut.json': ['[{"id":1,"company_id":7},', /ends in the middle of its JSON array/],
  'bracket.json': ['[{"id":1,"company_id":7}}', /wrong bracket/],
  'more.json': ['[{"id":1,"company_id":7}] x', /has content after the end/],
  'no.parquet': ['', /too small to be a Parquet file$/],
  'all.csv.zip': ['', /is not a sound zip archive/],
  'all.csv.bz2': ['', /decompress it first, or: bzip2 -dc \S+all\.csv\.bz2 \| dossier import … -/],
  'what.xyz': ['', /unknown format/],
}

for (const [name, [bytes, says]] of Object.entries(broken)) {
  test(`${name}: gives a clear error and loads nothing (G10, G13)`, above, async (t) => {
    const { db, path } = folderWith(t, { [name]: bytes })
    await assert.rejects(importInto(db, 'rights', [path(name)]), (error: unknown) => {
      assert.ok(error instanceof OperatorError, String(error))
      assert.match(error.message, says)
      assert.ok(!error.message.includes('\n'))
      return true
    })
    const missing = await importRows(db, 'rights', [{ id: 1, company_id: 1 }])
    assert.equal(missing.version, 1, 'no version before it')
  })
}

test('a missing file, a folder and a glob without a match are reported', async (t) => {
  const { db, path } = folderWith(t, {})
  mkdirSync(path('sub'))
  await assert.rejects(importInto(db, 'rights', [path('no.csv')]), /does not exist/)
  await assert.rejects(importInto(db, 'rights', [path('sub')]), /is a folder/)
  await assert.rejects(importInto(db, 'rights', [path('*.csv')]), /no file matches/)
})

test('a missing identifier column of companies is reported before any row', async (t) => {
  const { db, path } = folderWith(t, { 'x.csv': 'jurisdiction,number\nGB,1\nGB,2\n' })
  await assert.rejects(importInto(db, 'companies', [path('x.csv')]), (error) => {
    assert.ok(error instanceof OperatorError)
    assert.match(
      error.message,
      /has no column identifier; it has .*; a mapping \(--map\) can supply it: select/,
    )
    return true
  })
})

/** Refused lines, with the field, if any, and part of the reason. */
const refused: readonly (readonly [line: string, field: string | undefined, says: RegExp])[] = [
  ['{"id":1,"company_id":7,"salary_from":15.45}', 'salary_from', /integer/],
  ['{"id":1,"company_id":7,"salary_from":"1e3"}', 'salary_from', /integer/],
  ['{"id":1,"company_id":7,"salary_from":9007199254740992}', 'salary_from', /2\^53/],
  ['{"id":1,"company_id":7,"title":12}', 'title', /text/],
  ['{"id":1,"company_id":7,"title":"\\ud800"}', 'title', /surrogate/],
  ['{"id":1,"company_id":7,"title":"a\\u0000"}', 'title', /NUL/],
  [`{"id":1,"company_id":7,"title":"${'é'.repeat(32_769)}"}`, 'title', /65,536 bytes/],
  ['{"id":1,"company_id":7,"created_at":"2023-02-29"}', 'created_at', /does not exist as a date/],
  ['{"id":1,"company_id":7,"created_at":"soon"}', 'created_at', /date/],
  ['{"id":1,"company_id":7,"tilte":"x"}', 'tilte', /did you mean title/],
  ['{"id":0,"company_id":7}', 'id', /1 or greater/],
  ['{"id":1,"key":"x","company_id":7}', 'key', /both/],
  ['{"id":1}', undefined, /names no company/],
  [
    '{"id":1,"company_jurisdiction":"GB"}',
    'company_identifier',
    /needs both jurisdiction and identifier/,
  ],
  ['{"id":1,"company_id":7', undefined, /not valid JSON/],
  ['[1]', undefined, /JSON object/],
  ['{"__proto__":{"id":1}}', '__proto__', /not a known column/],
]

for (const [line, field, says] of refused) {
  // Some text a PostgreSQL cannot store, not even where refused rows are staged.
  const options = /\\u/.test(line) ? {} : above
  test(`refused: ${line.slice(0, 60)} (G13, G14)`, options, async (t) => {
    const good = '{"id":100,"company_id":7}\n'
    const { db, path } = folderWith(t, { 'x.ndjson': `${good}${line}\n` })
    const report = await importInto(db, 'jobs', [path('x.ndjson')])
    assert.equal(report.version, undefined, 'nothing is loaded')
    const [problem] = report.problems
    assert.equal(problem?.number, 2)
    assert.equal(problem.field, field)
    assert.match(problem.reason, says)
    assert.ok((problem.value ?? '').length <= 81)
    const others = await importInto(db, 'jobs', [path('x.ndjson')], { onRejected: () => undefined })
    assert.equal(others.version, 1)
    assert.deepEqual([others.counts.inserted, others.counts.refused], [1, 1])
  })
}

test('the first 20 problems are reported, with their total', async (t) => {
  const { db } = folderWith(t, {})
  const rows = Array.from({ length: 30 }, (_, n) => ({ id: -n, company_id: 7 }))
  const report = await importRows(db, 'rights', rows)
  assert.equal(report.problems.length, 20)
  assert.equal(report.counts.refused, 30)
})

test('a key gets its id again, even if the record was removed in between', async (t) => {
  const { db } = folderWith(t, {})
  const idOf = () => queryValue(db, "select id from rights_view where name = 'kept'")
  const kept = { key: 'K', company_jurisdiction: 'GB', company_identifier: '1', name: 'kept' }
  const other = { ...kept, key: 'O', name: 'other' }
  await importRows(db, 'rights', [other, kept])
  const id = idOf()
  assert.equal(id, 1_000_000_000_002)
  await importRows(db, 'rights', [other], { isSnapshot: true })
  assert.equal(idOf(), undefined)
  await importRows(db, 'rights', [{ ...kept, status: 'back' }])
  assert.equal(idOf(), id)
})

test('without id and key, the content identifies a record', async (t) => {
  const { db } = folderWith(t, {})
  const rows = [
    { company_id: 1, name: 'a' },
    { company_id: 2, name: 'a' },
    { company_id: 1, name: 'b' },
  ]
  assert.equal((await importRows(db, 'rights', rows)).counts.inserted, 3)
  assert.equal((await importRows(db, 'rights', rows)).counts.unchanged, 3)
  assert.equal(queryValue(db, 'select count(distinct id) from rights_view'), 2)
})

test('an update of a record of several companies reaches all its listings', async (t) => {
  const { db } = folderWith(t, {})
  const right = { id: 5, name: 'old', holders: ['A', 'B'] }
  await importRows(db, 'rights', [
    { company_id: 1, ...right },
    { company_id: 2, ...right },
  ])
  const report = await importRows(db, 'rights', [{ company_id: 1, ...right, name: 'new' }])
  assert.equal(report.counts.updated, 1)
  assert.deepEqual(
    query(db, 'select company_id, name from rights_view').map((row) => Object.values(row)),
    [
      [1, 'new'],
      [2, 'new'],
    ],
  )
})

test('duplicates are refused unless they are equal (G12)', async (t) => {
  const { db } = folderWith(t, {})
  const row = { id: 1, company_id: 7, name: 'a' }
  const rows = [row, row, { ...row, name: 'b' }]
  const report = await importRows(db, 'rights', rows, { onRejected: () => undefined })
  const { read, inserted, unchanged, refused: refusals } = report.counts
  assert.deepEqual([read, inserted, unchanged, refusals], [3, 1, 1, 1])
  assert.match(report.problems[0]?.reason ?? '', /given before with other content, in line 1/)
  assert.equal(report.problems[0]?.number, 3)
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
  assert.deepEqual(
    told,
    rows.slice(1).map((row) => ({ ...row, ...blank, holders: [] })),
  )
  const company = { id: 8, jurisdiction: 'GB', identifier: '7', note: ['m'] }
  await importRows(db, 'companies', [company], { onRejected })
  assert.deepEqual(rejected.at(-1)?.row, company)
  const repeated = await importRows(db, 'rights', [{ ...(told[0] as object), key: 'L' }])
  assert.equal(repeated.counts.inserted, 1)
})

test('two sources never touch each other’s records', async (t) => {
  const { db } = folderWith(t, {})
  await importRows(db, 'rights', [{ id: 1, company_id: 7, name: 'a' }], { source: 'a' })
  const stolen = await importRows(db, 'rights', [{ id: 1, company_id: 7, name: 'b' }], {
    source: 'b',
  })
  assert.match(stolen.problems[0]?.reason ?? '', /belongs to a record of the source a/)
  await importRows(db, 'rights', [{ id: 2, company_id: 7 }], { source: 'b', isSnapshot: true })
  assert.equal(queryValue(db, 'select count(*) from rights_view'), 2)
})

test('a snapshot removes missing records, treats refused ones as present, and must not be empty', async (t) => {
  const { db } = folderWith(t, {})
  const row = (id: number, name: unknown) => ({ id, company_id: 7, name })
  await importRows(db, 'rights', [row(1, 'a'), row(2, 'b'), row(3, 'c')])
  const options = { isSnapshot: true, onRejected: () => undefined }
  const report = await importRows(db, 'rights', [row(1, 'a'), row(2, 12)], options)
  assert.deepEqual([report.counts.removed, report.counts.refused], [1, 1])
  assert.deepEqual(
    query(db, 'select id from rights_view order by id').map(({ id }) => id),
    [1, 2],
  )
  await assert.rejects(importRows(db, 'rights', [], options), /the snapshot has no rows/)
})

test('companies have one id per identifier, one identifier per id, and attributes by source', async (t) => {
  const { db } = folderWith(t, {})
  const company = { jurisdiction: 'GB', identifier: '1', name: 'One', tags: ['x'], none: ' ' }
  await importRows(db, 'companies', [company, { ...company, identifier: '2', id: 42 }])
  assert.equal(queryValue(db, "select id from companies where identifier = '1'"), 1_000_000_000_001)
  assert.equal(
    (await readSaid(db)).find((said) => said.company_id === 42)?.attributes,
    '{"name":"One","tags":["x"]}',
  )
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
    'is GB 2 in the registry',
    'is required',
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

test('timestamps become UTC with the precision of their field', async (t) => {
  const { db } = folderWith(t, {})
  const forms: readonly (readonly [string, string, string])[] = [
    ['2024-02-29', '2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
    ['2024-05-31 12:30', '2024-05-31T12:30:00Z', '2024-05-31T12:30:00.000Z'],
    ['2024-05-31T23:30:01.987654-02:00', '2024-06-01T01:30:01Z', '2024-06-01T01:30:01.987Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
  ]
  const rows = forms.map(([given], n) => {
    return { id: n + 1, company_id: 7, registration_date: given, created_at: given }
  })
  await importRows(db, 'rights', rows)
  assert.deepEqual(
    query(db, 'select registration_date as d, created_at as c from rights_view').map(({ d, c }) => [
      d,
      c,
    ]),
    forms.map(([, seconds, milliseconds]) => [seconds, milliseconds]),
  )
})
