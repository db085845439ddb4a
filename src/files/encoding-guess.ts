// Explains bytes and texts in the wrong encoding: what they would be in another encoding.

import { isUtf8 } from 'node:buffer'
import type { Encoding } from './encoding.ts'

/** The encodings that files without a declared one have most often. */
const likely: readonly Encoding[] = [
  'windows-1252',
  'windows-1251',
  'windows-1250',
  'shift_jis',
  'gb18030',
  'euc-kr',
]

const shownLength = 40

/**
 * A line that is not UTF-8 in the encodings that would explain it, side by side, for a message.
 *
 * @param start where it begins.
 */
export function inEncodings(bytes: Buffer, start = 0): string {
  const at = start + bytes.subarray(start).findIndex((byte) => byte > 0x7f)
  const line = lineAround(bytes, at)
  const shown = likely.flatMap((encoding) => {
    const text = decoded(line, encoding)
    return text === undefined ? [] : [`${encoding}: ${JSON.stringify(text)}`]
  })
  return shown.length === 0 ? 'in none that is supported' : shown.join(', ')
}

function decoded(line: Uint8Array, encoding: Encoding): string | undefined {
  try {
    // Decoded as a stream, since the last character may be cut.
    const text = new TextDecoder(encoding, { fatal: true }).decode(line, { stream: true })
    // Controls are in no text; private and replaced characters are in no usual one.
    if (/[\x80-\x9f\uE000-\uF8FF\uFFFD]/.test(text)) return undefined
    const at = Math.max(0, text.search(/[\x80-\uffff]/) - shownLength / 2)
    const cut = text.slice(at, at + shownLength).trim()
    return `${at > 0 ? '…' : ''}${cut}${at + shownLength < text.length ? '…' : ''}`
  } catch {
    return undefined
  }
}

/**
 * The bytes of a line around a place, at most some hundred.
 *
 * @param at the first byte of the line that is not ASCII.
 */
function lineAround(bytes: Buffer, at: number): Buffer {
  const start = bytes.lastIndexOf(0x0a, at) + 1
  const end = bytes.indexOf(0x0a, at)
  const last = Math.min(end < 0 ? bytes.length : end, at + 300)
  return bytes.subarray(Math.max(start, at - 100), last)
}

/** The bytes of windows-1252 for its characters beyond Latin-1. */
const bytesOf1252 = new Map(
  Array.from({ length: 32 }, (_, n) => [
    new TextDecoder('windows-1252').decode(Uint8Array.of(0x80 + n)),
    0x80 + n,
  ]),
)

/** UTF-8 read as windows-1252: a lead byte, and a byte that only continues a character. */
const suspect = /[\u00c2-\u00f4][\u0080-\u00bf\u0152-\u2122]/

/** The text that was meant, if this one is UTF-8 that was decoded as windows-1252 or Latin-1. */
export function readTwice(text: string): string | undefined {
  if (!suspect.test(text)) return undefined
  const bytes = Buffer.alloc(text.length)
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    const byte = unit < 0x100 ? unit : bytesOf1252.get(text[at] ?? '')
    if (byte === undefined) return undefined
    bytes[at] = byte
  }
  return isUtf8(bytes) ? bytes.toString() : undefined
}
