// When sources were last known to have a company.

import { readAttributes, type Statement, statementOf } from '../companies/attributes.ts'
import type { RegistryDatabase } from '../registry-connection.ts'
import { optionalText, type Value } from '../sql/database.ts'

/**
 * For each source that has said something about a company, the day of the last import that is known
 * to have had it, in wire form: a snapshot, or the one that changed it. An import without a day
 * counts by its commit.
 */
export async function readLastSeen(
  db: RegistryDatabase,
  companyId: number,
): Promise<ReadonlyMap<string, string | undefined>> {
  const names = new Map(
    (await db.rows('select id, name from sources')).map((row) => [Number(row['id']), row['name']]),
  )
  const said = (await readAttributes(db.tables, [companyId])).get(companyId) ?? []
  const days = new Map<string, string | undefined>()
  for (const { source, values } of said) {
    const [found] = await db.rows(lastSeen, {
      source,
      ...(await lastChange(db, companyId, source, statementOf({ values }))),
    })
    const day = optionalText(found?.['as_of']) ?? dayOf(found?.['committed_at'])
    days.set(String(names.get(source)), day)
  }
  return days
}

/**
 * The last import in force of which it is known that it had the company: the last snapshot, or the
 * import of the current state if that is later; if the company is absent, one before that. Imports
 * that changed nothing leave no trace, unless they are snapshots.
 */
const lastSeen = `
  select as_of, committed_at from imports
  where resource = 'companies' and source_id = $source and reverts is null and reverted_by is null
    and version < $end and (is_snapshot or version = $changed)
  order by version desc limit 1`

/** The version in which a source last changed a company that it had, and one after all such. */
async function lastChange(
  { tables }: RegistryDatabase,
  companyId: number,
  source: number,
  { version, isPresent }: Statement,
) {
  if (isPresent) return { changed: version, end: versionEnd }
  const before = (await readAttributes(tables, [companyId], version - 1)).get(companyId)
  const own = before?.find((one) => one.source === source)
  return { changed: own === undefined ? 0 : statementOf(own).version, end: version }
}

/** Above every version. */
const versionEnd = 2_147_483_647

/** The day of a moment in milliseconds since 1970, in wire form. */
function dayOf(moment: Value | undefined): string | undefined {
  if (moment === null || moment === undefined) return undefined
  return `${new Date(Number(moment)).toISOString().slice(0, 10)}T00:00:00Z`
}
