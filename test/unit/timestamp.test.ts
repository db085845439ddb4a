// Timestamps: every form that a source may use, and the wire format (contract 3.8).

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Refusal } from '../../src/files/refusal.ts'
import { normaliseTimestamp } from '../../src/import/rows/timestamp.ts'

/** Input, and its UTC time with milliseconds. */
const accepted: Readonly<Record<string, string>> = {
  '2024-05-31': '2024-05-31T00:00:00.000Z',
  '2024-05-31T23:59': '2024-05-31T23:59:00.000Z',
  '2024-05-31 23:59:58': '2024-05-31T23:59:58.000Z',
  '2024-05-31t23:59:58z': '2024-05-31T23:59:58.000Z',
  ' 2024-05-31 ': '2024-05-31T00:00:00.000Z',
  '2024-05-31T23:59:58Z': '2024-05-31T23:59:58.000Z',
  '2024-05-31T23:59:58.7Z': '2024-05-31T23:59:58.700Z',
  '2024-05-31T23:59:58,789Z': '2024-05-31T23:59:58.789Z',
  '2024-05-31T23:59:58.999999999Z': '2024-05-31T23:59:58.999Z',
  '2024-05-31 23:59:58 +02:00': '2024-05-31T21:59:58.000Z',
  '2024-05-31T23:59:58+0530': '2024-05-31T18:29:58.000Z',
  '2024-05-31T23:59:58-11': '2024-06-01T10:59:58.000Z',
  '2024-02-29': '2024-02-29T00:00:00.000Z',
  '2000-02-29': '2000-02-29T00:00:00.000Z',
  '2024-03-01T00:30+01:00': '2024-02-29T23:30:00.000Z',
  '0001-01-01': '0001-01-01T00:00:00.000Z',
  '0099-12-31': '0099-12-31T00:00:00.000Z',
  '9999-12-31T23:59:59.999Z': '9999-12-31T23:59:59.999Z',
}

test('a date or a time in any usual form is the moment that it names, in UTC (3.8)', () => {
  for (const [given, moment] of Object.entries(accepted)) {
    assert.equal(normaliseTimestamp(given, 'milliseconds'), moment, given)
    assert.equal(normaliseTimestamp(given, 'seconds'), `${moment.slice(0, 19)}Z`, given)
  }
})

/** Refused input, and part of the reason. */
const refused: readonly (readonly [given: unknown, says: RegExp])[] = [
  ['1900-02-29', /does not exist as a date and time/],
  ['0000-01-01T00:00:00Z', /does not exist as a date and time/],
  ['2024-01-01T24:00:00Z', /does not exist as a date and time/],
  ['2024-01-01T23:60:00Z', /does not exist as a date and time/],
  ['2016-12-31T23:59:60Z', /does not exist as a date and time/],
  ['2024-01-01T00:00:00+16:00', /time zone/],
  ['2024-01-01T00:00:00+01:60', /time zone/],
  ['0001-01-01T00:00:00+01:00', /outside the years/],
  ['9999-12-31T23:59:59-01:00', /outside the years/],
  ['10000-01-01', /must be a date/],
  ['31.05.2024', /must be a date/],
  ['2024-5-31', /must be a date/],
  ['20240531', /must be a date/],
  ['2024-05-31T', /must be a date/],
  ['2024-05-31T23:59:58.', /must be a date/],
  ['2024-05-31T23:59:58 CET', /must be a date/],
  ['2024-05-31\n2024-06-01', /must be a date/],
  ['٢٠٢٤-٠٥-٣١', /must be a date/],
  ['now', /must be a date/],
  [1_717_113_600, /must be a date as text/],
  [true, /must be a date as text/],
]

test('a text that is not a date, or a date that does not exist, is refused (G15)', () => {
  for (const [given, says] of refused) {
    const refusal = normaliseTimestamp(given, 'milliseconds')
    assert.ok(refusal instanceof Refusal, JSON.stringify(given))
    assert.match(refusal.reason, says)
  }
})

const anyMoment = fc.date({
  min: new Date('0001-01-02T00:00:00Z'),
  max: new Date('9999-12-30T00:00:00Z'),
  noInvalidDate: true,
})

test('any instant gives the same timestamp in every zone, and in wire format is unchanged (G15)', () => {
  const anyOffset = fc.integer({ min: -15 * 60, max: 15 * 60 })
  fc.assert(
    fc.property(anyMoment, anyOffset, (moment, offset) => {
      const wire = moment.toISOString()
      assert.equal(normaliseTimestamp(wire, 'milliseconds'), wire)
      const local = new Date(moment.getTime() + offset * 60_000).toISOString().slice(0, -1)
      const [hours, minutes] = [Math.trunc(Math.abs(offset) / 60), Math.abs(offset) % 60]
      const pad = (number: number) => String(number).padStart(2, '0')
      const zone = `${offset < 0 ? '-' : '+'}${pad(hours)}:${pad(minutes)}`
      assert.equal(normaliseTimestamp(local + zone, 'milliseconds'), wire)
    }),
  )
})

test('exactly the days that the calendar lacks are refused (G15)', () => {
  const anyPart = (max: number) => fc.integer({ min: 0, max })
  fc.assert(
    fc.property(anyPart(9999), anyPart(14), anyPart(33), (year, month, day) => {
      const pad = (number: number, width: number) => String(number).padStart(width, '0')
      const text = `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}`
      const parsed = new Date(`${text}T00:00:00.000Z`)
      const exists =
        year > 0 && !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(text)
      assert.equal(normaliseTimestamp(text, 'seconds') instanceof Refusal, !exists)
      const wire = `${text}T00:00:00Z`
      const canonical = normaliseTimestamp(wire, 'seconds')
      assert.ok(exists ? canonical === wire : canonical instanceof Refusal, text)
    }),
    { numRuns: 300 },
  )
})
