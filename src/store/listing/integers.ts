// Lists of integers in few bytes: each number is the distance from the least one, in units of what
// divides all distances, in as many bytes as the greatest one takes. Where neighbours are close
// together, their differences are kept in this way instead.

import type { ByteReader, ByteWriter } from './bytes.ts'

// The first byte of a list: the bytes of each number (0 to 7), and these.
const hasNulls = 8
const isDifferences = 16
const hasUnit = 32
/** Numbers as they are, 8 bytes each: for those too far apart. */
const isPlain = 64

const widthMask = 7
const two31 = 2_147_483_648
const two32 = 4_294_967_296

let offsets = new Float64Array(1_024)

/** Writes the first numbers of a list; NaN is null. */
export function writeIntegers(writer: ByteWriter, numbers: Float64Array, count: number): void {
  const span = measure(numbers, count)
  const range = span.greatest - span.least
  if (span.nulls === count) return writeList(writer, hasNulls, [0], 0, 0)
  if (!span.isWhole || range > Number.MAX_SAFE_INTEGER - 1)
    return writePlain(writer, numbers, count)
  if (range === 0 && span.nulls === 0) return writeList(writer, 0, [span.least], 0, 0)
  if (offsets.length < count) offsets = new Float64Array(2 * count)
  const steps = span.greatestStep - span.leastStep
  if (span.nulls === 0 && count > 2 && bytesOf(steps) < bytesOf(range)) {
    const first = numbers[0] ?? 0
    let before = first
    for (let n = 1; n < count; n++) {
      const number = numbers[n] ?? 0
      offsets[n - 1] = number - before - span.leastStep
      before = number
    }
    return writeOffsets(writer, isDifferences, [first, span.leastStep], count - 1, steps)
  }
  for (let n = 0; n < count; n++) offsets[n] = (numbers[n] ?? 0) - span.least
  writeOffsets(writer, span.nulls === 0 ? 0 : hasNulls, [span.least], count, range)
}

/** What has to be known of a list before it is written. */
function measure(numbers: Float64Array, count: number) {
  let least = Infinity
  let greatest = -Infinity
  let leastStep = Infinity
  let greatestStep = -Infinity
  let nulls = 0
  let isWhole = true
  let before = NaN
  for (let n = 0; n < count; n++) {
    const number = numbers[n] ?? 0
    if (Number.isNaN(number)) nulls++
    if (number < least) least = number
    if (number > greatest) greatest = number
    const step = number - before
    if (step < leastStep) leastStep = step
    if (step > greatestStep) greatestStep = step
    if (number !== Math.trunc(number) && !Number.isNaN(number)) isWhole = false
    before = number
  }
  return { least, greatest, leastStep, greatestStep, nulls, isWhole }
}

function writePlain(writer: ByteWriter, numbers: Float64Array, count: number): void {
  writer.number(isPlain)
  const at = writer.room(8 * count)
  const memory = writer.memory()
  for (let n = 0; n < count; n++) memory.writeDoubleLE(numbers[n] ?? 0, at + 8 * n)
}

/** Writes `offsets`, whose greatest is `range`, in the greatest unit that makes them shorter. */
function writeOffsets(
  writer: ByteWriter,
  flags: number,
  bases: readonly number[],
  count: number,
  range: number,
): void {
  const shift = (flags & hasNulls) === 0 ? 0 : 1
  const width = bytesOf(range + shift)
  const unit = width > 1 ? unitOf(count, range) : 1
  const unitWidth = bytesOf(range / unit + shift)
  const isShorter = unitWidth < width
  for (let n = 0; n < count; n++) {
    const offset = offsets[n] ?? 0
    if (Number.isNaN(offset)) offsets[n] = 0
    else offsets[n] = (isShorter ? offset / unit : offset) + shift
  }
  if (!isShorter) return writeList(writer, flags, bases, count, width)
  writeList(writer, flags | hasUnit, [...bases, unit], count, unitWidth)
}

/** The greatest number that divides all offsets, of which the greatest is `range`. */
function unitOf(count: number, range: number): number {
  const divide = range < two31 ? divisorOfShort : divisorOf
  let unit = 0
  for (let n = 0; n < count && unit !== 1; n++) {
    const offset = offsets[n] ?? 0
    if (!Number.isNaN(offset)) unit = divide(unit, offset)
  }
  return Math.max(1, unit)
}

function divisorOf(a: number, b: number): number {
  let [divisor, rest] = [a, b]
  while (rest !== 0) [divisor, rest] = [rest, divisor % rest]
  return divisor
}

/** The same of integers of 31 bits, which processors divide faster. */
function divisorOfShort(a: number, b: number): number {
  let divisor = a | 0
  let rest = b | 0
  while (rest !== 0) {
    const next = (divisor % rest) | 0
    divisor = rest
    rest = next
  }
  return divisor
}

function bytesOf(number: number): number {
  let bytes = 0
  for (let rest = number; rest >= 1; rest /= 256) bytes++
  return bytes
}

function writeList(
  writer: ByteWriter,
  flags: number,
  bases: readonly number[],
  count: number,
  width: number,
): void {
  writer.number(flags | width)
  for (const base of bases) writer.signed(base)
  if (width === 0) return
  let at = writer.room(count * width)
  const bytes = writer.memory()
  for (let n = 0; n < count; n++) {
    const offset = offsets[n] ?? 0
    bytes[at] = offset
    if (width > 1) bytes[at + 1] = offset >>> 8
    if (width > 2) bytes[at + 2] = offset >>> 16
    if (width > 3) bytes[at + 3] = offset >>> 24
    if (width > 4) {
      const high = Math.floor(offset / two32)
      bytes[at + 4] = high
      if (width > 5) bytes[at + 5] = high >>> 8
      if (width > 6) bytes[at + 6] = high >>> 16
    }
    at += width
  }
}

/** Reads as many numbers as the list has room for. */
export function readIntegers(reader: ByteReader, numbers: Float64Array | Uint32Array): void {
  const head = reader.number()
  if ((head & isPlain) !== 0) return readPlain(reader, numbers)
  const width = head & widthMask
  const base = reader.signed()
  if ((head & isDifferences) !== 0) {
    readDifferences(reader, numbers, head, base)
    return
  }
  const unit = (head & hasUnit) === 0 ? 1 : reader.signed()
  if ((head & hasNulls) !== 0) readNullable(reader, numbers, width, base, unit)
  else if (width === 0) numbers.fill(base)
  else {
    const count = numbers.length
    const at = reader.skip(count * width)
    const bytes = reader.source
    if (width === 1) for (let n = 0; n < count; n++) numbers[n] = base + unit * (bytes[at + n] ?? 0)
    else
      for (let n = 0; n < count; n++)
        numbers[n] = base + unit * offsetAt(bytes, at + n * width, width)
  }
}

/** Moves past a list of a number of integers. */
export function skipIntegers(reader: ByteReader, count: number): void {
  const head = reader.number()
  if ((head & isPlain) !== 0) {
    reader.skip(8 * count)
    return
  }
  reader.signed()
  if ((head & isDifferences) !== 0) reader.signed()
  if ((head & hasUnit) !== 0) reader.signed()
  reader.skip((head & widthMask) * ((head & isDifferences) === 0 ? count : count - 1))
}

function readPlain(reader: ByteReader, numbers: Float64Array | Uint32Array): void {
  const at = reader.skip(8 * numbers.length)
  for (let n = 0; n < numbers.length; n++) numbers[n] = reader.source.readDoubleLE(at + 8 * n)
}

function readNullable(
  reader: ByteReader,
  numbers: Float64Array | Uint32Array,
  width: number,
  base: number,
  unit: number,
): void {
  const at = reader.skip(numbers.length * width)
  const bytes = reader.source
  for (let n = 0; n < numbers.length; n++) {
    const offset = width === 0 ? 0 : offsetAt(bytes, at + n * width, width)
    numbers[n] = offset === 0 ? NaN : base + unit * (offset - 1)
  }
}

function readDifferences(
  reader: ByteReader,
  numbers: Float64Array | Uint32Array,
  head: number,
  first: number,
): void {
  const width = head & widthMask
  const leastStep = reader.signed()
  const unit = (head & hasUnit) === 0 ? 1 : reader.signed()
  const count = numbers.length
  const at = reader.skip(Math.max(0, count - 1) * width)
  const bytes = reader.source
  let number = first
  if (count > 0) numbers[0] = first
  for (let n = 1; n < count; n++) {
    const offset = width === 0 ? 0 : offsetAt(bytes, at + (n - 1) * width, width)
    number += leastStep + unit * offset
    numbers[n] = number
  }
}

function offsetAt(bytes: Buffer, at: number, width: number): number {
  let offset = bytes[at] ?? 0
  if (width > 1) offset += (bytes[at + 1] ?? 0) << 8
  if (width > 2) offset += (bytes[at + 2] ?? 0) << 16
  if (width > 3) offset += (bytes[at + 3] ?? 0) * 16_777_216
  if (width > 4) offset += (bytes[at + 4] ?? 0) * two32
  if (width > 5) offset += (bytes[at + 5] ?? 0) * (two32 * 256)
  if (width > 6) offset += (bytes[at + 6] ?? 0) * (two32 * 65_536)
  return offset
}
