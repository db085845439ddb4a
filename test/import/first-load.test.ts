// The first rows of a resource, in the order of its listings, are cut into segments while they are
// read; other rows are staged one by one. The store is the same.

import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { events } from '../../src/resources/events.ts'
import type { Resource } from '../../src/resources/resource.ts'
import { rights } from '../../src/resources/rights.ts'
import { folderWith } from '../support/import-folder.ts'
import { importRows, query } from '../support/import-rows.ts'
import { makeSoundStore } from '../support/verify-store.ts'

const [of, short, long] = [3, 3, 120]

/** Records of some companies, in ascending order of both ids. */
function rowsOf(resource: Resource): readonly Record<string, unknown>[] {
  return Array.from({ length: of }, (_, company) =>
    Array.from({ length: company === 1 ? long : short }, (__, n) => ({
      company_id: company + 1,
      id: 1_000 * company + n + 1,
      ...valuesOf(resource, n),
    })),
  ).flat()
}

/** Values for the fields, others in each record, and not in the order of ids. */
function valuesOf({ fields, metaOf }: Resource, n: number): Record<string, unknown> {
  const day = `2020-01-${String(1 + ((n * 7) % 28)).padStart(2, '0')}T00:00:00`
  const values = {
    id: n,
    text: `„${n}” Łódź`,
    integer: n % 5,
    timestamp: `${day}Z`,
    timestamp_ms: `${day}.250Z`,
    text_list: [`a${n}`, 'b'],
  }
  const of = Object.entries(fields).slice(1)
  return Object.fromEntries(
    of.map(([name, { kind }]) => [name, name === metaOf ? `type ${n % 4}` : values[kind]]),
  )
}

/** What a store has of the listings, without the versions of its heads. */
function stored(db: string) {
  return [
    query(db, 'select company_id, segment, entries, texts from segments order by 1, 2'),
    query(db, 'select listing, company_id, total, meta, largest, directory from heads order by 2'),
    query(db, 'select * from record_ids order by 1, 2, 3'),
    query(db, 'select id from companies order by 1'),
  ]
}

async function loaded(t: TestContext, resource: Resource, rows: readonly object[]) {
  const db = makeSoundStore(t)
  const { counts } = await importRows(db, resource.name, rows, { onRejected: () => undefined })
  return { db, counts, rows: stored(db) }
}

describe('a first load in order and one out of order make the same store', () => {
  for (const resource of [rights, events]) {
    test(resource.name, async (t) => {
      const rows = rowsOf(resource)
      const inOrder = await loaded(t, resource, rows)
      assert.equal(inOrder.counts.inserted, rows.length)
      // The disorder is in the beginning, in the middle of a company, and at the end.
      for (const at of [0, 30, rows.length - 2]) {
        const swapped = rows.with(at, rows[at + 1] ?? {}).with(at + 1, rows[at] ?? {})
        const { counts, rows: found } = await loaded(t, resource, swapped)
        assert.deepEqual(counts, inOrder.counts)
        assert.deepEqual(found, inOrder.rows)
      }
    })
  }
})

test('a contradiction is refused with its line, even after rows in order (G4, G12)', async (t) => {
  const rows = rowsOf(rights)
  const other = { ...rows[2], ...valuesOf(rights, 77) }
  const lines = [...rows, other].map((row) => `${JSON.stringify(row)}\n`).toSpliced(5, 0, '\n')
  const { load } = folderWith(t, { 'rows.ndjson': lines.join('') })
  const options = { onRejected: () => undefined }
  const { counts, problems } = await load('rights', ['rows.ndjson'], options)
  assert.deepEqual([counts.refused, problems[0]?.number], [1, lines.length])
})

test('a contradiction of rows in order names the file and the line of the first one (G4)', async (t) => {
  const rows = rowsOf(events)
  const lines = (some: readonly object[]) => some.map((row) => `${JSON.stringify(row)}\n`).join('')
  const other = { ...rows[60], ...valuesOf(events, 77) }
  const { load } = folderWith(t, {
    'one.ndjson': lines(rows.slice(0, 20)),
    'two.ndjson': `\n${lines(rows.slice(20))}`,
    'three.ndjson': lines([other]),
  })
  const options = { onRejected: () => undefined }
  const { problems } = await load('events', ['one.ndjson', 'two.ndjson', 'three.ndjson'], options)
  assert.match(String(problems[0]?.reason), /with other content, in line 42 of \S+two\.ndjson$/)
})

test('a company with more rows than are sorted in memory is loaded whole', async (t) => {
  const rows = Array.from({ length: 5_002 }, (_, n) => ({ company_id: 1, id: n + 1, title: 't' }))
  const db = makeSoundStore(t)
  const { counts } = await importRows(db, 'jobs', [
    ...rows,
    { company_id: 2, id: 9_000, title: 't' },
  ])
  assert.equal(counts.inserted, 5_003)
  const heads = query(db, 'select total from heads order by company_id')
  const totals = heads.map(({ total }) => total)
  assert.deepEqual(totals, [5_002, 1])
})

test('the first load of a second source keeps the number of its source', async (t) => {
  const db = makeSoundStore(t)
  await importRows(db, 'jobs', [{ company_id: 1, id: 1, title: 't' }], { source: 'one' })
  await importRows(db, 'rights', [{ company_id: 1, id: 1, name: 'n' }], { source: 'two' })
  const of = (listing: string) =>
    query(
      db,
      `select s.name from record_ids r join sources s on s.id = r.source_id
       where listing = '${listing}'`,
    )
  const names = of('rights').map(({ name }) => name)
  assert.deepEqual(names, ['two'])
  await importRows(db, 'rights', [{ company_id: 1, id: 2, name: 'm' }], {
    source: 'two',
    isSnapshot: true,
  })
  assert.equal(query(db, 'select 1 from rights_view').length, 1)
})
