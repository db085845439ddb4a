// How records' texts are joined: as they are served, with commas between them.

import { hash } from 'node:crypto'

/**
 * What begins every record but the first of joined texts. It cannot be within a record: a quotation
 * mark in a JSON string follows a backslash, and what follows the end of a string is not a letter.
 */
export const recordSeparator = ',{"id":'

/** The records of a page as one text. */
export function textOf(records: readonly Uint8Array[]): string {
  return records.map((texts) => Buffer.from(texts).toString()).join(',')
}

/** The first 96 bits of the SHA-256, in base64: enough to distinguish any two records. */
export function digestOf(text: string): string {
  return hash('sha256', text, 'base64').slice(0, 16)
}
