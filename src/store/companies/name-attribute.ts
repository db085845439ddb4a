// The attribute in which a source names its companies, by version: past versions keep their names.

import { numberIn, type RegistryDatabase, readValue } from '../sql/database.ts'

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

const keptSql = 'select name_attributes from sources where id = $1'
const importsSql = "select count(*) from imports where source_id = $1 and resource = 'companies'"

/**
 * Stores the attribute with the names of a source's companies, from a version on.
 *
 * @returns whether companies of earlier imports get other names.
 */
export async function noteNameAttribute(
  db: RegistryDatabase,
  { source, version }: { readonly source: number; readonly version: number },
  attribute: string | undefined,
): Promise<boolean> {
  if (attribute === undefined) return false
  const kept = await readValue<string>(db, keptSql, source)
  if (nameAttributeAt(kept) === attribute) return false
  const attributes = JSON.stringify([...parse(kept), [version, attribute]])
  await db.run('update sources set name_attributes = $2 where id = $1', source, attributes)
  return (await numberIn(db, importsSql, source)) > 0
}
