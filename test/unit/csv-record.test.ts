// Splitting CSV into records and cells.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseHeader } from '../../src/files/csv-header.ts'
import { linesIn, splitRecord, withDoubleQuotes } from '../../src/files/csv-record.ts'

const form = { delimiter: ',', hasQuotes: true }
const texts = fc.string({ unit: fc.constantFrom('"', '""', 'a', '😀', ',', '\n', '\r') })

test('a quoted cell has its text, however long it is', () => {
  fc.assert(
    fc.property(texts, fc.constantFrom(1, 70_000), (text, times) => {
      const long = text.repeat(times)
      const { cells } = splitRecord(`"${withDoubleQuotes(long)}",b`, 0, form)
      assert.deepEqual(cells, [long, 'b'])
    }),
    { numRuns: 40 },
  )
})

test('lines end with LF, CRLF or CR', () => {
  fc.assert(
    fc.property(texts, (text) => assert.equal(linesIn(text), text.split(/\r\n|\r|\n/).length)),
  )
})

test('delimiters at the end of a header make no columns, even after one name', () => {
  for (const [text, columns] of [
    ['id,\n1,\n', ['id']],
    ['id,name,,\n1,x,,\n', ['id', 'name']],
  ] as const) {
    const { header } = parseHeader('a.csv', [form], text, 0)
    assert.deepEqual(header.columns, columns)
  }
})
