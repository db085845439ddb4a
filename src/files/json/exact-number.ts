// Numbers of a JSON text that parsing would round silently to the nearest double are kept as they
// are in the text, to be refused where they are checked, and shown as the file has them.

declare global {
  interface JSON {
    parse(text: string, reviver: Reviver): unknown
    rawJSON(text: string): LongNumber
    isRawJSON(value: unknown): value is LongNumber
  }
}

type Reviver = (name: string, value: unknown, context: { readonly source?: string }) => unknown

/** A number as it is written, which `JSON.stringify` writes again. */
interface LongNumber {
  readonly rawJSON: string
}

// Almost no text has a number of 16 digits, or one with an exponent, outside its strings.
const longNumber = /(?:^|[:,[\s])-?\d(?:[\d.]{15}|[\d.]*[eE])/
const integer = /^-?\d+$/
const toPrecisionMax = 100

/** The JSON of a value; in a text, a `LongNumber` within one, which a reader would round. */
export function textOfJson(value: unknown): string {
  if (JSON.isRawJSON(value)) return value.rawJSON
  return JSON.stringify(value, (_name, inner: unknown) =>
    JSON.isRawJSON(inner) ? inner.rawJSON : inner,
  )
}

/**
 * The value of a JSON text with a `LongNumber` for each number that is rounded.
 *
 * @param value the result of parsing the text.
 */
export function withLongNumbers(text: string, value: unknown): unknown {
  if (!longNumber.test(text)) return value
  return JSON.parse(text, (_name, inner, { source = '' }) =>
    typeof inner !== 'number' || isExact(source) ? inner : JSON.rawJSON(source),
  )
}

/** Why a long number is refused; undefined for any other value. */
export function refuseRounded(value: unknown): string | undefined {
  if (!JSON.isRawJSON(value)) return undefined
  return isBeyond(Number(value.rawJSON))
    ? 'is beyond 2^53-1, where numbers are not exact; quote it'
    : 'would be rounded as a number; quote it, or cast it to varchar'
}

/** Whether a number's double, with as many digits, is the number again. */
function isExact(text: string): boolean {
  const number = Number(text)
  if (integer.test(text)) return Number.isSafeInteger(number)
  const digits = digitsOf(text)
  if (digits === '') return true
  if (isBeyond(number) || digits.length > toPrecisionMax) return false
  // The shortest text of a double, as programs write it, may be a digit below the nearest one.
  return [number.toPrecision(digits.length), String(number)].map(digitsOf).includes(digits)
}

/** Whether a number is beyond 2^53-1, where integers are not exact. */
export const isBeyond = (number: number): boolean => Math.abs(number) > Number.MAX_SAFE_INTEGER

/** The significant digits of a number. */
function digitsOf(number: string): string {
  const [digits = ''] = number.toLowerCase().split('e')
  return digits.replaceAll(/[-.]/g, '').replace(/^0+/, '')
}
