// A company has at most 1,000 types in `meta`, each of at most 256 bytes (contract 3.7).

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { id, text } from '../../src/resources/field.ts'
import { resources } from '../../src/resources/index.ts'
import { defineResource } from '../../src/resources/resource.ts'
import { type ImportOptions, importRows, makeFolder, queryStore } from '../support/import-rows.ts'
import { checkSound } from '../support/verify-store.ts'
import { recordedOn } from '../support/history.ts'

const tooMany = {
  message:
    /^the events of company 7 would have more than 1,000 kinds, ".+" among them; import fewer/,
}

/** Events of company 7, one of each type from `from` to `to`; ids have the same numbers. */
function eventsOf(from: number, to: number): object[] {
  return Array.from({ length: to - from + 1 }, (_, n) => event(from + n, `kind ${from + n}`))
}

const event = (id: number, attr: string, company = 7) => ({
  company_id: company,
  id,
  date: '2024-01-01',
  attr,
})

function openStore(t: TestContext) {
  const db = join(makeFolder(t), 'dossier.db')
  return {
    db,
    load: (target: string, rows: readonly object[], options?: ImportOptions) =>
      importRows(db, target, rows, { onRejected: () => undefined, ...options }),
    /** The number of the types that company 7 has, and the number of versions. */
    state: async (listing = 'events') => {
      const [head] = await queryStore(
        db,
        `select meta from heads where listing = '${listing}' and company_id = 7
         order by version desc limit 1`,
      )
      const [last] = await queryStore(db, 'select max(version) as version from imports')
      const meta = JSON.parse((head?.['meta'] as string | undefined) ?? '[]') as unknown[]
      await checkSound(db)
      return [meta.length, last?.['version'] ?? 0]
    },
  }
}

test('a first load of 1,001 types is refused as a whole (3.7)', async (t) => {
  const { load, state } = openStore(t)
  const rows = [event(9_000, 'other', 6), ...eventsOf(1, 1_001)]
  await assert.rejects(load('events', rows), tooMany)
  const unsorted = rows.toReversed()
  await assert.rejects(load('events', unsorted), tooMany)
  await load('events', [...rows.slice(0, -1), event(1_001, 'kind 7'), event(1_002, 'x', 8)])
  assert.deepEqual(await state(), [1_000, 1])
})

test('existing types count, and those that go make room (3.7)', async (t) => {
  const { load, state } = openStore(t)
  await load('events', eventsOf(1, 1_000))
  await assert.rejects(load('events', [event(5_000, 'new')]), tooMany)
  await load('events', [event(5_000, 'kind 3')])
  await load('events', [event(5_001, 'new'), event(1, 'kind 2')])
  assert.deepEqual(await state(), [1_000, 3])
  const rest = eventsOf(11, 1_011)
  const snapshot = { isSnapshot: true }
  await assert.rejects(load('events', rest, snapshot), tooMany)
  await load('events', rest.slice(0, -1), snapshot)
  assert.deepEqual(await state(), [1_000, 4])
})

/** A resource that the program does not have. */
const inspections = defineResource({
  name: 'inspections',
  title: 'Inspection',
  description: 'A visit of an inspector, summed up by its outcome.',
  fields: {
    id: id('Record identifier', 12),
    outcome: text('What came of it', 'passed', { required: true }),
  },
  order: { by: 'id', direction: 'descending' },
  metaOf: 'outcome',
})

test('the limit applies to any resource with meta; a type has at most 256 bytes (3.7)', async (t) => {
  const { load, state } = openStore(t)
  const declared = { resources: [...resources, inspections] }
  const row = (id: number, outcome: string) => ({ id, company_id: 7, outcome })
  const rows = Array.from({ length: 1_001 }, (_, n) => row(n + 1, `\u0001"é${n}`))
  await assert.rejects(load('inspections', rows, declared), /^OperatorError: .* of company 7 would/)
  const long = [row(1, 'é'.repeat(128)), row(2, `${'é'.repeat(128)}x`)]
  const { problems } = await load('inspections', long, declared)
  const places = problems.map(({ number, reason }) => [number, reason])
  assert.deepEqual(places, [[2, 'is longer than 256 bytes']])
  assert.deepEqual(await state('inspections'), [1, 1])
})

test('an import whose recorded changes would exceed the limit is refused (3.7)', async (t) => {
  const { load, state } = openStore(t)
  const first = { source: 'register', ...recordedOn('2024-01-01') }
  const company = (attributes: object) => [
    { id: 7, jurisdiction: 'GB', identifier: '7', ...attributes },
  ]
  await load('companies', company({ a: '1', b: '1' }), first)
  await load('events', eventsOf(1, 999))
  const changed = company({ a: '2', b: '2' })
  const recorded = { ...first, ...recordedOn('2024-01-02') }
  await assert.rejects(load('companies', changed, recorded), tooMany)
  assert.deepEqual(await state(), [999, 2])
  await load('companies', company({ a: '2', b: '1' }), recorded)
  assert.deepEqual(await state(), [1_000, 3])
})
