// The texts of records: how they are joined, as they are served; and the order of texts.

import { hash } from 'node:crypto'

/**
 * What begins every record but the first of joined texts. It cannot be within a record: a quotation
 * mark in a JSON string follows a backslash, and what follows the end of a string is not a letter.
 */
export const recordSeparator = ',{"id":'

export const separatorBytes = Buffer.from(recordSeparator)
const brace = 0x7b

/**
 * Where the comma before the next record is, at a place or after it; -1 behind the last record.
 * Searching for the brace, which is rare in a record, takes a third of the time.
 */
export function findSeparator(texts: Buffer, from: number): number {
  let at = texts.indexOf(brace, from + 1)
  while (at !== -1 && !isSeparator(texts, at - 1)) at = texts.indexOf(brace, at + 1)
  return at === -1 ? -1 : at - 1
}

function isSeparator(texts: Buffer, at: number): boolean {
  for (let n = 0; n < separatorBytes.length; n++) {
    if (texts[at + n] !== separatorBytes[n]) return false
  }
  return true
}

/** Texts that are joined by commas, by their lengths. */
export function splitTexts(texts: Uint8Array, lengths: ArrayLike<number>): Uint8Array[] {
  let end = -1
  return Array.from(lengths, (length) => {
    const start = end + 1
    end = start + length
    return texts.subarray(start, end)
  })
}

/** Decodes bytes as UTF-8. */
export function textIn({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString()
}

/** Bytes as a text, one character for each. */
export function latin1In({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString('latin1')
}

/** A text with one character for each byte of its UTF-8. */
export function asBytes(text: string): string {
  return /^[ -~]*$/.test(text) ? text : Buffer.from(text).toString('latin1')
}

/** The records of a page as one text. */
export function textOf(records: readonly Uint8Array[]): string {
  return records.map(textIn).join(',')
}

/**
 * The first 12 bytes of the SHA-256, each as a character (latin1, which costs less than base64):
 * enough to distinguish any two records.
 */
export function digestOf(text: string | Buffer): string {
  return hash('sha256', text, 'latin1').slice(0, 12)
}

/** The bytes of what `digestOf` returns. */
export const digestBytesOf = (digest: string): Buffer => Buffer.from(digest, 'latin1')

/** Compares two texts by code points, the order of their UTF-8 bytes. */
export function byCodePoint(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}
