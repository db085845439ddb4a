// The values that an import accepts for each kind of field, and the form in which it stores them.

import { isBlank } from '../../text/blank.ts'
import { formatCount } from '../../text/format-count.ts'
import { type Field, type FieldKind, listLengthMax, textBytesMax } from '../../resources/field.ts'
import { isBeyond } from '../../files/json/exact-number.ts'
import { Refusal } from '../../files/refusal.ts'
import { normaliseTimestamp } from './timestamp.ts'

export type WireValue = string | number | null | string[]

type Normalise = (value: unknown) => WireValue | Refusal

const decimalDigits = /^-?\d+$/
const noInteger = 'must be an integer in plain digits'
export const beyondExact = 'is beyond 2^53-1'

/** The maximum length of a key, an identifier or a jurisdiction, in bytes. */
export const nameBytesMax = 1_024

/** Text unchanged; null if blank. NUL and lone surrogates cannot be stored as UTF-8 text. */
export function normaliseText(value: unknown, bytesMax = textBytesMax): string | null | Refusal {
  if (isBlank(value)) return null
  if (typeof value !== 'string') return new Refusal('must be text; quote it, or cast it to varchar')
  if (value.length * 3 > bytesMax && Buffer.byteLength(value) > bytesMax) {
    // A shorter name or key would be that of something else.
    const advice = bytesMax === textBytesMax ? '; shorten it in the file or in a mapping' : ''
    return new Refusal(`is longer than ${formatCount(bytesMax)} bytes${advice}`)
  }
  if (!value.isWellFormed()) return new Refusal('contains an unpaired surrogate')
  if (value.includes('\0')) return new Refusal('contains a NUL character')
  return value
}

/** An integer, given as a number or as plain decimal digits; null if blank. */
function normaliseInteger(value: unknown): number | null | Refusal {
  if (isBlank(value)) return null
  if (JSON.isRawJSON(value)) {
    return new Refusal(isBeyond(Number(value.rawJSON)) ? beyondExact : noInteger)
  }
  if (typeof value === 'number' || (typeof value === 'string' && decimalDigits.test(value))) {
    const number = Number(value)
    if (Number.isSafeInteger(number)) return number === 0 ? 0 : number
    if (Number.isInteger(number)) return new Refusal(beyondExact)
  }
  return new Refusal(noInteger)
}

/** An integer from 1 to 2^53-1, or its digits; null if blank. */
export function normaliseId(value: unknown): number | null | Refusal {
  const number = normaliseInteger(value)
  return typeof number === 'number' && number < 1 ? new Refusal('must be 1 or greater') : number
}

/** A list of texts without blank elements; text that begins with `[` is parsed as JSON. */
function normaliseTextList(value: unknown): string[] | Refusal {
  if (isBlank(value)) return []
  if (typeof value === 'string') {
    if (!value.startsWith('[')) return normaliseElements([value])
    try {
      value = JSON.parse(value)
    } catch {
      return new Refusal('begins with [ but is not a JSON array')
    }
  }
  if (!Array.isArray(value)) return new Refusal('must be a list of texts')
  return normaliseElements(value)
}

function normaliseElements(values: readonly unknown[]): string[] | Refusal {
  if (values.length > listLengthMax) return new Refusal(`has more than ${listLengthMax} elements`)
  const elements: string[] = []
  for (const value of values) {
    const element = normaliseText(value)
    if (element instanceof Refusal) return element
    if (element !== null) elements.push(element)
  }
  return elements
}

const normaliseOfKind: Readonly<Record<FieldKind, Normalise>> = {
  id: normaliseId,
  text: normaliseText,
  integer: normaliseInteger,
  timestamp: (value) => (isBlank(value) ? null : normaliseTimestamp(value, 'seconds')),
  timestamp_ms: (value) => (isBlank(value) ? null : normaliseTimestamp(value, 'milliseconds')),
  text_list: normaliseTextList,
}

/**
 * Returns the function that checks and normalises values of a field.
 *
 * @param bytesMax the maximum length of a text in bytes, if other than that of any text.
 */
export function normaliserOf(field: Field, bytesMax?: number): Normalise {
  const normalise: Normalise =
    bytesMax === undefined ? normaliseOfKind[field.kind] : (value) => normaliseText(value, bytesMax)
  if (!field.required) return normalise
  return (value) => normalise(value) ?? new Refusal('is required')
}
