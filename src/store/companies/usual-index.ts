// What a source says about companies, of which most have no other: read from the indexes of many
// listings without decoding each. Those of one source differ only in the company's text length and
// digest, so what they say is found out once.

import { readNumber } from '../listing/bytes.ts'
import { skipIntegers } from '../listing/integers.ts'
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
 * Reads indexes of one record.
 *
 * @param make makes what is wanted of an index; not of its id, length and digest.
 * @returns a function that takes an index in hexadecimal digits, and returns this and the digest.
 */
export function createIndexReader<T>(make: (record: ListedRecord) => T) {
  const made = new Map<string, T>()
  return (entries: string) => {
    const source = Buffer.from(entries, 'hex')
    const reader = { source, at: headBytes }
    readNumber(reader)
    skipIntegers(reader, 1)
    skipIntegers(reader, 1)
    const start = reader.at
    skipIntegers(reader, 1)
    const digestAt = reader.at
    const digest = source.subarray(digestAt, digestAt + digestBytes)
    // The number of the source, and what follows the digest: the same for most of its companies.
    const key = entries.slice(2 * start, 2 * digestAt) + entries.slice(2 * (digestAt + digestBytes))
    let found = made.get(key)
    if (found === undefined) {
      const [record] = recordsOf(decodeEntries(attributesShape, source), noText)
      if (record === undefined) throw new Error('an index of one record has none')
      found = make(record)
      made.set(key, found)
    }
    return { found, digest }
  }
}
