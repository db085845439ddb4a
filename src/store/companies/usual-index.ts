// What a source says about companies, of which most have no other: read from the indexes of many
// listings without decoding each. Those of one source differ only in the company's text length and
// digest, so what they say is found out once.

import {
  decodeEntries,
  digestBytes,
  headBytes,
  type ListedRecord,
  recordsOf,
} from '../listing/segment.ts'
import { attributesShape } from '../listing/shape.ts'

const noText = new Uint8Array()

/**
 * Reads indexes of one record, in hexadecimal digits.
 *
 * @param make makes what is wanted of an index; not of its id, length and digest.
 * @returns a function that returns this and the digest, in the same digits.
 */
export function createIndexReader<T>(make: (record: ListedRecord) => T) {
  const made = new Map<string, T>()
  return (entries: string) => {
    const ids = skipNumber(entries, 2 * headBytes)
    const lengths = skipInteger(entries, ids)
    const sources = skipInteger(entries, lengths)
    const start = skipInteger(entries, sources)
    const end = start + 2 * digestBytes
    // The number of the source, and what follows the digest: the same for most of its companies.
    const key = entries.slice(sources, start) + entries.slice(end)
    let found = made.get(key)
    if (found === undefined) {
      const index = decodeEntries(attributesShape, Buffer.from(entries, 'hex'))
      const [record] = recordsOf(index, noText)
      if (record === undefined) throw new Error('an index of one record has none')
      found = make(record)
      made.set(key, found)
    }
    return { found, digest: entries.slice(start, end) }
  }
}

/** Skips a list of one integer, which is a byte, and the integer as the base of all. */
const skipInteger = (digits: string, at: number) => skipNumber(digits, at + 2)

/** All bytes of a number but the last one have their eighth bit set. */
function skipNumber(digits: string, from: number): number {
  let at = from
  while (digits.charCodeAt(at) >= digit8) at += 2
  return at + 2
}

const digit8 = '8'.charCodeAt(0)
