// Timestamps: the forms that a source may use, and the one form on the wire (contract 3.8).

import { Refusal } from '../../files/refusal.ts'
import { readMoment } from '../../text/moment.ts'

/** Days that every month has, alone and in wire form, as most timestamps are: each row has some. */
const usualDay = /^(?!0000)\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])$/
const usual =
  /^(?!0000)\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3])(?::[0-5]\d){2}(\.\d{3})?Z$/
const usualLength = { seconds: 20, milliseconds: 24 }
const midnight = { seconds: 'T00:00:00Z', milliseconds: 'T00:00:00.000Z' }
const accepted =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?: ?(Z|[+-]\d\d(?::?\d\d)?))?)?$/i

/**
 * Converts a date, or a date-time with or without a zone (UTC by default), to UTC in the contract's
 * form. Digits beyond its precision are dropped. A day or time that does not exist is refused,
 * including leap seconds.
 */
export function normaliseTimestamp(
  value: unknown,
  precision: 'seconds' | 'milliseconds',
): string | Refusal {
  if (typeof value !== 'string') return new Refusal('must be a date as text, such as 2024-05-31')
  if (value.length === usualLength[precision] && usual.test(value)) return value
  if (value.length === 10 && usualDay.test(value)) return value + midnight[precision]
  const parts = accepted.exec(value.trim())
  if (parts === null) {
    return new Refusal('must be a date such as 2024-05-31 or 2024-05-31T23:59:59Z')
  }
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction = '', zone] = parts
  const milliseconds = fraction.slice(0, 3).padEnd(3, '0')
  const local = `${year}-${month}-${day}T${hour}:${minute}:${second}.${milliseconds}Z`
  const moment = readMoment(local)
  // What the calendar or the clock lacks is read as another moment.
  if (year === '0000' || new Date(moment).toISOString() !== local) {
    return new Refusal('does not exist as a date and time')
  }
  const offset = offsetMinutes(zone)
  if (offset === undefined) return new Refusal('has a time zone that does not exist')
  const utc = offset === 0 ? local : new Date(moment - offset * 60_000).toISOString()
  // A year of more digits has a sign, which comes before them.
  if (utc < '0001') return new Refusal('is outside the years 0001 to 9999')
  return precision === 'milliseconds' ? utc : `${utc.slice(0, 19)}Z`
}

/** Whether a moment is on another day in UTC than in its own zone. */
export function otherDay(given: string, utc: string): boolean {
  return given.trim().slice(0, 10) !== utc.slice(0, 10)
}

/** Minutes east of Greenwich; undefined for a zone that does not exist. */
function offsetMinutes(zone: string | undefined): number | undefined {
  if (zone === undefined || zone.toUpperCase() === 'Z') return 0
  const hours = Number(zone.slice(1, 3))
  const minutes = Number(zone.slice(3).replace(':', '') || 0)
  if (hours > 15 || minutes > 59) return undefined
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes)
}
