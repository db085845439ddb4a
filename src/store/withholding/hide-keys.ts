// Replaces the natural keys of withheld records, which may identify people, by hashes, by which the
// records keep their ids.

import { inTurns } from '../listing/in-batches.ts'
import type { ListingTables } from '../listing/tables.ts'
import type { RegistryDatabase } from '../sql/database.ts'
import type { Hasher } from './list/hashes.ts'

/** Marks a hash; the stored keys of sources begin with another character. */
const hashed = '~'

/** The hash of a source's natural key, for the list. */
export function hashKey(hasher: Hasher, listing: string, source: string, key: string): string {
  return hasher('key', listing, source, key)
}

/** The hash of a key that is stored, perhaps as a hash already. */
export function hashStoredKey(hasher: Hasher, listing: string, source: string, key: string) {
  return key.startsWith(hashed) ? key.slice(hashed.length) : hashKey(hasher, listing, source, key)
}

/** The hash as it is stored instead of a key. */
export const keyOfHash = (hash: string): string => hashed + hash

/** Whether records of a source have hashes instead of natural keys. */
export async function hasHashedKeys(
  db: RegistryDatabase,
  listing: string,
  source: number,
): Promise<boolean> {
  // No stored key begins with a character after this one.
  const sql = `
    select 1 from record_keys
    where listing = $1 and source_id = $2 and key > '${hashed}' limit 1`
  return (await db.rows(sql, listing, source)).length > 0
}

const idsAtOnce = 1_000

/** Replaces the natural keys of records by hashes, and returns these. */
export async function hideKeys(
  { tables, hasher }: { readonly tables: ListingTables; readonly hasher: Hasher },
  listing: string,
  ids: Iterable<number>,
): Promise<string[]> {
  const sources = await tables.sources()
  const hashes: string[] = []
  for await (const some of inTurns(ids, idsAtOnce)) {
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
