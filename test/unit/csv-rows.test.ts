// Records as CSV: each cell has its value, as RFC 4180 and contract 11.2 write it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createCsvWriter } from '../../src/resources/csv.ts'

const names = ['id', 'name', 'tags', 'count', 'sources'] as const
const texts = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({
    unit: fc.constantFrom('"', '\\', ',', '\n', '\r', '\u0001', 'Ж', '€', '😀', '{', ']'),
  }),
)
const records = fc.array(
  fc.record({
    id: fc.nat(),
    name: fc.option(texts),
    tags: fc.array(texts),
    count: fc.option(fc.maxSafeInteger()),
    sources: fc.option(fc.array(fc.dictionary(texts, fc.option(texts)))),
  }),
)

const cellOf = (value: unknown) =>
  value === null
    ? ''
    : typeof value === 'number'
      ? String(value)
      : `"${(typeof value === 'string' ? value : JSON.stringify(value)).replaceAll('"', '""')}"`

test('each cell has its value: null is empty, texts are quoted, lists are JSON', () => {
  fc.assert(
    fc.property(records, fc.constantFrom('', '7,'), (some, before) => {
      const joined = Buffer.from(some.map((record) => JSON.stringify(record)).join(','))
      const csv = createCsvWriter(names).rows(joined, before).toString()
      const cells = some.map((record) => names.map((name) => cellOf(record[name])))
      const rows = before === '' ? cells : cells.map((row) => ['7', ...row])
      assert.equal(csv, rows.map((row) => `${row.join(',')}\r\n`).join(''))
    }),
  )
})

test('texts that are not records, or end too early, are refused', () => {
  const writer = createCsvWriter(['id', 'name'])
  for (const [text, says] of [
    ['{"id":1,"title":"a"}', /other fields/],
    ['{"id":1,"name":"a', /too early/],
    ['{"id":1,"name":"\\n', /too early/],
    ['{"id":1,"name":["a"', /too early/],
    ['{"id":1', /too early/],
  ] as const) {
    assert.throws(() => writer.rows(Buffer.from(text)), says, text)
  }
})
