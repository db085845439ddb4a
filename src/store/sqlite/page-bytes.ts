// A page's bytes, written around its records where SQLite has put them. Copied into a body of their
// own, a page of 37 kB takes 170 us and not 155: most of that is for the memory that the records
// leave to be collected.

/** How many blanks stand before and after the records: room for what is sent around them. */
export const room = { before: 32, after: 256 } as const

/** The records of a query, joined by commas, as a blob with that room; null where there is none. */
export function joinedSql(records: string): string {
  const blanks = (count: number) => `'${' '.repeat(count)}'`
  return `select cast(
      ${blanks(room.before)} || group_concat(record, ',') || ${blanks(room.after)} as blob
    ) from (${records})`
}

/**
 * Writes texts into the room around records; where one is longer than that, takes a copy.
 *
 * @param joined what `joinedSql` gave; it is written over.
 */
export function surround(joined: Uint8Array | null, head: string, tail: string): Buffer {
  if (joined === null) return Buffer.from(head + tail)
  const roomy = Buffer.from(joined.buffer, joined.byteOffset, joined.length)
  const start = room.before - Buffer.byteLength(head)
  const end = roomy.length - room.after
  if (start < 0 || Buffer.byteLength(tail) > room.after) {
    return Buffer.concat([Buffer.from(head), roomy.subarray(room.before, end), Buffer.from(tail)])
  }
  roomy.write(head, start)
  return roomy.subarray(start, end + roomy.write(tail, end))
}
