// Timestamps: the forms that a source may use, and the one form on the wire (contract 3.8).

import { Refusal } from '../../files/refusal.ts'

/** Wire form, of a day that every month has, as most timestamps are: each row has some. */
const usual =
  /^(?!0000)\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3])(?::[0-5]\d){2}(\.\d{3})?Z$/
const usualLength = { seconds: 20, milliseconds: 24 }
const accepted =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?: ?(Z|[+-]\d\d(?::?\d\d)?))?)?$/i

const daysOfMonth = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

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
  const parts = accepted.exec(value.trim())
  if (parts === null) {
    return new Refusal('must be a date such as 2024-05-31 or 2024-05-31T23:59:59Z')
  }
  if (!isMoment(parts)) return new Refusal('does not exist as a date and time')
  return toUtc(parts, precision)
}

/** Whether a moment is on another day in UTC than in its own zone. */
export function otherDay(given: string, utc: string): boolean {
  return given.trim().slice(0, 10) !== utc.slice(0, 10)
}

function isMoment(parts: RegExpExecArray): boolean {
  const year = Number(parts[1])
  const month = Number(parts[2])
  const day = Number(parts[3])
  const isLeapYear = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  const days = month === 2 && isLeapYear ? 29 : (daysOfMonth[month - 1] ?? 0)
  return (
    year >= 1 &&
    day >= 1 &&
    day <= days &&
    Number(parts[4] ?? 0) < 24 &&
    Number(parts[5] ?? 0) < 60 &&
    Number(parts[6] ?? 0) < 60
  )
}

function toUtc(parts: RegExpExecArray, precision: 'seconds' | 'milliseconds'): string | Refusal {
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction = '', zone] = parts
  const milliseconds = fraction.slice(0, 3).padEnd(3, '0')
  const offset = offsetMinutes(zone)
  if (offset === undefined) return new Refusal('has a time zone that does not exist')
  const local = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${milliseconds}Z`)
  const moment = new Date(local - offset * 60_000)
  if (moment.getUTCFullYear() < 1 || moment.getUTCFullYear() > 9999) {
    return new Refusal('is outside the years 0001 to 9999')
  }
  const utc = moment.toISOString()
  return precision === 'milliseconds' ? utc : `${utc.slice(0, 19)}Z`
}

/** Minutes east of Greenwich; undefined for a zone that does not exist. */
function offsetMinutes(zone: string | undefined): number | undefined {
  if (zone === undefined || zone.toUpperCase() === 'Z') return 0
  const hours = Number(zone.slice(1, 3))
  const minutes = Number(zone.slice(3).replace(':', '') || 0)
  if (hours > 15 || minutes > 59) return undefined
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes)
}
