// The attribute in which a source names its companies, by version: past versions keep their names.

import { type RegistryDatabase, readValue } from '../sql/database.ts'

/** The attribute with a company's name, unless its source uses another one. */
const usualNameAttribute = 'name'

/** An attribute, and the version from which it has the names. */
type Since = readonly [version: number, attribute: string]

const parse = (kept: string | null) => (kept === null ? [] : (JSON.parse(kept) as Since[]))

/**
 * The attribute at a version: the last one if undefined.
 *
 * @param kept what the store has for a source.
 */
export function nameAttributeAt(kept: string | null, version = Infinity): string {
  const found = parse(kept).findLast(([since]) => since <= version)
  return found?.[1] ?? usualNameAttribute
}

/**
 * Stores the attribute with the names of a source's companies, from a version on.
 *
 * @returns whether it differs from the former one, so that the companies get other names.
 */
export async function noteNameAttribute(
  db: RegistryDatabase,
  { source, version, attribute }: NamedSince,
): Promise<boolean> {
  if (attribute === undefined) return false
  const kept = await readKept(db, source)
  if (nameAttributeAt(kept) === attribute) return false
  const attributes = JSON.stringify([...parse(kept), [version, attribute]])
  await db.run('update sources set name_attributes = $2 where id = $1', source, attributes)
  return true
}

/**
 * Stores, from a version on, the attribute that a source had before another version.
 *
 * @returns as `noteNameAttribute`.
 */
export async function restoreNameAttribute(
  db: RegistryDatabase,
  { source, version, before }: Omit<NamedSince, 'attribute'> & { readonly before: number },
): Promise<boolean> {
  const kept = await readKept(db, source)
  return noteNameAttribute(db, { source, version, attribute: nameAttributeAt(kept, before - 1) })
}

const readKept = (db: RegistryDatabase, source: number) =>
  readValue<string>(db, 'select name_attributes from sources where id = $1', source)

/** An attribute that a source names, and from which version on. */
interface NamedSince {
  readonly source: number
  readonly version: number
  readonly attribute: string | undefined
}
