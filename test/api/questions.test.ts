// The questions of the client's guide: each is asked as it stands there.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { importRows } from '../support/import-rows.ts'
import { makeApp } from '../support/make-app.ts'
import { parseCsv } from '../support/parse-csv.ts'

const guide = readFileSync(join(import.meta.dirname, '../../docs/client.md'), 'utf8')
const section = /\n## Ten questions\n([^]*?)\n## /.exec(guide)?.[1] ?? ''
const path = /begins with `([^`]+)`/.exec(section)?.[1] ?? ''
const rows = section.split('\n').filter((line) => line.startsWith('| ') && line.includes('`'))
/** The requests by their questions; that of the company itself has no path of its own. */
const requests = new Map(
  rows.map((line) => {
    const [, question = '', cell = ''] = line.split('|').map((one) => one.trim())
    const request = /^`(\/[^`]*)`/.exec(cell)?.[1] ?? ''
    return [question, request] as const
  }),
)

const { ask, store } = await makeApp({ after })

const names = { company_jurisdiction: 'GB', company_identifier: path.split(':')[1] }
const withNames = (records: readonly object[]) => records.map((one) => ({ ...one, ...names }))
let files = 0
const load = (target: string, records: readonly object[], day?: string) =>
  importRows(join(store.folder, `rows-${(files += 1)}`), target, records, {
    at: store.db,
    ...(day === undefined ? {} : { asOf: `${day}T00:00:00Z` }),
  })

const right = (id: number, more: object) => ({ id, object_type: 'trademark', ...more })
const rights = [
  right(1, { registration_date: '2016-12-31T23:59:59Z', status: 'registered' }),
  right(2, { registration_date: '2015-12-31T23:59:59Z', status: 'registered' }),
  right(3, { registration_date: '2016-01-01T00:00:00Z', object_type: 'patent' }),
  right(4, { application_date: '2024-01-02T00:00:00Z', status: 'pending' }),
  right(5, { application_date: '2023-05-06T00:00:00Z', status: 'pending', name: 'A, "B"' }),
]
const person = (id: number, more: object) => ({ id, position: 'Director', ...more })
const job = (id: number, salary_from: number, currency = 'GBP') => ({ id, salary_from, currency })
const terminal = (id: number, bank_name: string, status: string) => ({ id, bank_name, status })
const event = (id: number, attr: string, date: string) => ({ id, attr, date: `${date}T00:00:00Z` })

await load('rights', withNames(rights.slice(0, 4)), '2099-12-15')
await load('rights', withNames(rights.slice(4)), '2100-02-15')
await load(
  'employees',
  withNames([
    person(1, { start_date: '2018-04-01T00:00:00Z', end_date: '2024-06-30T00:00:00Z' }),
    person(2, { start_date: '2024-07-01T00:00:00Z' }),
    person(3, { start_date: '2010-01-01T00:00:00Z', position: 'Clerk' }),
    person(4, { end_date: '2024-06-29T00:00:00Z' }),
  ]),
)
await load('jobs', withNames([job(1, 40_000), job(2, 39_999), job(3, 55_000), job(4, 9e4, 'EUR')]))
await load(
  'pos_terminals',
  withNames([
    terminal(1, 'Saltern Bank', 'active'),
    terminal(2, 'Saltern Bank', 'closed'),
    terminal(3, 'Saltern Bank', 'active'),
    terminal(4, 'Quay Bank', 'active'),
  ]),
)
await load(
  'events',
  withNames([
    event(1, 'name', '2019-12-31'),
    event(2, 'name', '2020-01-01'),
    event(3, 'address', '2023-01-17'),
    event(4, 'capital', '2023-01-18'),
  ]),
)

interface Page {
  readonly pagination_total: number
  readonly [listing: string]: unknown
}

const idsOf = (text: string) => {
  const records = Object.values(JSON.parse(text) as Page).find((value) => Array.isArray(value))
  return (records as { id: number }[]).map(({ id }) => id)
}

/** What an answer says, by the beginning of its question. */
const expected: Readonly<Record<string, (text: string) => void>> = {
  'Which trademarks end': (text) => assert.deepEqual(idsOf(text), [1]),
  'Which applications are pending': (text) => assert.deepEqual(idsOf(text), [5, 4]),
  'Who directed': (text) => assert.deepEqual(idsOf(text), [1]),
  'Of whom is no end': (text) => assert.deepEqual(idsOf(text), [2, 3]),
  'Which jobs pay': (text) => assert.deepEqual(idsOf(text), [3, 1]),
  'How many terminals of each': (text) => {
    const { company } = JSON.parse(text) as {
      company: { listings: { pos_terminals: { counts: { bank_name: unknown } } } }
    }
    assert.deepEqual(company.listings.pos_terminals.counts.bank_name, [
      { value: 'Saltern Bank', count: 3 },
      { value: 'Quay Bank', count: 1 },
    ])
  },
  'How many terminals of one': (text) =>
    assert.equal((JSON.parse(text) as Page).pagination_total, 2),
  'What did the register say': (text) => assert.deepEqual(idsOf(text), [1, 2, 3, 4]),
  'When did the company change': (text) => assert.deepEqual(idsOf(text), [3, 2]),
  'What are all its rights': (text) => {
    const [, ...lines] = parseCsv(text)
    assert.deepEqual(
      lines.map(([id, , name]) => [id, name]),
      [...['1', '2', '3', '4'].map((id) => [id, '']), ['5', 'A, "B"']],
    )
  },
}

test('the guide has ten questions, and the test knows each', () => {
  assert.deepEqual(
    [...requests.keys()].map((question) =>
      Object.keys(expected).find((begin) => question.startsWith(begin)),
    ),
    Object.keys(expected),
  )
})

for (const [question, request] of requests) {
  test(question, async () => {
    const { status, text } = await ask(path + request)
    assert.equal(status, 200, text)
    const [, check] = Object.entries(expected).find(([begin]) => question.startsWith(begin)) ?? []
    assert.ok(check)
    check(text)
  })
}
