// Parses values that several options and arguments take: numbers, names, end times, durations.

import { UsageError } from '../config/settings.ts'
import { companyNamed } from '../http/requests/company-request.ts'
import { parseDay } from '../http/requests/filter-values.ts'
import type { CompanyName } from '../store/inspecting.ts'
import { formatCount } from '../text/format-count.ts'
import { advise } from '../text/nearest.ts'

const dayMs = 86_400_000
/** The end of the last day that a date of four digits names. */
const endMax = Date.parse('9999-12-31T23:59:59.999Z')
const unitMs: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: dayMs,
  w: 7 * dayMs,
  y: 365 * dayMs,
}

/** Parses digits. @throws UsageError if they are not a number within these bounds. */
export function parseNumber(option: string, text: string, min: number, max: number): number {
  const number = wholeNumber(text)
  if (number >= min && number <= max) return number
  throw new UsageError(
    `--${option} is ${JSON.stringify(text)}; it takes a number from ${formatCount(min)} to ` +
      formatCount(max),
  )
}

/** Parses the number of a version. @throws UsageError for anything else. */
export function parseVersion(what: string, text: string, min = 1): number {
  const version = wholeNumber(text)
  if (version >= min) return version
  throw new UsageError(
    `${what} is ${JSON.stringify(text)}; it takes a version number; see: dossier imports`,
  )
}

/** A number in plain digits; NaN for any other text, such as a register's number (0012). */
export function wholeNumber(text: string): number {
  const number = /^(?:0|[1-9]\d{0,15})$/.test(text) ? Number(text) : NaN
  return Number.isSafeInteger(number) ? number : NaN
}

/**
 * A company by its id, or by its register number: GB:09876543, or the two parts as words.
 *
 * @throws UsageError for anything else.
 */
export function parseCompany(words: readonly string[]): CompanyName {
  const company = companyIn(words)
  if (company !== undefined) return company
  throw new UsageError(
    'name one company by its id, or by its register number (GB:09876543); see: dossier find',
  )
}

/** The same; undefined for anything else. */
export const companyIn = (words: readonly string[]): CompanyName | undefined =>
  words.length > 2 ? undefined : companyNamed(words.join(':'))

/** @throws UsageError if a text cannot name a key or a source. */
export function checkName(option: string, name: string): string {
  if (/^[\p{L}\p{N}][\p{L}\p{N}._-]{0,63}$/u.test(name)) return name
  throw new UsageError(
    `--${option} is ${JSON.stringify(name)}; it takes up to 64 letters, digits, dots, _ and -, ` +
      'the first of which is a letter or a digit',
  )
}

/** @throws UsageError if a word is not one of the known ones. */
export function parseChoice<T extends string>(
  option: string,
  word: string,
  known: readonly T[],
): T {
  const found = known.find((one) => one === word)
  if (found !== undefined) return found
  throw new UsageError(`--${option} is ${word}; ${advise(word, known)}`)
}

/**
 * Parses a date such as 2027-01-31 (its first moment, UTC), a moment such as 2027-01-31T12:00:00Z,
 * or a duration from now such as 90d, 12h or 1y.
 *
 * @returns milliseconds since 1970.
 * @throws UsageError for anything else, for a moment that is not after `now`, and for one after the
 *   year 9999.
 */
export function parseEnd(text: string, now: number): number {
  const duration = durationMs(text)
  const end = duration === undefined ? parseMoment(text) : now + duration
  if (Number.isNaN(end)) {
    throw new UsageError(
      `--expires is ${JSON.stringify(text)}; it takes a date (2027-01-31), a moment ` +
        `(2027-01-31T12:00:00Z) or a duration (90d, 12h, 1y)`,
    )
  }
  if (end > endMax) throw new UsageError(`--expires is ${text}; the maximum is 9999-12-31`)
  if (end <= now) throw new UsageError(`--expires is ${text}, which is in the past`)
  return end
}

/**
 * Parses a duration such as 365d, 12h or 1y.
 *
 * @returns milliseconds.
 * @throws UsageError for anything else.
 */
export function parseDuration(option: string, text: string): number {
  const duration = durationMs(text)
  if (duration !== undefined) return duration
  throw new UsageError(
    `--${option} is ${JSON.stringify(text)}; it takes a duration such as 365d, 12h or 1y`,
  )
}

function durationMs(text: string): number | undefined {
  const parts = /^(\d{1,6})([smhdwy])$/.exec(text)
  return parts ? Number(parts[1]) * (unitMs[parts[2] ?? ''] ?? NaN) : undefined
}

function parseMoment(text: string): number {
  const isForm = /^.{10}(T\d\d:\d\d(:\d\d)?(Z|[+-]\d\d:\d\d))?$/.test(text)
  return isForm && parseDay(text.slice(0, 10)) !== undefined ? Date.parse(text) : NaN
}
