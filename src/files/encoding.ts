// The encodings of text files, and their conversion to UTF-8.

import { OperatorError } from '../config/operator-error.ts'

/** The encodings that a file may have; `utf-16` is either byte order, told by its mark. */
export const encodings = [
  'utf-8',
  'utf-16',
  'utf-16le',
  'utf-16be',
  'latin1',
  'windows-1250',
  'windows-1251',
  'windows-1252',
  'shift_jis',
  'euc-kr',
  'gb18030',
] as const
export type Encoding = (typeof encodings)[number]

/** Other names of these encodings that WHATWG's list lacks, or has for another one. */
const otherNames: Readonly<Record<string, Encoding>> = {
  utf8: 'utf-8',
  utf16: 'utf-16',
  'latin-1': 'latin1',
  'iso-8859-1': 'latin1',
  gbk: 'gb18030',
  gb2312: 'gb18030',
  cp949: 'euc-kr',
  cp932: 'shift_jis',
}

/** The encoding of this name (`cp1251` is windows-1251); undefined if it is not supported. */
export function encodingNamed(word: string): Encoding | undefined {
  const name = word.toLowerCase()
  const known = encodings.find((encoding) => encoding === name) ?? otherNames[name]
  if (known !== undefined) return known
  try {
    const label = new TextDecoder(name).encoding
    return encodings.find((encoding) => encoding === label)
  } catch {
    return undefined
  }
}

const byteOrderMarks: readonly (readonly [bytes: readonly number[], encoding: string])[] = [
  [[0xff, 0xfe, 0, 0], 'utf-32'],
  [[0, 0, 0xfe, 0xff], 'utf-32'],
  [[0xef, 0xbb, 0xbf], 'utf-8'],
  [[0xff, 0xfe], 'utf-16le'],
  [[0xfe, 0xff], 'utf-16be'],
]

/**
 * The encoding of a text: the given one, or that of its byte order mark, or UTF-8.
 *
 * @param start the first bytes of the text.
 * @throws OperatorError if the mark contradicts the given encoding, or the text is recognisable as
 *   another encoding.
 */
export function encodingOf(
  name: string,
  start: Buffer,
  given?: Encoding,
): Exclude<Encoding, 'utf-16'> {
  const marked = byteOrderMarks.find(([bytes]) =>
    bytes.every((byte, at) => start[at] === byte),
  )?.[1]
  if (marked === 'utf-32') {
    throw new OperatorError(
      `${name} is UTF-32, which is not supported; convert it: iconv -f UTF-32 -t UTF-8`,
    )
  }
  if (marked === undefined) {
    if (given === 'utf-16') {
      throw new OperatorError(
        `${name} has no byte order mark; say which order its bytes have: --encoding utf-16le or ` +
          '--encoding utf-16be',
      )
    }
    if (given === undefined || given === 'utf-8') refuseUnmarkedUtf16(name, start)
    return given ?? 'utf-8'
  }
  const isExpected = given === undefined || given === marked
  if (!isExpected && !(given === 'utf-16' && marked !== 'utf-8')) {
    throw new OperatorError(
      `${name} begins with the byte order mark of ${marked}, but --encoding is ${given}; ` +
        'leave out --encoding',
    )
  }
  return marked as Exclude<Encoding, 'utf-16'>
}

/** In UTF-16, most characters of most files have a NUL as one of their two bytes. */
function refuseUnmarkedUtf16(name: string, start: Buffer): void {
  const sample = start.subarray(0, 256)
  const nuls = [0, 0]
  for (const [at, byte] of sample.entries()) if (byte === 0) nuls[at % 2] = (nuls[at % 2] ?? 0) + 1
  const [even = 0, odd = 0] = nuls
  const many = sample.length / 5
  if (Math.min(even, odd) > 0 || Math.max(even, odd) < Math.max(many, 2)) return
  const encoding = odd > even ? 'utf-16le' : 'utf-16be'
  throw new OperatorError(`${name} looks like UTF-16; say --encoding ${encoding}`)
}

/** Bytes without a place to cut a text, after which it is taken for something else. */
const uncutBytesMax = 16 << 20

/**
 * Converts text to UTF-8. A byte order mark at the start is kept.
 *
 * @throws OperatorError with the line of the first bytes that are not valid in the encoding. No
 *   character is ever replaced.
 */
export async function* toUtf8(
  name: string,
  encoding: Exclude<Encoding, 'utf-16'>,
  chunks: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  const decoder = decoderOf(encoding)
  let line = 1
  let rest: Buffer = Buffer.alloc(0)
  function decode(bytes: Buffer): Buffer {
    let text: string
    try {
      text = decoder.decode(bytes)
    } catch {
      const { lines, byte } = findInvalid(decoder, bytes)
      throw invalid(name, line + lines, encoding, byte)
    }
    const control = decoder.isUnicode ? -1 : text.search(/[\x80-\x9f]/)
    if (control >= 0) {
      throw invalid(
        name,
        line + linesOf(text.slice(0, control)),
        encoding,
        text.charCodeAt(control),
      )
    }
    line += linesOf(text)
    return Buffer.from(text)
  }
  for await (const chunk of chunks) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    const end = decoder.lastBoundary(bytes)
    if (bytes.length - end > uncutBytesMax) {
      throw new OperatorError(`${name}: line ${line} is longer than ${uncutBytesMax >> 20} MiB`)
    }
    if (end > 0) yield decode(bytes.subarray(0, end))
    rest = bytes.subarray(end)
  }
  if (rest.length > 0) yield decode(rest)
}

interface Decoder {
  readonly isUnicode: boolean
  /** The text of bytes that begin and end with whole characters. Throws if they are invalid. */
  readonly decode: (bytes: Buffer) => string
  /** A place near the end that certainly is between two characters; 0 if there is none. */
  readonly lastBoundary: (bytes: Buffer) => number
  /** Whether these bytes begin with an invalid sequence; the last character may be incomplete. */
  readonly isInvalid: (bytes: Buffer) => boolean
}

function decoderOf(encoding: Exclude<Encoding, 'utf-16'>): Decoder {
  const isWide = encoding === 'utf-16le' || encoding === 'utf-16be'
  // WHATWG's latin1 is windows-1252, which would turn wrong bytes into wrong characters.
  if (encoding === 'latin1') {
    const decode = (bytes: Buffer) => bytes.toString('latin1')
    return {
      isUnicode: false,
      decode,
      lastBoundary: ({ length }) => length,
      isInvalid: () => false,
    }
  }
  const fatal = { fatal: true, ignoreBOM: true }
  const decoder = new TextDecoder(encoding, fatal)
  return {
    isUnicode: isWide || encoding === 'utf-8',
    decode: (bytes) => decoder.decode(bytes),
    lastBoundary: isWide ? (bytes) => lastPair(bytes, encoding) : lastAscii,
    isInvalid: (bytes) => {
      try {
        new TextDecoder(encoding, fatal).decode(bytes, { stream: true })
        return false
      } catch {
        return true
      }
    },
  }
}

/** In all encodings but UTF-16, a byte below 0x30 is a character of its own. */
function lastAscii(bytes: Buffer): number {
  return bytes.findLastIndex((byte) => byte < 0x30) + 1
}

/** The last even offset that does not separate two halves of a surrogate pair. */
function lastPair(bytes: Buffer, encoding: 'utf-16le' | 'utf-16be'): number {
  const end = bytes.length & ~1
  const high = bytes[encoding === 'utf-16le' ? end - 1 : end - 2] ?? 0
  return (high & 0xfc) === 0xd8 ? end - 2 : end
}

/** The number of lines before the first invalid sequence, and its last byte. */
function findInvalid(decoder: Decoder, bytes: Buffer): { lines: number; byte: number } {
  let [valid, invalid] = [0, bytes.length]
  while (invalid - valid > 1) {
    const middle = (valid + invalid) >> 1
    if (decoder.isInvalid(bytes.subarray(0, middle))) invalid = middle
    else valid = middle
  }
  const before = bytes.subarray(0, decoder.lastBoundary(bytes.subarray(0, valid)))
  return { lines: linesOf(decoder.decode(before)), byte: bytes[valid] ?? 0 }
}

function linesOf(text: string): number {
  let lines = 0
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines += 1
  return lines
}

function invalid(name: string, line: number, encoding: Encoding, byte: number): OperatorError {
  const shown = `0x${byte.toString(16).padStart(2, '0')}`
  const other = encoding === 'latin1' ? '; it is probably windows-1252' : ''
  return new OperatorError(
    `${name}: line ${line} is not valid ${encoding} (at a byte ${shown})${other}; ` +
      'say which encoding the file has: --encoding NAME',
  )
}
