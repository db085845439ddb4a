// Expiry times of keys, as operators write them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
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

for (const [text, end] of Object.entries(accepted)) {
  test(`${text} ends at ${end}`, () => {
    assert.equal(new Date(parseEnd('expires', text, now)).toISOString(), end)
  })
}

const refused: readonly (readonly [text: string, says: RegExp])[] = [
  ['2025-12-31', /which is in the past/],
  ['2026-01-01T12:00:00Z', /which is in the past/],
  ['0d', /which is in the past/],
  ['7980y', /the maximum is 9999-12-31$/],
  ['999999y', /the maximum is 9999-12-31$/],
  ['2027-02-29', /takes a date/],
  ['2027-02-30', /takes a date/],
  ['2027-13-01', /takes a date/],
  ['2027-00-10', /takes a date/],
  ['2027-01-32', /takes a date/],
  ['2027-01-31T25:00:00Z', /takes a date/],
  ['2027-01-31T12:00:00', /takes a date/],
  ['', /takes a date/],
  ['90', /takes a date/],
  ['90 d', /takes a date/],
  ['-90d', /takes a date/],
  ['1.5y', /takes a date/],
  ['90D', /takes a date/],
  ['soon', /takes a date/],
]

for (const [text, says] of refused) {
  test(`"${text}" is refused`, () => {
    assert.throws(
      () => parseEnd('expires', text, now),
      (error) => {
        assert.ok(error instanceof UsageError, String(error))
        assert.match(error.message, /^--expires is /)
        assert.match(error.message, says)
        return true
      },
    )
  })
}

test('any text is a valid date or a usage error', () => {
  const almost = fc
    .array(fc.constantFrom('1', '2', '0', '9', '-', 'T', ':', 'Z', 'd', 'y', '+'), {
      maxLength: 22,
    })
    .map((pieces) => pieces.join(''))
  const date = fc
    .tuple(fc.integer({ min: 2027, max: 9999 }), fc.nat({ max: 99 }), fc.nat({ max: 99 }))
    .map(([year, ...rest]) => [year, ...rest.map((n) => String(n).padStart(2, '0'))].join('-'))
  const duration = fc
    .tuple(fc.nat({ max: 999_999 }), fc.constantFrom('s', 'm', 'h', 'd', 'w', 'y'))
    .map((pieces) => pieces.join(''))
  fc.assert(
    fc.property(fc.oneof(almost, date, duration), (text) => {
      try {
        const end = parseEnd('expires', text, now)
        assert.ok(end > now)
        assert.match(new Date(end).toISOString(), /^\d{4}-/, `${text} is beyond the year 9999`)
      } catch (error) {
        if (!(error instanceof UsageError)) throw error
      }
    }),
    { numRuns: 500 },
  )
})
