// The encodings of text files, their conversion to UTF-8, and the check that it is valid.

import { isUtf8 } from 'node:buffer'
import { OperatorError } from '../config/operator-error.ts'
import { UsageError } from '../config/settings.ts'
import { inEncodings } from './encoding-guess.ts'

/** The encodings that a file may have; `utf-16` has a byte order mark, of either order. */
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

/** Other names of these encodings that WHATWG's list lacks, or gives to another encoding. */
const otherNames: ReadonlyMap<string, Encoding> = new Map([
  ['utf16', 'utf-16'],
  ['latin-1', 'latin1'],
  ['iso-8859-1', 'latin1'],
  ['gbk', 'gb18030'],
  ['gb2312', 'gb18030'],
  ['cp949', 'euc-kr'],
  ['cp932', 'shift_jis'],
])

/**
 * The encoding of this name (`cp1251` is windows-1251); undefined if there is none.
 *
 * @throws UsageError if the encoding is not supported.
 */
export function encodingNamed(word: string): Encoding | undefined {
  const name = word.toLowerCase()
  const known = encodings.find((encoding) => encoding === name) ?? otherNames.get(name)
  if (known !== undefined) return known
  let label: string
  try {
    label = new TextDecoder(name).encoding
  } catch {
    // Code pages of DOS and of mainframes, which iconv has.
    if (!/^(?:cp|ibm)\d+$/.test(name)) return undefined
    label = name
  }
  const supported = encodings.find((encoding) => encoding === label)
  if (supported !== undefined) return supported
  const advice = `convert the file: iconv -f ${label} -t UTF-8`
  throw new UsageError(`--encoding is ${word}, which is not supported; ${advice}`)
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
        `${name} has no byte order mark; name the byte order: --encoding utf-16le or ` +
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

/** In UTF-16, most characters of most files have a NUL as the same one of their two bytes. */
function refuseUnmarkedUtf16(name: string, start: Buffer): void {
  const sample = start.subarray(0, 256)
  const nuls = [0, 0]
  for (const [at, byte] of sample.entries()) if (byte === 0) nuls[at % 2] = (nuls[at % 2] ?? 0) + 1
  const [even = 0, odd = 0] = nuls
  const many = Math.max(sample.length / 5, 2)
  // Some letters, such as U+0100, have it as the other one.
  if (Math.max(even, odd) < many || Math.min(even, odd) > many / 4) return
  const encoding = odd > even ? 'utf-16le' : 'utf-16be'
  throw new OperatorError(`${name} looks like UTF-16; add --encoding ${encoding}`)
}

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
  const decode = decoderOf(encoding)
  // This stays a chunk behind: from there, it finds the place of an error byte by byte.
  const follow = decoderOf(encoding)
  const mayHaveControls = encoding.startsWith('utf-')
  let line = 1
  let lastByte = 0
  function convert(bytes: Buffer, isEnd: boolean): Buffer {
    let text: string
    try {
      text = decode(bytes, isEnd)
    } catch {
      throw findInvalid(bytes)
    }
    const control = mayHaveControls ? -1 : text.search(/[\x80-\x9f]/)
    if (control >= 0) {
      const before = linesOf(text.slice(0, control))
      throw invalid(name, line + before, encoding, text.charCodeAt(control), bytes)
    }
    follow(bytes, false)
    line += linesOf(text)
    lastByte = bytes.at(-1) ?? lastByte
    return Buffer.from(text)
  }
  function findInvalid(bytes: Buffer): OperatorError {
    for (const byte of bytes) {
      try {
        line += linesOf(follow(Buffer.of(byte), false))
      } catch {
        return invalid(name, line, encoding, byte, bytes)
      }
    }
    // The last character is incomplete.
    return invalid(name, line, encoding, bytes.at(-1) ?? lastByte, bytes)
  }
  for await (const chunk of chunks) yield convert(chunk, false)
  yield convert(Buffer.alloc(0), true)
}

type Decode = (bytes: Buffer, isEnd: boolean) => string

/** Makes a decoder of consecutive bytes, which throws if they are not valid. */
function decoderOf(encoding: Exclude<Encoding, 'utf-16'>): Decode {
  // WHATWG's latin1 is windows-1252, which would turn wrong bytes into wrong characters.
  if (encoding === 'latin1') return (bytes) => bytes.toString('latin1')
  const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true })
  return (bytes, isEnd) => decoder.decode(bytes, { stream: !isEnd })
}

function linesOf(text: string): number {
  let lines = 0
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines += 1
  return lines
}

function invalid(
  name: string,
  line: number,
  encoding: Encoding,
  byte: number,
  bytes: Buffer,
): OperatorError {
  const shown = `0x${byte.toString(16).padStart(2, '0')}`
  // At the end of the file, what is left to convert is empty.
  const isUtf = bytes.length > 0 && isUtf8(bytes.subarray(0, wholeCharacters(bytes)))
  const other = encoding === 'latin1' && !isUtf ? '; it is probably windows-1252' : ''
  return new OperatorError(
    `${name}: line ${line} is not valid ${encoding} (byte ${shown})${other}; ` +
      `name the encoding of the file: --encoding ${isUtf ? 'utf-8' : 'NAME'}`,
  )
}

const newline = 0x0a

/**
 * The texts of chunks of UTF-8, which may end within a character.
 *
 * @param firstLine the number of the first line.
 * @throws OperatorError with the first line that is not valid.
 */
export async function* decodeUtf8(
  name: string,
  firstLine: number,
  chunks: AsyncIterable<Buffer>,
): AsyncGenerator<string> {
  let line = firstLine
  let lineBefore = line
  let bytes: Buffer = Buffer.alloc(0)
  let rest = bytes
  for await (const chunk of chunks) {
    bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    lineBefore = line
    const end = wholeCharacters(bytes)
    const whole = bytes.subarray(0, end)
    if (!isUtf8(whole)) refuseBytes(name, line, whole)
    for (let at = whole.indexOf(newline); at >= 0; at = whole.indexOf(newline, at + 1)) line += 1
    yield whole.toString()
    rest = bytes.subarray(end)
  }
  if (!isUtf8(rest)) refuseBytes(name, lineBefore, bytes)
  if (rest.length > 0) yield rest.toString()
}

/**
 * @param firstLine the number of the first line of the bytes.
 * @throws OperatorError with the first line that is not UTF-8, and what it is in other encodings.
 */
function refuseBytes(name: string, firstLine: number, bytes: Buffer): never {
  let line = firstLine
  let start = 0
  for (let end; (end = bytes.indexOf(newline, start)) >= 0; start = end + 1) {
    if (!isUtf8(bytes.subarray(start, end))) break
    line += 1
  }
  throw new OperatorError(
    `${name}: line ${line} is not valid UTF-8; choose the encoding in which the ` +
      `line reads correctly: --encoding NAME (${inEncodings(bytes, start)}), ` +
      'or convert the file: iconv -f NAME -t UTF-8',
  )
}

/** The length without the last character beyond ASCII, if the next chunk may complete it. */
function wholeCharacters(bytes: Buffer): number {
  const lead = bytes.subarray(-4).findLastIndex((byte) => (byte & 0xc0) !== 0x80)
  const at = Math.max(bytes.length - 4, 0) + lead
  return lead >= 0 && (bytes[at] ?? 0) >= 0xc0 ? at : bytes.length
}
