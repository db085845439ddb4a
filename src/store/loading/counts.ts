// What an import counts beside its rows: for its line, and for the checks of the command line.

import { numberIn } from '../sql/database.ts'
import type { ImportContext } from './context.ts'
import { givenCompanies } from './make-companies.ts'
import type { Staging } from './staging/staging.ts'

/**
 * The number of a source's records according to the log: what its versions added and removed. It
 * does not tell which ones orders have erased.
 */
export async function countHeld({ db, plan, source }: ImportContext): Promise<number> {
  const sql = `
    select cast(coalesce(sum(inserted - removed), 0) as bigint) from imports
    where source_id = $1 and resource = $2`
  return numberIn(db, sql, source, plan.target.name)
}

/** Counts the companies that rows name, if the import adds many: rows may name wrong ones then. */
export async function countNamed(
  { db, staging }: ImportContext,
  added: number,
): Promise<number | undefined> {
  if (added <= fewAdded) return undefined
  const registers =
    "select count(*) from imports where resource = 'companies' and reverted_by is null"
  if ((await numberIn(db, registers)) === 0) return undefined
  if (!staging.isLoaded()) return givenCompanies(staging).reduce((count) => count + 1, 0)
  return Number(
    staging.value('select count(distinct company_id) from stage where digest is not null'),
  )
}

const fewAdded = 5

/** Counts what `change` holds, and the rows that change something. */
export function countChanges(staging: Staging) {
  const [counts = []] = staging.rows(`
    select count(*) filter (where not is_known),
      count(*) filter (where is_known and seq is not null),
      count(*) filter (where seq is null), count(*) filter (where is_staged)
    from change`)
  const [inserted = 0, updated = 0, removed = 0, changing = 0] = counts.map(Number)
  return { inserted, updated, removed, changing }
}
