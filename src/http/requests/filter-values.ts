// The values of filters: what a client writes, as intervals of the form in which a store has them.

import type { FieldKind } from '../../resources/field.ts'
import type { Interval } from '../../store/selection.ts'

/** The bounds of a range, as written in brackets after a field's name (contract 10.2). */
export const bounds = ['gte', 'gt', 'lt', 'lte'] as const
export type Bound = (typeof bounds)[number]

/** The values that a client's word stands for: one, or all moments of a day. */
interface Span {
  readonly first: number
  readonly last: number
}

/**
 * The interval of a bound, or of the value itself; undefined if the word is not a value of the
 * kind. A day means its first moment with `gte` and `lt`, its last with `lte` and `gt`.
 */
export function intervalOf(
  kind: FieldKind,
  word: string,
  bound: Bound | undefined,
): Interval | undefined {
  if (kind === 'text') return { from: word, to: word }
  const span = kind === 'integer' ? integer(word) : moment(word, kind)
  if (span === undefined) return undefined
  const { first, last } = span
  switch (bound) {
    case 'gte':
      return { from: Math.ceil(first), to: undefined }
    case 'gt':
      return { from: Math.floor(last) + 1, to: undefined }
    case 'lt':
      return { from: undefined, to: Math.ceil(first) - 1 }
    case 'lte':
      return { from: undefined, to: Math.floor(last) }
    case undefined:
      return { from: Math.ceil(first), to: Math.floor(last) }
  }
}

/** What a field of this kind takes, in words. */
export function takenBy(kind: FieldKind): string {
  if (kind === 'integer') return 'it takes an integer'
  return 'it takes a day such as 2019-01-31, or a moment such as 2019-01-31T12:00:00Z'
}

const wholeNumber = /^-?\d{1,16}$/

function integer(word: string): Span | undefined {
  const value = wholeNumber.test(word) ? Number(word) : NaN
  return Number.isSafeInteger(value) ? { first: value, last: value } : undefined
}

const dayForm = /^\d{4}-\d\d-\d\d$/
const momentForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3})?Z$/
const dayMs = 86_400_000

/** In the precision of the kind; a moment between two seconds is a fraction. */
function moment(word: string, kind: FieldKind): Span | undefined {
  const unit = kind === 'timestamp' ? 1_000 : 1
  const day = parseDay(word)
  if (day !== undefined) return { first: day / unit, last: (day + dayMs) / unit - 1 }
  const at = parseMoment(word)
  return at === undefined ? undefined : { first: at / unit, last: at / unit }
}

/** The first moment of a day such as 2019-01-31, in milliseconds since 1970. */
export function parseDay(word: string): number | undefined {
  return dayForm.test(word) ? exactly(word, 10) : undefined
}

/** A moment such as 2019-01-31T12:00:00Z, in milliseconds since 1970. */
export function parseMoment(word: string): number | undefined {
  return momentForm.test(word) ? exactly(word, 19) : undefined
}

/** Refuses 2019-02-30, which would be read as a day of March. */
function exactly(word: string, length: number): number | undefined {
  const at = Date.parse(word)
  if (!Number.isFinite(at)) return undefined
  return new Date(at).toISOString().slice(0, length) === word.slice(0, length) ? at : undefined
}
