// How records' texts are joined: as they are served, with commas between them.

/**
 * What begins every record but the first of joined texts. It cannot be within a record: a quotation
 * mark in a JSON string follows a backslash, and what follows the end of a string is not a letter.
 */
export const recordSeparator = ',{"id":'

/** The records of a page as one text. */
export function textOf(records: readonly Uint8Array[]): string {
  return records.map((texts) => Buffer.from(texts).toString()).join(',')
}
