// Decodes UTF-8, and tells in which line it is not valid.

import { isUtf8 } from 'node:buffer'
import { OperatorError } from '../config/operator-error.ts'
import { inEncodings, lineAround } from './encoding-guess.ts'

const newline = 0x0a

/**
 * The texts of chunks, which may end within a character.
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
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of chunks) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    const end = wholeCharacters(bytes)
    const whole = bytes.subarray(0, end)
    if (!isUtf8(whole)) refuseBytes(name, line, whole)
    for (let at = whole.indexOf(newline); at >= 0; at = whole.indexOf(newline, at + 1)) line += 1
    yield whole.toString()
    rest = bytes.subarray(end)
  }
  if (!isUtf8(rest)) refuseBytes(name, line, rest)
  if (rest.length > 0) yield rest.toString()
}

/**
 * @param firstLine the number of the first line of the bytes.
 * @throws OperatorError with the first line that is not UTF-8, and what it is in other encodings.
 */
export function refuseBytes(name: string, firstLine: number, bytes: Buffer): never {
  let line = firstLine
  let start = 0
  for (let end; (end = bytes.indexOf(newline, start)) >= 0; start = end + 1) {
    if (!isUtf8(bytes.subarray(start, end))) break
    line += 1
  }
  const at = start + bytes.subarray(start).findIndex((byte) => byte > 0x7f)
  throw new OperatorError(
    `${name}: line ${line} is not valid UTF-8; say which encoding the file has: ` +
      `--encoding NAME, where the line reads right (${inEncodings(lineAround(bytes, at))})`,
  )
}

/** The length without the last character beyond ASCII, if the next chunk may complete it. */
function wholeCharacters(bytes: Buffer): number {
  const lead = bytes.subarray(-4).findLastIndex((byte) => (byte & 0xc0) !== 0x80)
  const at = Math.max(bytes.length - 4, 0) + lead
  return lead >= 0 && (bytes[at] ?? 0) >= 0xc0 ? at : bytes.length
}
