// Expiry times of keys, as operators write them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseEnd } from '../../src/cli/option-values.ts'
import { UsageError } from '../../src/config/settings.ts'

const now = Date.parse('2026-01-01T12:00:00Z')

const accepted: Readonly<Record<string, string>> = {
  '30s': '2026-01-01T12:00:30.000Z',
  '5m': '2026-01-01T12:05:00.000Z',
  '12h': '2026-01-02T00:00:00.000Z',
  '90d': '2026-04-01T12:00:00.000Z',
  '2w': '2026-01-15T12:00:00.000Z',
  '1y': '2027-01-01T12:00:00.000Z',
  '2027-01-31': '2027-01-31T00:00:00.000Z',
  '2028-02-29': '2028-02-29T00:00:00.000Z',
  '2027-01-31T12:00:00Z': '2027-01-31T12:00:00.000Z',
  '2027-01-31T12:00+02:00': '2027-01-31T10:00:00.000Z',
}

test('an end is a duration from now, a day, or a moment', () => {
  for (const [text, end] of Object.entries(accepted)) {
    assert.equal(new Date(parseEnd(text, now)).toISOString(), end, text)
  }
})

const refused: readonly (readonly [text: string, says: RegExp])[] = [
  ['2025-12-31', /which is in the past/],
  ['2026-01-01T12:00:00Z', /which is in the past/],
  ['0d', /which is in the past/],
  ['7980y', /the maximum is 9999-12-31$/],
  ['2027-02-29', /takes a date/],
  ['2027-13-01', /takes a date/],
  ['2027-01-31T25:00:00Z', /takes a date/],
  ['2027-01-31T12:00:00', /takes a date/],
  ['', /takes a date/],
  ['90', /takes a date/],
  ['1.5y', /takes a date/],
  ['90D', /takes a date/],
  ['soon', /takes a date/],
]

test('an end that is past, too far, or invalid is refused', () => {
  for (const [text, says] of refused) {
    assert.throws(
      () => parseEnd(text, now),
      (error) => {
        assert.ok(error instanceof UsageError, String(error))
        assert.match(error.message, /^--expires is /)
        assert.match(error.message, says)
        return true
      },
    )
  }
})
