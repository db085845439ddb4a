// Numbers as bytes: seven bits a byte, lowest first; the eighth bit is set in all but the last one.
// Columns of texts: a dictionary of the distinct values, and a code for each record.

import { readIntegers, skipIntegers, writeIntegers } from './integers.ts'
import { DamagedStoreError } from './tables.ts'

export type ByteWriter = ReturnType<typeof createWriter>

/** Writes numbers and texts into memory that grows, and is reused after `take`. */
export function createWriter() {
  let memory = Buffer.allocUnsafeSlow(16_384)
  let end = 0

  function grow(bytes: number): void {
    if (end + bytes <= memory.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(end + bytes, memory.length * 2))
    memory.copy(larger, 0, 0, end)
    memory = larger
  }

  /** An integer from 0 to 2^53-1. */
  function number(value: number): void {
    grow(9)
    let rest = value
    while (rest > 0x7f) {
      memory[end++] = (rest % 0x80) | 0x80
      rest = Math.floor(rest / 0x80)
    }
    memory[end++] = rest
  }

  return {
    number,
    /** An integer from -(2^53-1) to 2^53-1. */
    signed(value: number): void {
      const size = Math.abs(value)
      const sign = value < 0 ? 0x40 : 0
      grow(10)
      if (size < 0x40) {
        memory[end++] = size | sign
        return
      }
      memory[end++] = (size % 0x40) | sign | 0x80
      number(Math.floor(size / 0x40))
    },
    text(value: string, encoding: BufferEncoding): void {
      grow(value.length * 3)
      end += memory.write(value, end, encoding)
    },
    /** Reserves bytes, which the caller writes into `memory()`; returns where they begin. */
    reserve(length: number): number {
      grow(length)
      end += length
      return end - length
    },
    memory: () => memory,
    /** Returns a copy of what was written, and begins again. */
    take(): Buffer {
      const copy = Buffer.allocUnsafe(end)
      memory.copy(copy, 0, 0, end)
      end = 0
      return copy
    },
  }
}

/** Bytes that a `ByteWriter` has written, and where to read next. */
export interface ByteReader {
  readonly source: Buffer
  at: number
}

/** Skips bytes, and returns where they begin. @throws DamagedStoreError if they end too early. */
export function skip(reader: ByteReader, length: number): number {
  const begin = reader.at
  reader.at += length
  if (reader.at > reader.source.length)
    throw new DamagedStoreError('an index of records ends too early')
  return begin
}

export function readNumber(reader: ByteReader): number {
  const { source } = reader
  let next = source[skip(reader, 1)] ?? 0
  let value = next & 0x7f
  for (let scale = 0x80; next > 0x7f; scale *= 0x80) {
    next = source[skip(reader, 1)] ?? 0
    value += (next & 0x7f) * scale
  }
  return value
}

export function readSigned(reader: ByteReader): number {
  const first = reader.source[skip(reader, 1)] ?? 0
  const low = first & 0x3f
  const size = first < 0x80 ? low : low + readNumber(reader) * 0x40
  return (first & 0x40) === 0 ? size : -size
}

/** How characters are stored: if possible as ASCII, or as hexadecimal digits, two to a byte. */
const encodings = ['utf8', 'latin1', 'hex'] as const

/** Memory of the column that is being written or read, reused for the next one. */
const codeOf = new Map<string, number>()
let codes = new Float64Array(1_024)
let lengths = new Float64Array(1_024)

/** Writes a column of `count` values, the nth of which `at` returns. */
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
  writer.number(values.length)
  // If there are as many values as records, all are distinct, and none is null.
  if (values.length < count) writeIntegers(writer, codes, count)
  writeIntegers(writer, lengths, values.length)
  writeJoined(writer, values.join(''))
}

/** Numbers the distinct values from 1, as they first occur; fills `codes` and `lengths`. */
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

function writeJoined(writer: ByteWriter, joined: string): void {
  const isDigits = joined.length > 4 && /^[0-9a-f]+$/.test(joined)
  const text = isDigits && joined.length % 2 === 1 ? `${joined}0` : joined
  const bytes = Buffer.byteLength(text)
  const encoding = isDigits ? 2 : bytes === text.length ? 1 : 0
  writer.number(encoding)
  writer.number(isDigits ? bytes / 2 : bytes)
  writer.text(text, encodings[encoding])
}

/** Reads the codes of a column, one for each record, into `into`; returns the distinct values. */
export function readTexts(reader: ByteReader, into: Uint32Array): string[] {
  const count = readNumber(reader)
  if (count > into.length) throw new DamagedStoreError('an index has more values than records')
  if (count < into.length) readIntegers(reader, into)
  else for (let n = 0; n < count; n++) into[n] = n + 1
  if (lengths.length < count) lengths = new Float64Array(2 * count)
  const units = lengths.subarray(0, count)
  readIntegers(reader, units)
  const encoding = encodings[readNumber(reader)]
  const size = readNumber(reader)
  const from = skip(reader, size)
  const joined = reader.source.toString(encoding, from, from + size)
  if (count === 1) return [joined.slice(0, units[0])]
  const values: string[] = []
  let at = 0
  for (const unit of units) values.push(joined.slice(at, (at += unit)))
  return values
}

/** Skips a column of `count` records. */
export function skipTexts(reader: ByteReader, count: number): void {
  const values = readNumber(reader)
  if (values < count) skipIntegers(reader, count)
  skipIntegers(reader, values)
  readNumber(reader)
  skip(reader, readNumber(reader))
}
