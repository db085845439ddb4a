// Recorded history: changes of company attributes, and of officers in listings.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { inspect } from 'node:util'
import type { ImportReport } from '../../src/import/import-files.ts'
import { changesIn, importExtract, recordedOn, told } from '../support/history.ts'
import { importRows, makeFolder, query, queryValue } from '../support/import-rows.ts'
import { readSaid } from '../support/said.ts'
import { makeSoundStore } from '../support/verify-store.ts'

test('each attribute that differs is one event, with all its fields', async (t) => {
  const db = makeSoundStore(t)
  await importExtract(db, '2025-01-01', [{ identifier: 'a', name: 'Old', town: 'X', vat: '1' }])
  const { counts } = await importExtract(db, '2025-02-01', [
    { identifier: 'a', name: 'New', town: 'X', fax: '2' },
  ])
  assert.equal(counts.recorded, 2)
  assert.deepEqual(
    query(db, 'select record from events_records order by id').map(({ record }) => record),
    [
      ['name', '"Old"', '"New"'],
      ['vat', '"1"', 'null'],
    ].map(
      ([attr, before, after], index) =>
        `{"id":${1_000_000_000_001 + index},"jurisdiction":"XX","date":"2025-02-01T00:00:00Z",` +
        `"attr":"${attr}","before":${before},"after":${after},"identifier":"a"}`,
    ),
  )
})

test('the first value of an attribute is not an event, unless that is asked for', async (t) => {
  const db = makeSoundStore(t)
  const company = { identifier: 'a', name: 'Old' }
  await importExtract(db, '2025-01-01', [company])
  const asked = { isFirstRecorded: true }
  const { counts } = await importExtract(db, '2025-02-01', [{ ...company, fax: '2' }])
  assert.equal(counts.recorded, 0)
  const dated = { ...company, fax: '2', vat: '1' }
  assert.equal((await importExtract(db, '2025-03-01', [dated], asked)).counts.recorded, 1)
  // From then on, the source has it, of whatever company.
  const second = { ...dated, identifier: 'b' }
  await importExtract(db, '2025-04-01', [dated, { ...second, fax: null }])
  assert.equal((await importExtract(db, '2025-05-01', [dated, second])).counts.recorded, 1)
  assert.deepEqual(told(db), ['a vat: (none) → 1', 'b fax: (none) → 2'])
})

async function attributesIn(db: string): Promise<unknown[]> {
  return (await readSaid(db)).map(({ attributes }) => JSON.parse(attributes) as unknown)
}

/** Two values of an attribute, and the event that the change causes, if any. */
const values: readonly (readonly [before: unknown, after: unknown, event: string | undefined])[] = [
  [undefined, null, undefined],
  [null, '', undefined],
  ['', ' \t', undefined],
  [[], undefined, undefined],
  [[''], null, undefined],
  ['x', 'x', undefined],
  ['x', 'x ', 'x → x '],
  ['a\nb', 'a b', 'a\nb → a b'],
  [null, 'x', '(none) → x'],
  ['x', '', 'x → (none)'],
  [['b', 'a'], ['a', 'b'], undefined],
  [['a', 'b', 'a'], ['b', 'a'], undefined],
  [['b', 'a'], ['c', 'b'], 'a; b → b; c'],
  [['B', 'a', 'ä', '😀', '\uffee'], ['x'], 'B; a; ä; \uffee; 😀 → x'],
  [['', 'a'], ['a'], '; a → a'],
  [1, 2.5, '1 → 2.5'],
  [1e-7, true, '1e-7 → true'],
  [false, null, 'false → (none)'],
  [[1, true], ['x'], '1; true → x'],
  [{ b: 1, a: [2] }, { a: [2], b: 1 }, undefined],
  [{ b: 1, a: [2] }, 'x', '{"a":[2],"b":1} → x'],
]

describe('values of an attribute', () => {
  // A company for each case: two imports for all of them.
  const db = join(makeFolder({ after }), 'values.db')
  const idOf = (n: number) => `case ${n}`
  const extractOf = (which: 0 | 1) =>
    values.map((row, n) => ({ identifier: idOf(n), name: 'A', value: row[which] }))
  const recorded = { counts: undefined as ImportReport['counts'] | undefined }

  before(async () => {
    await importExtract(db, '2025-01-01', extractOf(0))
    recorded.counts = (await importExtract(db, '2025-02-01', extractOf(1))).counts
  })

  for (const [n, [first, then, event]] of values.entries()) {
    const title = `${inspect(first)} then ${inspect(then)}`
    test(`${title}: ${event === undefined ? 'no event' : JSON.stringify(event)}`, () => {
      const events = told(db, `identifier = '${idOf(n)}'`)
      assert.deepEqual(events, event === undefined ? [] : [`${idOf(n)} value: ${event}`])
    })
  }

  test('a change without an event is not counted as one', () => {
    const changed = values.filter(([, , event]) => event !== undefined).length
    assert.equal(recorded.counts?.updated, changed)
    assert.equal(recorded.counts.unchanged, values.length - changed)
  })
})

test('an extract is compared only with attributes of its own source', async (t) => {
  const db = makeSoundStore(t)
  await importExtract(db, '2025-01-01', [{ identifier: 'a', name: 'A' }], { source: 'one' })
  await importExtract(db, '2024-01-01', [{ identifier: 'a', name: 'B' }], { source: 'two' })
  assert.deepEqual(told(db), [])
  await importExtract(db, '2025-02-01', [{ identifier: 'a', name: 'B' }], { source: 'one' })
  assert.deepEqual(told(db), ['a name: A → B'])
})

test('a company missing from a snapshot is recorded once, and so is its return', async (t) => {
  const db = makeSoundStore(t)
  const b = { identifier: 'b', name: 'B' }
  const options = { isSnapshot: true }
  await importExtract(db, '2025-01-01', [{ identifier: 'a', name: 'A' }, b], options)
  const gone = await importExtract(db, '2025-02-01', [b], options)
  assert.deepEqual([gone.counts.removed, gone.counts.recorded], [1, 1])
  const again = await importExtract(db, '2025-03-01', [b], options)
  assert.deepEqual([again.counts.removed, again.counts.recorded], [0, 0])
  assert.deepEqual(told(db), ['a register_entry: present → absent'])
  const back = await importExtract(db, '2025-04-01', [{ identifier: 'a', name: 'A2' }, b], options)
  assert.deepEqual([back.counts.inserted, back.counts.recorded], [1, 2])
  assert.deepEqual(told(db, "date >= '2025-04'"), [
    'a register_entry: absent → present',
    'a name: A → A2',
  ])
  assert.equal((await readSaid(db)).filter((said) => said.is_present).length, 2)
})

test('an attribute that had only blank values is new to its source', async (t) => {
  for (const blank of ['', null, [], ['', ' ']]) {
    const db = makeSoundStore(t)
    await importExtract(db, '2025-01-01', [{ identifier: 'a', name: 'A', tags: blank }])
    await importExtract(db, '2025-02-01', [{ identifier: 'a', name: 'A', tags: ['x', 'y'] }])
    assert.deepEqual(told(db), [])
  }
})

test('a part that comes late is accepted for companies about which nothing newer is known', async (t) => {
  const db = makeSoundStore(t)
  const named = (name: string, ...identifiers: string[]) =>
    identifiers.map((identifier) => ({ identifier, name }))
  await importExtract(db, '2025-01-31', named('A', 'a', 'b', 'c'))
  await importExtract(db, '2025-03-31', named('C', 'c'))
  const rejected: unknown[] = []
  const onRejected = (row: unknown) => rejected.push(row)
  const { counts, problems } = await importExtract(db, '2025-02-28', named('B', 'b', 'c'), {
    onRejected,
  })
  assert.deepEqual([counts.updated, counts.refused, counts.recorded], [1, 1, 1])
  assert.equal(rejected.length, 1)
  assert.match(problems[0]?.reason ?? '', /^is before the last day that the registry has/)
  assert.deepEqual(
    changesIn(db).map(
      ({ identifier, date, after }) => `${identifier} ${date.slice(0, 10)} ${after}`,
    ),
    ['c 2025-03-31 C', 'b 2025-02-28 B'],
  )
  // The last day stays the last one.
  await assert.rejects(
    importExtract(db, '2025-03-01', named('D', 'd'), { permissions: { accepted: false } }),
    /of companies from the source default is as of 2025-03-31; .* revert 2 --with-later, /,
  )
})

test('a row that the store refuses is reported with its day', async (t) => {
  const db = makeSoundStore(t)
  const row = (day: string) => ({ identifier: 'a', as_of: day, name: day })
  await importExtract(db, undefined, [row('2025-03-31T00:00:00Z')])
  const rejected: unknown[] = []
  await importExtract(db, undefined, [row('2025-02-28T00:00:00Z')], {
    onRejected: ({ row: given }) => rejected.push(given),
  })
  assert.deepEqual(rejected, [{ jurisdiction: 'XX', ...row('2025-02-28T00:00:00Z') }])
})

test('a late snapshot, and a part from before a snapshot, are refused whatever is accepted', async (t) => {
  const db = makeSoundStore(t)
  const rows = [{ identifier: 'a', name: 'A' }]
  await importExtract(db, '2025-01-31', rows)
  await importExtract(db, '2025-02-28', [{ identifier: 'a', name: 'B' }])
  await importExtract(db, '2025-03-31', [{ identifier: 'a', name: 'C' }])
  for (const some of [{}, { recordIn: undefined }]) {
    const says = /nothing was changed\. It would undo the later changes, .* revert 2 --with-later, /
    await assert.rejects(importExtract(db, '2025-02-01', rows, { isSnapshot: true, ...some }), says)
  }
  await importExtract(db, '2025-04-30', rows, { isSnapshot: true })
  await assert.rejects(
    importExtract(db, '2025-04-01', rows),
    /Version 4 is a snapshot, which .* revert 4 --with-later, then import .* later ones again$/,
  )
  const dated = [
    { identifier: 'x', as_of: '2025-04-01' },
    { identifier: 'y', as_of: '2025-04-02' },
  ]
  const message = /the extract is as of 2025-04-02, but the last import .* is as of 2025-04-30; /
  await assert.rejects(importExtract(db, undefined, dated), message)
  assert.equal(queryValue(db, 'select max(version) from imports'), 4)
})

test('late records are accepted unless their changes are recorded', async (t) => {
  const db = makeSoundStore(t)
  const rights = (name: string) => [
    { company_jurisdiction: 'XX', company_identifier: 'a', key: '1', name },
  ]
  const load = (asOf: string, name: string, accepted: boolean, isSnapshot = false) =>
    importRows(db, 'rights', rights(name), { asOf, isSnapshot, permissions: { accepted } })
  await load('2025-02-28T00:00:00Z', 'B', false)
  const says = /add --accept\. .* revert 1 --with-later, then/
  await assert.rejects(load('2025-01-31T00:00:00Z', 'A', false), says)
  assert.equal((await load('2025-01-31T00:00:00Z', 'A', true, true)).counts.updated, 1)
  await importOfficers(db, '2025-02-01', [officer('1', 'Jane Doe', 'Chair')])
  await assert.rejects(
    importOfficers(db, '2025-01-31', [officer('1', 'Jane Doe', null)], false),
    /It would undo the later changes, .* revert 3 --with-later, then/,
  )
})

test('the column as_of overrides the day of the extract', async (t) => {
  const db = makeSoundStore(t)
  const extract = (name: string, day: string) => [{ identifier: 'a', name, as_of: day }]
  await importExtract(db, '2025-01-31', extract('A', '2025-01-10'))
  await importExtract(db, '2025-02-28', extract('B', '2025-02-11T10:00:00+01:00'))
  await importExtract(db, undefined, extract('C', '2025-03-01'))
  const told = changesIn(db).map(({ date, after }) => `${date} ${after}`)
  assert.deepEqual(told, ['2025-02-11T09:00:00Z B', '2025-03-01T00:00:00Z C'])
  assert.deepEqual(await attributesIn(db), [{ name: 'C' }])
})

test('if only rows have days, a row without one is refused', async (t) => {
  const db = makeSoundStore(t)
  const { problems } = await importExtract(db, undefined, [
    { identifier: 'a', name: 'A', as_of: '2025-01-10' },
    { identifier: 'b', name: 'B' },
    { identifier: 'c', name: 'C', as_of: '10/01/2025' },
  ])
  const places = problems.map(({ number, field }) => `${number} ${field}`)
  assert.deepEqual(places, ['3 as_of', '2 as_of'])
})

test('imported events of a source are kept alongside recorded ones', async (t) => {
  const db = makeSoundStore(t)
  const own = { company_jurisdiction: 'XX', company_identifier: 'a', date: '2024-01-01' }
  const rows = [{ ...own, attr: 'name', before: 'Z', after: 'A', key: '1' }]
  await importExtract(db, '2025-01-01', [{ identifier: 'a', name: 'A' }])
  await importRows(db, 'events', rows, { isSnapshot: true })
  await importExtract(db, '2025-02-01', [{ identifier: 'a', name: 'B' }])
  const { counts } = await importRows(db, 'events', rows, { isSnapshot: true })
  assert.deepEqual([counts.unchanged, counts.removed], [1, 0])
  assert.deepEqual(told(db).sort(), ['a name: A → B', ' name: Z → A'].sort())
  assert.equal(
    queryValue(db, "select meta from heads where listing = 'events' order by version desc"),
    '[{"type":"name","count":2}]',
  )
})

test('a refused import records nothing', async (t) => {
  const db = makeSoundStore(t)
  await importExtract(db, '2025-01-01', [{ identifier: 'a', name: 'A' }])
  const { version, counts } = await importExtract(db, '2025-02-01', [
    { identifier: 'a', name: 'B' },
    { identifier: 'b', name: 'B', register_entry: 'x' },
  ])
  assert.deepEqual([version, counts.refused], [undefined, 1])
  assert.deepEqual(told(db), [])
})

// --- Listings --------------------------------------------------------------------------------

const officer = (key: string, name: string | null, position: string | null, identifier = 'a') => ({
  company_jurisdiction: 'XX',
  company_identifier: identifier,
  key,
  name,
  position,
})

async function importOfficers(db: string, day: string, rows: readonly object[], isSnapshot = true) {
  return importRows(db, 'employees', rows, { isSnapshot, ...recordedOn(day) })
}

test('an officer who joins, leaves or changes position is an event', async (t) => {
  const db = makeSoundStore(t)
  await importOfficers(db, '2025-01-01', [
    officer('1', 'Jane Doe', 'Director'),
    officer('2', 'John Roe', 'Secretary'),
    officer('3', 'Ann Poe', null),
  ])
  assert.deepEqual(told(db), [], 'the first state is no change')
  const next = [
    officer('1', 'Jane Doe', 'Chair'),
    officer('3', 'Ann Poe', null),
    officer('4', 'Max Moe', 'Director'),
  ]
  assert.equal((await importOfficers(db, '2025-02-01', next)).counts.recorded, 3)
  assert.deepEqual(told(db), [
    'a officers: Jane Doe, Director → Jane Doe, Chair',
    'a officers: John Roe, Secretary → (none)',
    'a officers: (none) → Max Moe, Director',
  ])
  assert.equal((await importOfficers(db, '2025-03-01', next)).counts.recorded, 0)
})

test('a change that is too long to record says of which fields, and what to do', async (t) => {
  const db = makeSoundStore(t)
  const long = 'x'.repeat(40_000)
  await importOfficers(db, '2025-01-01', [officer('1', 'Jane Doe', 'Director')])
  const next = importOfficers(db, '2025-02-01', [officer('1', long, long)])
  const message =
    'the change of officers of company XX a cannot be recorded: name and position as one text is ' +
    'longer than 65,536 bytes; shorten it in the file or in a mapping, or import with --no-history'
  await assert.rejects(next, { name: 'OperatorError', message })
})

test('a source that renumbers its records yields no false events', async (t) => {
  const db = makeSoundStore(t)
  const second = officer('2', 'John Roe', 'Secretary')
  await importOfficers(db, '2025-01-01', [officer('1', 'Jane Doe', 'Director'), second])
  const renumbered = officer('8', 'John Roe', 'Treasurer')
  await importOfficers(db, '2025-02-01', [officer('7', 'Jane Doe', 'Director'), renumbered])
  assert.deepEqual(told(db), ['a officers: John Roe, Secretary → John Roe, Treasurer'])
})

test('a change of other fields, or of one of two equal records, is not an event', async (t) => {
  const db = makeSoundStore(t)
  const twice = [officer('1', 'Jane Doe', 'Director'), officer('2', 'Jane Doe', 'Director')]
  await importOfficers(db, '2025-01-01', twice)
  await importOfficers(db, '2025-02-01', [
    { ...officer('1', 'Jane Doe', 'Director'), end_date: '2025-01-31' },
  ])
  assert.deepEqual(told(db), [])
})

test('the first officer of a new company is not an event; one who follows a vacancy is', async (t) => {
  const db = makeSoundStore(t)
  const other = officer('9', 'Someone', 'Else', 'b')
  await importOfficers(db, '2025-01-01', [other])
  await importOfficers(db, '2025-02-01', [other, officer('1', 'Jane Doe', 'Director')])
  assert.deepEqual(told(db), [], 'its first state is no change')
  await importOfficers(db, '2025-03-01', [other])
  await importOfficers(db, '2025-04-01', [other, officer('2', 'John Roe', 'Director')])
  assert.deepEqual(told(db), [
    'a officers: Jane Doe, Director → (none)',
    'a officers: (none) → John Roe, Director',
  ])
})

test('officers of another source in the same company are ignored', async (t) => {
  const db = makeSoundStore(t)
  await importOfficers(db, '2025-01-01', [officer('1', 'Jane Doe', 'Director')])
  const options = { source: 'two', ...recordedOn('2025-02-01') }
  await importRows(db, 'employees', [officer('1', 'John Roe', 'Director')], options)
  assert.deepEqual(told(db), [])
})

test('a source that renumbers its events loses none, even if it has recorded changes', async (t) => {
  const db = makeSoundStore(t)
  for (const day of ['2025-01-01', '2025-02-01'])
    await importExtract(db, day, [{ identifier: '1', town: day }])
  const event = (id: number, after: string) => {
    const of = { company_jurisdiction: 'XX', company_identifier: '1' }
    return { id, ...of, date: '2024-05-01', attr: 'town', after }
  }
  await importRows(db, 'events', [event(1, 'Leeds')], { isSnapshot: true })
  await importRows(db, 'events', [event(2, 'Leeds')], { isSnapshot: true })
  assert.deepEqual(told(db, 'id < 9'), [' town: (none) → Leeds'])
  await importRows(db, 'events', [event(2, 'Hull'), event(3, 'Leeds')])
  assert.deepEqual(told(db, 'id < 9'), [' town: (none) → Hull', ' town: (none) → Leeds'])
})
