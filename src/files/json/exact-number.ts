// Numbers of a JSON text that would not be kept as they are written: parsing rounds them silently
// to the nearest double.

import { isObject, Refusal, type SourceRow } from '../refusal.ts'

// Almost no text has a number of 16 digits, or one with an exponent, outside its strings.
const longNumber = /(?:^|[:,[\s])-?\d(?:[\d.]{15}|[\d.]*[eE])/
// An unclosed string runs to the end of its line.
const stringOrNumber = /"(?:[^"\\\n]|\\.)*"?|-?\d[\d.eE+-]*/g
const toPrecisionMax = 100

/** Whether a JSON text may have a number that is rounded when it is parsed. */
export const mayBeRounded = (text: string): boolean => longNumber.test(text)

/** JSON texts, each on a line or more, with quotes around the numbers that would be rounded. */
export function quoteRounded(text: string): string {
  if (!mayBeRounded(text)) return text
  return text.replace(stringOrNumber, (part) => (isExact(part) ? part : `"${part}"`))
}

/**
 * Refuses a value with a number that was rounded.
 *
 * @param text the JSON text that the value was parsed from.
 */
export function refuseRounded(text: string, value: unknown): Refusal | undefined {
  const quoted = quoteRounded(text)
  if (quoted === text) return undefined
  const exact = JSON.parse(quoted) as unknown
  if (!isObject(exact)) return new Refusal(reason, undefined, exact)
  const rounded = value as SourceRow
  const name = Object.keys(exact).find(
    (name) => JSON.stringify(exact[name]) !== JSON.stringify(rounded[name]),
  )
  return new Refusal(reason, name, name === undefined ? exact : exact[name], { row: exact })
}

const reason = 'would be rounded as a number; quote it, or cast it to varchar'

/**
 * Whether a part of a text is no number, or one whose double, with as many digits, is the number
 * again. Integers are exact here: whether they are too great is checked where they are used.
 */
function isExact(part: string): boolean {
  if (/^(?:"|-?\d+$)/.test(part)) return true
  const digits = digitsOf(part)
  if (digits === '') return true
  const number = Number(part)
  if (!Number.isFinite(number) || digits.length > toPrecisionMax) return false
  // The shortest text of a double, as programs write it, may be a digit below the nearest one.
  return [number.toPrecision(digits.length), String(number)].map(digitsOf).includes(digits)
}

/** The significant digits of a number. */
function digitsOf(number: string): string {
  const [digits = ''] = number.toLowerCase().split('e')
  return digits.replaceAll(/[-.]/g, '').replace(/^0+/, '')
}
