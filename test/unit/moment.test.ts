// Timestamps in wire form as numbers.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readMoment } from '../../src/text/moment.ts'

const first = Date.parse('0001-01-01T00:00:00Z')
const last = Date.parse('9999-12-31T23:59:59.999Z')

test('any timestamp in wire form, with or without milliseconds, is the moment that it names', () => {
  const moments = fc.oneof(
    fc.integer({ min: first, max: last }),
    fc.constantFrom(
      ...[
        first,
        last,
        Date.parse('2000-02-29'),
        Date.parse('1900-03-01'),
        Date.parse('2024-12-31'),
      ],
    ),
  )
  fc.assert(
    fc.property(moments, (moment) => {
      const text = new Date(moment).toISOString()
      assert.equal(readMoment(text), moment)
      const seconds = `${text.slice(0, 19)}Z`
      assert.equal(readMoment(seconds), Date.parse(seconds))
    }),
  )
})
