// `dossier listing` and `dossier changes`: what the API serves, on the command line.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { employees } from '../../src/resources/employees.ts'
import { importRows, makeFolder, makePlace } from '../support/import-rows.ts'
import { makeRecord } from '../support/make-record.ts'
import { mustRun, runCommand } from '../support/run-command.ts'

const people = Array.from({ length: 620 }, (_, n) =>
  makeRecord(employees, {
    id: n + 1,
    name: `Person ${n}, \u001b[31m`,
    end_date: n % 2 === 0 ? null : '2020-01-31T00:00:00Z',
  }),
)
const lines = (records: readonly object[]) =>
  records.map((record) => `${JSON.stringify(record)}\n`).join('')

test('a listing is printed whole, filtered, in another order, at a version', async (t) => {
  const { folder, db } = makePlace(t)
  const identity = { company_jurisdiction: 'GB', company_identifier: '01' }
  const load = (records: readonly object[]) =>
    importRows(
      db,
      'employees',
      records.map((record) => ({ ...record, ...identity })),
    )
  await load(people.slice(0, 600))
  await load(people.slice(600))
  const print = async (...args: string[]) => {
    const { out } = await mustRun(folder, ['listing', ...args])
    return out
  }
  assert.equal(await print('GB:01', 'employees'), lines(people))
  assert.equal(await print('GB', '01', 'employees', '--version', '1'), lines(people.slice(0, 600)))
  const [current, left] = [people.filter(({ id }) => id % 2 === 1), people.slice(1, 2)]
  assert.equal(await print('GB:01', 'employees', 'end_date='), lines(current))
  assert.equal(await print('1000000000001', 'employees', 'limit=1', 'page=2'), lines(left))
  const printed = await print('GB:01', 'employees', 'current_on=2024-01-01', 'sort=-updated_at')
  assert.equal(printed, lines(current.toReversed()))
  const csv = await print('GB:01', 'employees', 'limit=1', '--format', 'csv')
  assert.equal(await print('GB:01', 'employees', 'limit=1', 'format=csv'), csv)
  assert.match(csv, /^id,identifier,name[^\r]*\r\n1,"/)
  assert.ok(csv.includes(`,"${String(people[0]?.['name'])}",`), 'as it is, not escaped')
})

const right = (id: number, name: string) => {
  return { id, company_jurisdiction: 'GB', company_identifier: '00000012', name }
}

test('changes are printed one a line: all of them, or those of a company or a listing', async (t) => {
  const { folder, db } = makePlace(t)
  const rights = Array.from({ length: 1_200 }, (_, n) => right(n + 1, `name ${n}`))
  await importRows(db, 'rights', rights)
  await importRows(db, 'rights', [right(1, 'new'), ...rights.slice(2)], { isSnapshot: true })
  const print = async (...args: string[]) => {
    const { out, err } = await mustRun(folder, ['changes', ...args])
    assert.match(err, /^changes up to \d+\.[0-9a-f]{16}\.[0-9a-z]{8}\n$/)
    const told = out.split('\n').slice(0, -1)
    return { told: told.map((line) => JSON.parse(line) as { id: number; change: string }), err }
  }
  const all = await print('--since', '0')
  assert.equal(all.told.length, 1_200)
  const changed = [
    [1, 'put'],
    [2, 'remove'],
  ]
  const since = await print('--since', '1')
  const found = since.told.map(({ id, change }) => [id, change])
  assert.deepEqual(found, changed)
  const cursor = all.err.trim().split(' ').at(-1) ?? ''
  assert.deepEqual((await print('--since', cursor)).told, [])
  const ofCompany = ['--company', 'GB:00000012', '--resource', 'rights', '--until', '1']
  assert.equal((await print('--since', '0', ...ofCompany)).told.length, 1_200)
  assert.equal((await print('--since', '0', '--resource', 'companies')).told.length, 1)
})

test('what cannot be printed is an error that says what to type', async (t) => {
  const folder = makeFolder(t)
  const row = {
    ...makeRecord(employees),
    company_jurisdiction: 'GB',
    company_identifier: '00000012',
  }
  await importRows(join(folder, 'dossier.db'), 'employees', [row])
  for (const [words, code, message] of [
    ['listing employees', 2, /name one company and one listing, such as: GB:09876543 rights/],
    [
      'listing GB:00000012 employees version=1 --version 1',
      2,
      /give version only once: as --version/,
    ],
    ['listing GB:00000012 employes', 2, /employes is not a listing; did you mean employees\?/],
    ['listing GB:00000012 employees end_dat=x', 2, /"end_dat" is not a known .* you mean end_date/],
    ['listing GB:00000012 employees __proto__=x', 2, /"__proto__" is not a known query parameter/],
    [
      'listing GB:00000012 employees start_date[gte]=soon',
      2,
      /start_date\[gte\] is "soon"; it takes a day/,
    ],
    ['listing GB:00000012 employees --format json', 2, /--format is json; choose from csv, ndjson/],
    ['listing GB:00000012 employees --version 9', 1, /Version 9 does not exist yet; the last .* 1/],
    ['listing GB:12 employees', 1, /Company GB:12 is not .* registry; did you mean GB:00000012\?/],
    ['listing x employees', 2, /company_id is "x"; it takes an integer/],
    ['changes', 2, /name a version with --since/],
    ['changes --since x', 2, /--since is "x"; it takes 0, a cursor from `until`/],
    ['changes --since 9', 1, /Version 9 does not exist yet; the last one is 1/],
    [
      'changes --since 1.0123456789abcdef.z',
      1,
      /belongs to another history; begin again with --since=0/,
    ],
    [
      'changes --since 0~1.0123456789abcdef.z~rights.1.1~jobs.',
      2,
      /--since is a page of another request; repeat its --resource and --company, with a key/,
    ],
    ['changes --since 0 --resource right', 2, /--resource is "right"; did you mean rights/],
    ['changes --since 0 --company GB:12', 1, /GB:12 is not in the registry.*GB:00000012/],
  ] as const) {
    const run = await runCommand(folder, words.split(' '))
    assert.deepEqual([run.code, run.out], [code, ''], words)
    assert.match(run.err, message)
  }
})
