// Values as readable text: dates, numbers, codes, names of fields.

import type { FieldDescription } from './resources.ts'
import { language, texts } from './texts.ts'

const utc = { timeZone: 'UTC' } as const
const dayFormat = new Intl.DateTimeFormat(language, { ...utc, dateStyle: 'medium' })
const momentFormat = new Intl.DateTimeFormat(language, {
  ...utc,
  dateStyle: 'medium',
  timeStyle: 'short',
})
const year1000 = Date.UTC(1000)
const countFormat = new Intl.NumberFormat(language)

export const formatCount = (count: number): string => countFormat.format(count)

/** The days that the service accepts; browsers offer more. */
export const firstDay = '0001-01-01'
export const lastDay = '9999-12-31'

/** The last moment that the service accepts, in milliseconds since 1970. */
export const lastMs = Date.parse(`${lastDay}T23:59:59Z`)

/** A moment in milliseconds since 1970 as its day. */
export const formatDay = (ms: number): string => withWholeYear(dayFormat.format(ms), ms)

/** All years have four digits: one would take 5 May 17 for a day of 2017. */
function withWholeYear(text: string, ms: number): string {
  if (ms >= year1000) return text
  return text.replace(/\d{1,3}(?=,|$)/, (year) => year.padStart(4, '0'))
}

/** A moment to the minute, with its zone, since readers compare it with their own clocks. */
export const formatMoment = (ms: number): string => `${momentFormat.format(ms)}\u00a0UTC`

/** The day of a moment for a field of dates, `2024-01-31`; the nearest one that it may have. */
export const isoDay = (ms: number): string =>
  new Date(within(ms, Date.parse(firstDay), lastMs)).toISOString().slice(0, 10)

/** A number kept between two others. */
export const within = (value: number, least: number, most: number): number =>
  Math.max(least, Math.min(most, value))

/** A timestamp of the wire: its day if it is midnight, else to the minute. */
export function formatTimestamp(text: string): string {
  const ms = Date.parse(text)
  if (Number.isNaN(ms)) return text
  return ms % 86_400_000 === 0 ? formatDay(ms) : withWholeYear(momentFormat.format(ms), ms)
}

/** The day of a timestamp of the wire. */
export function formatDate(text: string): string {
  const ms = Date.parse(text)
  return Number.isNaN(ms) ? text : formatDay(ms)
}

export function isMoment({ kind }: Pick<FieldDescription, 'kind'>): boolean {
  return kind === 'timestamp' || kind === 'timestamp_ms'
}

/** The name of an attribute as words: `share_capital` is "Share capital". */
export function labelOf(name: string): string {
  const words = name.replaceAll('_', ' ').trim()
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** A code such as `utility_model` as words; anything else as it is. */
export function wordsOf(value: string): string {
  return /^[a-z]+(?:_[a-z]+)+$/.test(value) ? value.replaceAll('_', ' ') : value
}

/** Any value of a record as text. */
export function plainText(value: unknown, field?: FieldDescription): string {
  if (value === null || value === undefined) return texts.notKnown
  if (Array.isArray(value)) return value.map((one) => plainText(one)).join(', ')
  // What other numbers mean is not known: a year or a postcode has no groups of digits.
  if (typeof value === 'number')
    return field?.kind === 'integer' ? formatCount(value) : String(value)
  if (typeof value !== 'string') return JSON.stringify(value)
  if (field !== undefined && isMoment(field)) return formatTimestamp(value)
  return field?.filter === 'value' ? wordsOf(value) : value
}

/** Text cut to a length, without splitting a character. */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text
  return `${Array.from(text.slice(0, length + 1))
    .slice(0, -1)
    .join('')}…`
}
