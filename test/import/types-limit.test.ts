// A company has at most 1,000 types in `meta`, each of at most 256 bytes (contract 3.7).

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import fc from 'fast-check'
import { changeResource, resources } from '../../src/resources/index.ts'
import { type ImportOptions, importRows, makeFolder, queryStore } from '../support/import-rows.ts'
import { inspections } from '../support/inspections.ts'
import { storeAt } from '../support/store-at.ts'
import { changeStore } from '../support/store-state.ts'
import { verifyStore } from '../support/verify-store.ts'

const tooMany = 'exceeds the 1,000 kinds that a company may have'
const day = (n: number) => ({ asOf: `2024-01-0${n}T00:00:00Z` })

/** Events of a company, one of each type from `from` to `to`; ids have the same numbers. */
function eventsOf(company: number, from: number, to: number): object[] {
  return Array.from({ length: to - from + 1 }, (_, n) =>
    event(company, from + n, `kind ${from + n}`),
  )
}

function event(company: number, id: number, attr: string): object {
  return { company_id: company, id, date: '2024-01-01', attr }
}

interface Store {
  readonly db: string
  /** Imports rows with `--rejects`; returns location and details of each refused one. */
  readonly load: (
    target: string,
    rows: readonly object[],
    options?: ImportOptions,
  ) => Promise<unknown[]>
  readonly typesOf: (company: number) => Promise<Map<string, number>>
}

function openStore(t: TestContext, declared = resources, name = 'events'): Store {
  const db = join(makeFolder(t), 'dossier.db')
  return {
    db,
    async load(target, rows, options) {
      const report = await importRows(db, target, rows, {
        onRejected: () => undefined,
        resources: declared,
        ...options,
      })
      return report.problems.map(({ number, field, value, reason }) => [
        number,
        field,
        value,
        reason,
      ])
    },
    async typesOf(company) {
      const [head] = await queryStore(
        db,
        `select meta from heads where listing = '${name}' and company_id = ${company}
         order by version desc limit 1`,
      )
      const meta = JSON.parse((head?.['meta'] as string | undefined) ?? '[]') as {
        type: string
        count: number
      }[]
      return new Map(meta.map(({ type, count }) => [type, count]))
    },
  }
}

async function checkSound(db: string): Promise<void> {
  assert.deepEqual((await verifyStore(storeAt(db))).faults, [])
}

test('rows of a 1,001st type are refused, earlier types stay (3.7)', async (t) => {
  const { db, load, typesOf } = openStore(t)
  const rows = [...eventsOf(7, 1, 1_002), event(7, 1_002, 'kind 1002'), event(7, 2_000, 'kind 1')]
  const beside = [event(8, 3_000, 'kind 1001'), event(7, 2_001, 'kind 1001')]
  assert.deepEqual(await load('events', [...rows, ...beside]), [
    [1_001, 'attr', '"kind 1001"', tooMany],
    [1_002, 'attr', '"kind 1002"', tooMany],
    // The same record once more.
    [1_003, 'attr', '"kind 1002"', tooMany],
    [1_006, 'attr', '"kind 1001"', tooMany],
  ])
  const types = await typesOf(7)
  assert.deepEqual([types.size, types.get('kind 1'), types.get('kind 1000')], [1_000, 2, 1])
  assert.deepEqual([...(await typesOf(8)).keys()], ['kind 1001'])
  await checkSound(db)
})

test('existing types count, removed ones make room (3.7)', async (t) => {
  const { db, load, typesOf } = openStore(t)
  assert.deepEqual(await load('events', eventsOf(7, 1, 1_000)), [])
  assert.deepEqual(await load('events', [event(7, 5_000, 'new')]), [[1, 'attr', '"new"', tooMany]])
  assert.deepEqual(await load('events', [event(7, 5_000, 'kind 3')]), [], 'of a kind that is there')
  assert.deepEqual(await load('events', [event(7, 1, 'new')]), [], 'in place of the only one')
  // Room that a later row makes counts too.
  assert.deepEqual(await load('events', [event(7, 5_001, 'newer'), event(7, 1, 'kind 2')]), [])
  assert.equal((await typesOf(7)).size, 1_000)
  const rest = [...eventsOf(7, 11, 1_000), ...eventsOf(7, 1_001, 1_012)]
  assert.deepEqual(
    await load('events', rest, { isSnapshot: true }),
    [1_001, 1_002].map((n) => [n, 'attr', `"kind ${n + 10}"`, tooMany]),
    'a snapshot that removes some',
  )
  assert.equal((await typesOf(7)).size, 1_000)
  await checkSound(db)
})

test('a refused row changes nothing, nor does its import without --rejects (3.7)', async (t) => {
  const { db, load, typesOf } = openStore(t)
  await load('events', eventsOf(7, 1, 1_000))
  // The record keeps its former type, so there is no room for the last one either.
  const rows = [event(7, 5_000, 'kind 1'), event(7, 5_001, 'a'), event(9, 5_002, 'b')]
  const report = await importRows(db, 'events', rows)
  assert.deepEqual([report.version, report.counts.refused], [undefined, 1])
  assert.deepEqual(await load('events', rows), [[2, 'attr', '"a"', tooMany]])
  assert.deepEqual([(await typesOf(7)).get('kind 1'), (await typesOf(9)).size], [2, 1])
  await checkSound(db)
})

test('a record of two companies is refused for both if one has no room (3.7)', async (t) => {
  const { db, load, typesOf } = openStore(t)
  await load('events', [
    ...eventsOf(7, 2, 1_001),
    event(8, 9_000, 'kind 2'),
    event(7, 9_000, 'kind 2'),
  ])
  // Its change would also apply to company 7.
  const rows = [event(8, 9_000, 'new'), event(8, 9_001, 'newer')]
  assert.deepEqual(await load('events', rows), [[1, 'attr', '"new"', tooMany]])
  assert.deepEqual([...(await typesOf(8)).keys()], ['kind 2', 'newer'])
  // A company named only by refused rows is not created.
  assert.deepEqual(await load('events', [event(77, 9_000, 'new')]), [[1, 'attr', '"new"', tooMany]])
  assert.deepEqual(await queryStore(db, 'select id from companies where id = 77'), [])
  await checkSound(db)
})

test('the limit applies to any resource with meta; a type has at most 256 bytes (3.7)', async (t) => {
  const { load, typesOf } = openStore(t, [...resources, inspections], 'inspections')
  const rows = Array.from({ length: 1_001 }, (_, n) => ({
    ...{ id: n + 1, company_id: 7, outcome: `\u0001"é${n}` },
  }))
  assert.deepEqual(await load('inspections', rows), [
    [1_001, 'outcome', JSON.stringify('\u0001"é1000'), tooMany],
  ])
  assert.equal((await typesOf(7)).size, 1_000)
  const long = ['é'.repeat(128), `${'é'.repeat(128)}x`]
  const longRows = long.map((outcome, n) => ({ id: 5_000 + n, company_id: 8, outcome }))
  const [refused] = (await load('inspections', longRows)) as [unknown[]]
  assert.deepEqual([refused[0], refused[3]], [2, 'is longer than 256 bytes'])
})

const seed = Math.floor(Math.random() * 2 ** 32)
const kindsBefore = 996
const someRows = fc.array(
  fc.record({
    id: fc.integer({ min: kindsBefore - 8, max: kindsBefore + 25 }),
    kind: fc.integer({ min: kindsBefore - 4, max: kindsBefore + 20 }),
  }),
  { minLength: 5, maxLength: 40 },
)

test(`random rows near the limit leave at most 1,000 types (seed ${seed}) (3.7)`, async (t) => {
  const { db, load, typesOf } = openStore(t)
  await load('events', eventsOf(7, 1, kindsBefore))
  let kinds = new Map(Array.from({ length: kindsBefore }, (_, n) => [n + 1, n + 1]))
  let total = 0
  for (const drawn of fc.sample(someRows, { seed, numRuns: 12 })) {
    // One row for each record, so that none contradict.
    const rows = [...new Map(drawn.map((row) => [row.id, row])).values()]
    const refused = new Set<number>()
    const report = await importRows(
      db,
      'events',
      rows.map((row) => event(7, row.id, `kind ${row.kind}`)),
      { onRejected: ({ number }) => refused.add(number) },
    )
    assert.equal(report.counts.refused, refused.size)
    const after = (some: typeof rows) =>
      new Map([...kinds, ...some.map(({ id, kind }) => [id, kind] as const)])
    const fits = new Set(after(rows).values()).size <= 1_000
    assert.equal(refused.size === 0, fits, 'rows are refused only if not all fit')
    kinds = after(rows.filter((_, n) => !refused.has(n + 1)))
    total += refused.size
    const types = await typesOf(7)
    assert.ok(types.size <= 1_000)
    const expected = new Set([...kinds.values()].map((kind) => `kind ${kind}`))
    assert.deepEqual(new Set(types.keys()), expected, 'the others are loaded')
  }
  assert.ok(total > 0, 'some were refused')
  await checkSound(db)
})

test('excess types of a listing stay, no new one is added, and verify reports them (3.7)', async (t) => {
  const { db, load, typesOf } = openStore(t)
  await load('events', eventsOf(7, 1, 1_000))
  // No import makes them: of both, verify only counts the one that a record has.
  const more = ['over', 'beyond'].map((type) => `{"type":"${type}","count":1}`)
  changeStore(storeAt(db), `update heads set meta = replace(meta, ']', ',${more.join(',')}]')`)
  const rows = [event(7, 5_000, 'new'), event(7, 5_001, 'over'), event(7, 1, 'kind 2')]
  assert.deepEqual(await load('events', rows), [])
  assert.deepEqual([(await typesOf(7)).size, (await typesOf(7)).get('new')], [1_002, 1])
  assert.deepEqual(await load('events', [event(7, 5_002, 'newer')]), [
    [1, 'attr', '"newer"', tooMany],
  ])
  const { faults } = await verifyStore(storeAt(db))
  assert.match(faults.join('\n'), /events of company 7, version 2: 1001 types, more than 1000/)
})

// --- Recorded history --------------------------------------------------------------------------

const recordedTooMany = 'would be recorded, and exceed the 1,000 kinds that a company may have'

function company(identifier: number, attributes: object): object {
  return { id: identifier, jurisdiction: 'GB', identifier: String(identifier), ...attributes }
}

test('a company whose recorded changes would exceed the limit is refused (3.7)', async (t) => {
  const { db, load, typesOf } = openStore(t)
  const recording = { recordIn: changeResource, source: 'register' }
  await load('companies', [company(7, { a: '1', b: '1' }), company(8, { a: '1' })], {
    ...{ ...recording, ...day(1) },
  })
  await load('events', eventsOf(7, 1, 999))
  const rows = [company(8, { a: '2' }), company(7, { a: '2', b: '2' })]
  assert.deepEqual(await load('companies', rows, { ...recording, ...day(2) }), [
    [2, 'b', '"2"', recordedTooMany],
  ])
  assert.deepEqual([(await typesOf(7)).size, [...(await typesOf(8)).keys()]], [999, ['a']])
  const fewer = [company(7, { a: '2', b: '1' }), company(8, { a: '3' })]
  assert.deepEqual(await load('companies', fewer, { ...recording, ...day(3) }), [])
  assert.equal((await typesOf(7)).size, 1_000)
  await checkSound(db)
  // Its absence from a snapshot would be another type, without a row that causes it.
  const without = { ...recording, ...day(4), isSnapshot: true }
  await assert.rejects(
    load('companies', [company(8, { a: '3' })], without),
    /of company 7 cannot be recorded: its events would be of more than 1,000 kinds; to record/,
  )
  await checkSound(db)
})

test('records of a listing with history are refused the same way (3.7)', async (t) => {
  const { db, load, typesOf } = openStore(t)
  const recording = { recordIn: changeResource, source: 'register' }
  const employee = (id: number, company: number, name: string) => ({
    id,
    company_id: company,
    name,
  })
  await load('employees', [employee(1, 7, 'Ann'), employee(2, 8, 'Bob')], {
    ...recording,
    ...day(1),
  })
  await load('events', eventsOf(7, 1, 1_000))
  const rows = [employee(1, 7, 'Anna'), employee(2, 8, 'Rob'), employee(3, 7, 'Cid')]
  const problems = (await load('employees', rows, { ...recording, ...day(2) })) as unknown[][]
  assert.deepEqual(
    problems.map(([number, , , reason]) => [number, reason]),
    [
      [1, recordedTooMany],
      [3, recordedTooMany],
    ],
  )
  assert.deepEqual([(await typesOf(7)).size, (await typesOf(8)).size], [1_000, 1])
  await checkSound(db)
})

test('attribute names have at most 256 bytes (3.7)', async (t) => {
  const { load } = openStore(t)
  const [long, longest] = [`${'é'.repeat(128)}x`, 'é'.repeat(128)]
  const given = company(7, { [long]: '1' })
  const [refused] = (await load('companies', [given, company(8, { [longest]: '1' })])) as [
    unknown[],
  ]
  assert.deepEqual([refused[0], refused[3]], [1, 'is longer than 256 bytes'])
})
