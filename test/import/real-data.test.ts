// Every mapping on its real file, compared with figures measured in that file by other means.
// Of the longest file, every tenth line is imported.

import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { importInto, makePlace, queryValue } from '../support/import-rows.ts'
import { readSaid } from '../support/said.ts'

const data = resolve(import.meta.dirname, '../../../shared/data')
const skip = existsSync(data) ? false : 'the real data (../shared/data) is not beside this checkout'
const mappings = resolve(import.meta.dirname, '../../mappings')
/** Files of fewer rows are imported twice. */
const twiceMax = 2_000

interface Case {
  readonly title: string
  readonly target: string
  readonly file: string
  readonly mapping: string
  readonly isCut?: boolean
  /** read, inserted, unchanged, refused */
  readonly counts: readonly [number, number, number, number]
  /** Queries over the store, and their results. */
  readonly facts: Readonly<Record<string, number | string>>
  /** How many companies have attributes, as text, that satisfy a condition. */
  readonly said?: readonly (readonly [number, (attributes: string) => boolean])[]
}

const attributesOf = (text: string) => JSON.parse(text) as Readonly<Record<string, unknown>>

const isWorking = (text: string) => String(attributesOf(text)['status']).endsWith('生產中')

const eventsBy = (counts: Readonly<Record<string, number>>) =>
  Object.fromEntries(
    Object.entries(counts).map(([attr, count]) => [
      `select count(*) from events_view where attr = '${attr}'`,
      count,
    ]),
  )

const cases: readonly Case[] = [
  {
    title: 'nasa_patents: 1,393 rights by status, 183 + 274 of them without a number',
    target: 'rights',
    file: 'nasa_patents/nasa_patents.csv',
    mapping: 'nasa-patents',
    counts: [1_393, 1_393, 0, 0],
    facts: {
      "select count(*) from rights_view where status = 'Issued'": 924,
      "select count(*) from rights_view where status = 'Application'": 468,
      'select count(*) from rights_view where registration_number is null': 183 + 274,
      "select total from heads h join companies c on c.id = company_id where identifier like '%Langley%'": 349,
    },
  },
  {
    title: 'lens_drone_patents: 9,068 patents with applicants, 1,707 of them with several',
    target: 'rights',
    file: 'lens_drone_patents/patents.csv.gz',
    mapping: 'lens-patents',
    // 13,259 pairs of patent and applicant; 17 name the same applicant twice.
    counts: [13_259, 13_242, 17, 0],
    facts: {
      'select count(distinct id) from rights_view': 9_071 - 3,
      'select count(*) from companies': 7_043,
      "select count(distinct id) from rights_view where jurisdiction = 'US'": 6_073 - 1,
      // Of the three patents without an applicant, two are Australian.
      "select count(distinct id) from rights_view where jurisdiction = 'AU'": 328 - 2,
      'select count(distinct id) from rights_view where json_array_length(holders) > 1': 1_707,
      "select total from heads h join companies c on c.id = company_id where identifier = 'QUALCOMM INC'": 292,
      'select count(distinct id) from rights_view where registration_date is null': 46,
    },
  },
  {
    title: 'rospatent_software: 885 programs in Cyrillic, the second byte-order mark gone',
    target: 'rights',
    file: 'rospatent_software/programs.csv',
    mapping: 'rospatent-software',
    counts: [929, 929, 0, 0],
    facts: {
      'select count(distinct id) from rights_view': 885,
      "select registration_date from rights_view where registration_number = '940274'":
        '1994-07-11T00:00:00Z',
      'select count(distinct id) from rights_view where name is null': 10,
      'select count(distinct id) from rights_view where application_date is null': 3,
      "select count(*) from rights_view where name like '%<br%'": 0,
      "select count(*) from rights_view where cast(holders as text) like '%(RU)%'": 0,
      'select max(total) from heads': 45,
      // The README counts 365 spellings; two differ only in blanks.
      'select count(*) from companies': 363,
    },
  },
  {
    title: 'nyc_job_postings 2019-02: three shifted rows are refused, 40 duplicates collapse',
    target: 'jobs',
    file: 'nyc_job_postings/postings-2019-02.csv.gz',
    mapping: 'nyc-job-postings',
    counts: [3_977, 3_934, 40, 3],
    facts: { 'select count(*) from companies': 54 },
  },
  {
    title: 'nyc_job_postings 2022: all 3,773 rows of the narrow export',
    target: 'jobs',
    file: 'nyc_job_postings/postings-2022-07.csv',
    mapping: 'nyc-job-postings-2022',
    counts: [3_773, 3_773, 0, 0],
    facts: { 'select count(*) from companies': 56 },
  },
  {
    title: 'us_plum_book 2012: 6,806 rows less 2,502 career incumbents and 764 vacancies',
    target: 'employees',
    file: 'us_plum_book/positions-2012.csv.gz',
    mapping: 'us-plum-book',
    counts: [3_540, 6_806 - 2_502 - 764, 0, 0],
    facts: { "select count(*) from employees_view where name = 'Vacant'": 0 },
  },
  {
    title: 'ba_atms: 1,099 places of 36 banks',
    target: 'pos_terminals',
    file: 'ba_atms/cajeros-automaticos.csv',
    mapping: 'ba-atms',
    counts: [1_099, 1_099, 0, 0],
    facts: {
      'select count(*) from companies': 36,
      'select max(total) from heads': 178,
      'select count(*) from pos_terminals_view where status is not null': 0,
    },
  },
  {
    title: 'sec_company_tickers: 13,189 securities are 9,530 companies',
    target: 'companies',
    file: 'sec_company_tickers/tickers-2021-12-26.csv',
    mapping: 'sec-company-tickers',
    counts: [9_530, 9_530, 0, 0],
    facts: {},
    // 575 securities have no exchange; the companies of 127 of them have another one that does.
    said: [[127, (text) => text.includes('""')]],
  },
  {
    title: 'sec_company_tickers: the word None is passed on, 1,291 companies have more tickers',
    target: 'companies',
    file: 'sec_company_tickers/tickers-2025-02-28.csv',
    mapping: 'sec-company-tickers',
    counts: [7_605, 7_605, 0, 0],
    facts: {},
    said: [
      [168, (text) => text.includes('"None"')],
      [1_291, (text) => (attributesOf(text)['tickers'] as readonly unknown[]).length > 1],
    ],
  },
  {
    title: 'sp500_constituents: 503 rows are 500 companies',
    target: 'companies',
    file: 'sp500_constituents/constituents-2026-08-08.csv',
    mapping: 'sp500-constituents',
    counts: [500, 500, 0, 0],
    facts: { "select count(*) from companies where identifier = '0000066740'": 1 },
  },
  {
    title: 'sp500_constituents 2014: the columns of that year',
    target: 'companies',
    file: 'sp500_constituents/constituents-2014-02-25.csv',
    mapping: 'sp500-constituents-2014',
    counts: [500, 500, 0, 0],
    facts: {},
  },
  {
    title: 'datenanfragen_companies: 3,069 companies with the line breaks of their addresses',
    target: 'companies',
    file: 'datenanfragen_companies/companies-2026-07-21.ndjson.gz',
    mapping: 'datenanfragen-companies',
    counts: [3_069, 3_069, 0, 0],
    facts: {},
    said: [[3_069, (text) => String(attributesOf(text)['address']).includes('\n')]],
  },
  {
    title: 'datenanfragen_companies: 116 removed entries by reason, on the day of the file',
    target: 'events',
    file: 'datenanfragen_companies/obsolete-2026-07-21.ndjson',
    mapping: 'datenanfragen-obsolete',
    counts: [116, 116, 0, 0],
    facts: {
      "select count(*) from events_view where after like 'company-defunct%'": 31,
      "select count(*) from events_view where after like '%: %'": 59,
      'select distinct date from events_view': '2026-07-21T00:00:00Z',
    },
  },
  {
    title: 'tw_factories: 34,058 factories less 4 captured error pages',
    target: 'companies',
    file: 'tw_factories/factories-2014-12-13.ndjson.gz',
    mapping: 'tw-factories-companies',
    isCut: true,
    counts: [3_406 - 1, 3_405, 0, 0],
    facts: {},
    said: [[1_298, isWorking]],
  },
  {
    title: 'tw_factories: 34,049 persons in charge, their names without full-width blanks',
    target: 'employees',
    file: 'tw_factories/factories-2014-12-13.ndjson.gz',
    mapping: 'tw-factories-employees',
    isCut: true,
    counts: [3_404, 3_404, 0, 0],
    facts: {
      "select count(*) from employees_view where name like '　%' or name like '%　'": 0,
      "select count(*) from employees_view where start_date like '2010-10-12%'": 3,
    },
  },
  {
    title: 'tw_factories: Republic-of-China dates of 7 digits are events, others are ignored',
    target: 'events',
    file: 'tw_factories/factories-2014-12-13.ndjson.gz',
    mapping: 'tw-factories-events',
    isCut: true,
    counts: [11_241, 11_241, 0, 0],
    facts: eventsBy({
      registered: 3_172,
      permitted: 2_466,
      last_change: 3_369,
      closed: 158,
      revoked: 1_469,
      revocation_published: 607,
    }),
  },
]

for (const { title, target, file, mapping, isCut = false, counts, facts, said = [] } of cases) {
  test(isCut ? `${title} (every tenth line)` : title, { skip }, async (t) => {
    const { folder, db } = makePlace(t, 'real.db')
    const source = isCut ? everyTenthLine(join(data, file), folder) : join(data, file)
    const rejected: unknown[] = []
    const load = () =>
      importInto(db, target, [source], {
        mapping: readFileSync(join(mappings, `${mapping}.sql`), 'utf8'),
        onRejected: (row) => rejected.push(row),
      })
    const first = (await load()).counts
    const { read, inserted, unchanged, refused } = first
    assert.deepEqual([read, inserted, unchanged, refused], counts)
    assert.equal(read, inserted + first.updated + unchanged + refused)
    assert.equal(rejected.length, refused)
    for (const [sql, expected] of Object.entries(facts)) {
      assert.equal(queryValue(db, sql), expected, sql)
    }
    const rows = said.length === 0 ? [] : await readSaid(db)
    for (const [expected, isSo] of said) {
      assert.equal(rows.filter(({ attributes }) => isSo(attributes)).length, expected)
    }
    if (read > twiceMax) return
    const second = (await load()).counts
    assert.equal(second.unchanged, read - refused, 'the same file again changes nothing')
  })
}

/** Writes every tenth line of a compressed file into a folder. */
function everyTenthLine(file: string, folder: string): string {
  const lines = gunzipSync(readFileSync(file)).toString().trimEnd().split('\n')
  const path = join(folder, 'tenth.ndjson')
  writeFileSync(path, lines.filter((_, n) => n % 10 === 0).join('\n'))
  return path
}

test('lens_drone_patents: a date that a spreadsheet has rewritten is refused, not misread', async (t) => {
  const { folder, db } = makePlace(t, 'test.db')
  const file = join(folder, 'excel.csv')
  const header =
    'lens_id;jurisdiction;publication_number;publication_date;publication_year;' +
    'application_date;title;applicants;type'
  writeFileSync(file, `${header}\n1;AU;2;05.10.2017;2017;12.02.2016;a;ESCO;b\n`)
  const mapping = readFileSync(join(mappings, 'lens-patents.sql'), 'utf8')
  const { problems } = await importInto(db, 'rights', [file], { mapping })
  assert.deepEqual(problems[0]?.value, '"05.10.2017"')
})

test('nyc_job_postings: a salary that a spreadsheet has rewritten is refused, not left out', async (t) => {
  const { folder, db } = makePlace(t, 'test.db')
  const file = join(folder, 'excel.csv')
  const first = ['Agency', 'Posting Date', 'Work Location', 'Business Title', 'Job Description']
  const others = ['Civil Service Title', 'Job Category', 'Division/Work Unit']
  const columns = [...first, ...others, 'Minimum Qual Requirements', 'Job ID', 'Posting Type']
  const cells = ['Parks', ...columns.slice(1).map(() => '')]
  const header = [...columns, 'Salary Range From', 'Salary Range To'].join(';')
  writeFileSync(file, `${header}\n${[...cells, '84252,0', '90000,5'].join(';')}\n`)
  for (const name of ['nyc-job-postings', 'nyc-job-postings-2022']) {
    const mapping = readFileSync(join(mappings, `${name}.sql`), 'utf8')
    const { problems } = await importInto(db, 'jobs', [file], { mapping })
    assert.deepEqual([name, problems[0]?.value], [name, '"84252,0"'])
  }
})
