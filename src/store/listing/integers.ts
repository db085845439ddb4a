// Lists of integers in few bytes (frame of reference): each is the distance from a base, in as many
// bytes as the greatest distance takes.

import { type ByteReader, type ByteWriter, readNumber, readSigned, skip } from './bytes.ts'

// The first byte of a list: how many bytes a number takes, and whether the distance 0 is null.
const widthMask = 15
const hasNulls = 16
const widthMax = 6
/** The width of doubles, for numbers that are too far apart for distances. */
const plainWidth = 8

/** @param numbers NaN is null. */
export function writeIntegers(writer: ByteWriter, numbers: Float64Array, count: number): void {
  let least = Infinity
  let greatest = -Infinity
  let nulls = 0
  for (let n = 0; n < count; n++) {
    const number = numbers[n] ?? NaN
    if (number < least) least = number
    if (number > greatest) greatest = number
    if (Number.isNaN(number)) nulls++
  }
  // The distance 0 stands for null, if there is one.
  const base = nulls === count ? 0 : nulls > 0 ? least - 1 : least
  const width = bytesOf(greatest - base)
  writer.number(nulls > 0 ? width | hasNulls : width)
  writer.signed(base)
  let at = writer.reserve(count * width)
  const bytes = writer.memory()
  for (let n = 0; n < count; n++) {
    const number = numbers[n] ?? NaN
    if (width === plainWidth) bytes.writeDoubleLE(number, at)
    else writeDistance(bytes, at, Number.isNaN(number) ? 0 : number - base, width)
    at += width
  }
}

function bytesOf(distance: number): number {
  let bytes = 0
  for (let rest = distance; rest >= 1; rest /= 256) bytes++
  return bytes > widthMax ? plainWidth : bytes
}

function writeDistance(bytes: Buffer, at: number, distance: number, width: number): void {
  let rest = distance
  for (let n = 0; n < width; n++) {
    bytes[at + n] = rest
    rest = Math.floor(rest / 256)
  }
}

/** Fills the list. */
export function readIntegers(reader: ByteReader, numbers: Float64Array | Uint32Array): void {
  const head = readNumber(reader)
  const base = readSigned(reader)
  const width = head & widthMask
  const none = (head & hasNulls) === 0 ? base : NaN
  const count = numbers.length
  const at = skip(reader, count * width)
  const bytes = reader.source
  if (width === 0) numbers.fill(none)
  else if (width === 1 && none === base) {
    for (let n = 0; n < count; n++) numbers[n] = base + (bytes[at + n] ?? 0)
  } else if (width === plainWidth) {
    for (let n = 0; n < count; n++) numbers[n] = bytes.readDoubleLE(at + 8 * n)
  } else {
    for (let n = 0; n < count; n++) {
      const distance = readDistance(bytes, at + n * width, width)
      numbers[n] = distance === 0 ? none : base + distance
    }
  }
}

/** Between which bounds the numbers of a list are: the head tells it, the numbers are not read. */
export function readBounds(reader: ByteReader) {
  const head = readNumber(reader)
  const base = readSigned(reader)
  const width = head & widthMask
  const hasNull = (head & hasNulls) !== 0
  if (width === plainWidth) return { least: -Infinity, most: Infinity, hasNull }
  return { least: hasNull ? base + 1 : base, most: base + 256 ** width - 1, hasNull }
}

function readDistance(bytes: Buffer, at: number, width: number): number {
  let distance = bytes[at] ?? 0
  if (width > 1) distance += (bytes[at + 1] ?? 0) << 8
  if (width > 2) distance += (bytes[at + 2] ?? 0) << 16
  if (width > 3) distance += (bytes[at + 3] ?? 0) * 0x1000000
  if (width > 4) distance += (bytes[at + 4] ?? 0) * 0x100000000
  if (width > 5) distance += (bytes[at + 5] ?? 0) * 0x10000000000
  return distance
}

/** Skips a list of `count` integers. */
export function skipIntegers(reader: ByteReader, count: number): void {
  const width = readNumber(reader) & widthMask
  readSigned(reader)
  skip(reader, count * width)
}
