// Columns of texts: each different value once, and for each record which one it has.

import type { ByteReader, ByteWriter } from './bytes.ts'
import { readIntegers, skipIntegers, writeIntegers } from './integers.ts'

// The first byte of a column: how the values' characters are kept, and this.
const encodings = ['utf8', 'latin1', 'hex'] as const
const [isUtf8, isAscii, isHex] = [0, 1, 2]
const encodingMask = 3
/** All records have different values, and none is null. */
const isDistinct = 4

/** Values of a column under way, which are used again for the next one. */
const codeOf = new Map<string, number>()
let codes = new Float64Array(1_024)
let lengths = new Float64Array(1_024)

/** Writes a column of a number of values, which `at` returns. */
export function writeTexts(
  writer: ByteWriter,
  count: number,
  at: (n: number) => string | null,
): void {
  if (codes.length < count) {
    codes = new Float64Array(2 * count)
    lengths = new Float64Array(2 * count)
  }
  const values = fillCodes(count, at)
  const isEach = values.length === count && count > 0
  const joined = values.join('')
  const bytes = Buffer.byteLength(joined)
  const encoding = encodingOf(joined, bytes)
  writer.number(encoding + (isEach ? isDistinct : 0))
  writer.number(values.length)
  if (!isEach) writeIntegers(writer, codes, count)
  writeIntegers(writer, lengths, values.length)
  writeJoined(writer, joined, encoding, bytes)
}

/** Numbers the values by their first record, from 1; fills `codes` and `lengths`. */
function fillCodes(count: number, at: (n: number) => string | null): string[] {
  const values: string[] = []
  let before: string | null = null
  let code = 0
  codeOf.clear()
  for (let n = 0; n < count; n++) {
    const value = at(n)
    if (value === null) code = 0
    else if (value !== before) {
      code = codeOf.get(value) ?? 0
      if (code === 0) {
        lengths[values.length] = value.length
        code = values.push(value)
        codeOf.set(value, code)
      }
    }
    before = value
    codes[n] = code
  }
  return values
}

function encodingOf(joined: string, bytes: number): number {
  if (bytes !== joined.length) return isUtf8
  return joined.length > 4 && isHexadecimal(joined) ? isHex : isAscii
}

function writeJoined(writer: ByteWriter, joined: string, encoding: number, bytes: number): void {
  if (encoding === isHex) {
    const even = joined.length % 2 === 0 ? joined : `${joined}0`
    writer.number(even.length / 2)
    writer.text(even, 'hex')
  } else {
    writer.number(bytes)
    writer.text(joined, encodings[encoding])
  }
}

/** Digits, for the most part: identifiers. */
function isHexadecimal(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code < 48 || code > 102 || (code > 57 && code < 97)) return false
  }
  return true
}

/** Reads a column of as many values as `into` has room for; returns the different ones. */
export function readTexts(reader: ByteReader, into: Uint32Array): string[] {
  const head = reader.number()
  const count = reader.number()
  if (count > into.length) throw new Error('an index has more values than records')
  if ((head & isDistinct) === 0) readIntegers(reader, into)
  else for (let n = 0; n < into.length; n++) into[n] = n + 1
  if (lengths.length < count) lengths = new Float64Array(2 * count)
  const units = lengths.subarray(0, count)
  readIntegers(reader, units)
  const size = reader.number()
  const joined = reader.text(size, encodings[head & encodingMask])
  if (count === 1) return [joined.slice(0, units[0])]
  const values: string[] = []
  let at = 0
  for (const unit of units) values.push(joined.slice(at, (at += unit)))
  return values
}

/** Passes over a column of a number of records. */
export function skipTexts(reader: ByteReader, count: number): void {
  const head = reader.number()
  const values = reader.number()
  if ((head & isDistinct) === 0) skipIntegers(reader, count)
  skipIntegers(reader, values)
  reader.skip(reader.number())
}
