// Numbers as bytes: seven bits a byte, the lowest first; all but the last byte have the eighth bit.

/** How characters are written: `latin1` if all are ASCII, `hex` for pairs of hexadecimal digits. */
export type TextEncoding = 'utf8' | 'latin1' | 'hex'

/** Writes numbers and texts one after another. */
export interface ByteWriter {
  /** An integer from 0 to 2^53-1. */
  number(value: number): void
  /** An integer from -(2^53-1) to 2^53-1. */
  signed(value: number): void
  bytes(value: Uint8Array): void
  text(value: string, encoding?: TextEncoding): void
  /** Makes room; what is written there is written into `memory()`, from the place returned. */
  room(length: number): number
  memory(): Buffer
  /** A copy of what was written. */
  take(): Buffer
}

/** Writes into memory that grows and is used again after `take`. */
export function createWriter(): ByteWriter {
  let memory = Buffer.allocUnsafeSlow(16_384)
  let end = 0

  function reserve(bytes: number): void {
    if (end + bytes <= memory.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(end + bytes, memory.length * 2))
    memory.copy(larger, 0, 0, end)
    memory = larger
  }

  function number(value: number): void {
    reserve(9)
    let rest = value
    while (rest >= 0x80000000) {
      memory[end++] = (rest % 0x80) | 0x80
      rest = Math.floor(rest / 0x80)
    }
    while (rest > 0x7f) {
      memory[end++] = (rest & 0x7f) | 0x80
      rest >>>= 7
    }
    memory[end++] = rest
  }

  return {
    number,
    signed(value) {
      const size = Math.abs(value)
      const sign = value < 0 ? 0x40 : 0
      reserve(10)
      if (size < 0x40) {
        memory[end++] = size | sign
        return
      }
      memory[end++] = (size % 0x40) | sign | 0x80
      number(Math.floor(size / 0x40))
    },
    bytes(value) {
      reserve(value.length)
      memory.set(value, end)
      end += value.length
    },
    text(value, encoding = 'utf8') {
      reserve(value.length * 3)
      end += memory.write(value, end, encoding)
    },
    room(length) {
      reserve(length)
      end += length
      return end - length
    },
    memory: () => memory,
    take() {
      const copy = Buffer.allocUnsafe(end)
      memory.copy(copy, 0, 0, end)
      end = 0
      return copy
    },
  }
}

/** Reads what a `ByteWriter` has written. */
export interface ByteReader {
  number(): number
  signed(): number
  bytes(length: number): Buffer
  text(length: number, encoding?: TextEncoding): string
  /** Passes over bytes; returns the place in `source` where they begin. */
  skip(length: number): number
  readonly source: Buffer
  isAtEnd(): boolean
}

/** @throws Error where the bytes end within a value. */
export function createReader(source: Uint8Array, from = 0): ByteReader {
  const bytes = Buffer.from(source.buffer, source.byteOffset, source.length)
  let at = from

  function number(): number {
    let byte = bytes[at++]
    if (byte === undefined) throw new RangeError('an index of records ends too early')
    if (byte < 0x80) return byte
    let value = byte & 0x7f
    let scale = 0x80
    do {
      byte = bytes[at++]
      if (byte === undefined) throw new RangeError('an index of records ends too early')
      value += (byte & 0x7f) * scale
      scale *= 0x80
    } while (byte > 0x7f)
    return value
  }

  function skip(length: number): number {
    const start = at
    at += length
    if (at > bytes.length) throw new RangeError('an index of records ends too early')
    return start
  }

  return {
    number,
    signed() {
      const byte = bytes[at++]
      if (byte === undefined) throw new RangeError('an index of records ends too early')
      const low = byte & 0x3f
      const size = byte < 0x80 ? low : low + number() * 0x40
      return (byte & 0x40) === 0 ? size : -size
    },
    bytes(length) {
      const start = skip(length)
      return bytes.subarray(start, at)
    },
    text(length, encoding = 'utf8') {
      const start = skip(length)
      return bytes.toString(encoding, start, at)
    },
    skip,
    source: bytes,
    isAtEnd: () => at === bytes.length,
  }
}
