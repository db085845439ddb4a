// What a source says about companies, of which most have no other: read from the indexes of many
// listings, one after another, without decoding each. Those of one source differ only in the
// company's text length and digest, so what they say is found out once.

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
import type { CompanyStatements, StatementIndexes } from '../listing/tables.ts'

/** Where the text and the index of a company's statement are among those of all. */
export interface StatementPlace {
  /** The version in which what sources say about it last changed. */
  readonly version: number
  /** Whether at most one source says something. */
  readonly isUsual: boolean
  readonly textStart: number
  readonly textEnd: number
  readonly indexStart: number
  readonly indexEnd: number
}

/** The places of statements, by company. */
export function placesOf(
  said: StatementIndexes & Partial<CompanyStatements>,
): ReadonlyMap<number, StatementPlace> {
  const places = new Map<number, StatementPlace>()
  let [textEnd, indexEnd] = [0, 0]
  for (const [n, id] of said.ids.entries()) {
    const [textStart, indexStart] = [textEnd, indexEnd]
    textEnd += said.textBytes?.[n] ?? 0
    indexEnd += said.entryBytes[n] ?? 0
    const total = said.totals[n] ?? 0
    const isUsual = total === 0 || (total === 1 && indexEnd > indexStart)
    const version = said.versions[n] ?? 0
    places.set(id, { version, isUsual, textStart, textEnd, indexStart, indexEnd })
  }
  return places
}

const noText = new Uint8Array()

/**
 * Reads indexes of one record.
 *
 * @param make makes what is wanted of an index; not of its id, length and digest.
 * @returns a function that finds this, and where the digest begins.
 */
export function createIndexReader<T>(entries: Buffer, make: (record: ListedRecord) => T) {
  const index = entries.toString('latin1')
  const reader = { source: entries, at: 0 }
  const made = new Map<string, T>()

  function makeOf(entry: Buffer): T {
    const [record] = recordsOf(decodeEntries(attributesShape, entry), noText)
    if (record === undefined) throw new Error('an index of one record has none')
    return make(record)
  }

  return ({ indexStart, indexEnd }: StatementPlace) => {
    reader.at = indexStart + headBytes
    readNumber(reader)
    skipIntegers(reader, 1)
    skipIntegers(reader, 1)
    const start = reader.at
    skipIntegers(reader, 1)
    const digestAt = reader.at
    // The number of the source, and what follows the digest: the same for most of its companies.
    const key = index.slice(start, digestAt) + index.slice(digestAt + digestBytes, indexEnd)
    let found = made.get(key)
    if (found === undefined) {
      found = makeOf(entries.subarray(indexStart, indexEnd))
      made.set(key, found)
    }
    return { found, digestAt }
  }
}
