// How records are stored: texts in pieces, and their filter values in the index.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { importRows, makeFolder, queryStore } from '../support/import-rows.ts'
import { storeAt } from '../support/store-at.ts'

test('texts are kept in pieces of some kilobytes, whatever imports add to a listing', async (t) => {
  const path = `${makeFolder(t)}/x.db`
  const rows = Array.from({ length: 900 }, (_, n) => ({ company_id: 1, id: n + 1, name: 'a mark' }))
  // Most are appended, some inserted, all changed at last.
  await importRows(path, 'rights', rows.slice(100, 400))
  for (let n = 400; n < 900; n += 100) {
    await importRows(path, 'rights', rows.slice(n, n + 100))
  }
  await importRows(path, 'rights', rows.slice(0, 100))
  const sizes = async () => {
    const [row = {}] = await queryStore(
      storeAt(path),
      `select count(*) as pieces, max(octet_length(texts)) as most, sum(octet_length(texts)) as all_of
       from rights_pieces`,
    )
    return [row['pieces'], row['most'], row['all_of']].map(Number) as [number, number, number]
  }
  const [pieces, most, bytes] = await sizes()
  assert.ok(most < 4_000, `${most} bytes`)
  assert.ok(pieces <= bytes / 3_000, `${pieces} pieces of ${bytes} bytes`)
  await importRows(
    path,
    'rights',
    rows.map((row) => ({ ...row, name: 'a mark with a name of three times the length of before' })),
  )
  const [, mostLater, bytesLater] = await sizes()
  assert.ok(bytesLater > bytes && mostLater < 4_000, `${mostLater} bytes`)
})

test('filter values are typed: numbers, seconds or milliseconds, text, null', async (t) => {
  const path = `${makeFolder(t)}/x.db`
  const read = async (target: string, row: Readonly<Record<string, unknown>>) => {
    await importRows(path, target, [{ id: 1, company_id: 1, ...row }])
    const [stored = {}] = await queryStore(storeAt(path), `select * from ${target}`)
    const filters = Object.entries(stored).filter(([column]) => column.startsWith('filter_'))
    const numbers = ['bigint', 'number']
    // PostgreSQL's driver returns large integers as text.
    return Object.fromEntries(
      filters.map(([column, value]) => [
        column.slice('filter_'.length),
        numbers.includes(typeof value) || /^-?\d{9,}$/.test(String(value)) ? Number(value) : value,
      ]),
    )
  }
  assert.deepEqual(
    await read('rights', {
      status: 'registered',
      object_type: '商标 \u{1F600}',
      registration_number: 'UK-1',
      registration_date: '2019-08-02T02:00:00+02:00',
      application_date: '0001-01-01',
      updated_at: '2023-01-17T16:03:05.5Z',
    }),
    {
      jurisdiction: null,
      object_type: '商标 \u{1F600}',
      status: 'registered',
      registration_number: 'UK-1',
      registration_date: Date.UTC(2019, 7, 2) / 1_000,
      application_date: -62_135_596_800,
      updated_at: Date.UTC(2023, 0, 17, 16, 3, 5, 500),
    },
  )
  const job = await read('jobs', { salary_from: 9_007_199_254_740_991, salary_to: -1 })
  assert.equal(job['salary_from'], 9_007_199_254_740_991)
  assert.equal(Number(job['salary_to']), -1)
  // The date of an event is what events are ordered by.
  const event = await read('events', { date: '2020-01-01', attr: 'name' })
  assert.deepEqual(event, { attr: 'name' })
})
