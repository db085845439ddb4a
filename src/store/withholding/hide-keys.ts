// Natural keys of withheld records: a source may make them of what identifies people, so hashes
// take their places, by which the records keep their ids.

import { inBatches } from '../listing/in-batches.ts'
import type { ListingTables } from '../listing/tables.ts'
import type { Hasher } from './list.ts'

/** Marks a hash; the keys of sources have other first characters. */
const hashed = '~'

/** The hash of a source's natural key, for the list. */
export function hashKey(hasher: Hasher, listing: string, source: string, key: string): string {
  return hasher('key', listing, source, key)
}

/** The same of a key that is stored, perhaps as its hash. */
export function hashStoredKey(hasher: Hasher, listing: string, source: string, key: string) {
  return key.startsWith(hashed) ? key.slice(hashed.length) : hashKey(hasher, listing, source, key)
}

/** A hash in the place of a key. */
export const keyOfHash = (hash: string): string => hashed + hash

const idsAtOnce = 1_000

/** Puts hashes in the place of the natural keys of records, and returns the hashes. */
export async function hideKeys(
  { tables, hasher }: { readonly tables: ListingTables; readonly hasher: Hasher },
  listing: string,
  ids: Iterable<number>,
): Promise<string[]> {
  const sources = await tables.sources()
  const hashes: string[] = []
  for (const some of inBatches(ids, idsAtOnce)) {
    const keys = await tables.recordKeys(listing, some)
    const hidden = keys.map(({ key, ...one }) => {
      const source = sources.get(one.source)?.name ?? ''
      return { ...one, key: keyOfHash(hashStoredKey(hasher, listing, source, key)) }
    })
    await tables.changeKeys(
      listing,
      hidden.filter(({ key }, n) => key !== keys[n]?.key),
    )
    for (const { key } of hidden) hashes.push(key.slice(hashed.length))
  }
  return hashes
}
