// Finds other sources that have the same companies as an import: its option --source may have been
// forgotten or misspelt.

import { type ImportPlan, isRecordingSource, type LikeSource } from '../importing.ts'
import { type Database, readValue } from './database.ts'

/** How many of the first rows, and of the companies in them, are looked at. */
const rowsMax = 10_000
const companiesMax = 1_000

/**
 * Tells an import which other sources have its companies, if its source may be a mistake.
 *
 * Needs the table `placed`, before anything is written.
 *
 * @param source the number of the import's own source.
 */
export async function tellLikeSources(
  db: Database,
  { target, isSourceAssumed, onLikeSources }: ImportPlan,
  source: number,
): Promise<void> {
  if (onLikeSources === undefined || !(isSourceAssumed || (await isNew(db, source)))) return
  onLikeSources(await findLikeSources(db, target.companySources, source))
}

async function isNew(db: Database, source: number): Promise<boolean> {
  const sql = 'select count(*) from imports where source_id = $source'
  return Number(await readValue(db, sql, { source })) === 0
}

/** The sources that have companies of an import, those with the most of them first. */
async function findLikeSources(
  db: Database,
  companySources: string,
  source: number,
): Promise<readonly LikeSource[]> {
  const rows = await db.rows(`
    with first as materialized (
      select company_id from placed where digest is not null limit ${rowsMax}
    ), sample as materialized (
      select distinct company_id from first limit ${companiesMax}
    )
    select o.id, o.name, count(*) as companies, (select count(*) from sample) as sampled
    from (${companySources}) a join sources o on o.id = a.source_id
    group by o.id, o.name order by companies desc, o.id`)
  const own = rows.find(({ id }) => Number(id) === source)
  const others = rows.filter(
    ({ id, name }) => Number(id) !== source && !isRecordingSource(String(name)),
  )
  return others.map((row) => ({
    source: String(row['name']),
    companies: Number(row['companies']),
    own: Number(own?.['companies'] ?? 0),
    sampled: Number(row['sampled']),
  }))
}
