// Finds another source that has the same companies as an import: its option --source may have been
// forgotten.

import type { LoadTarget } from '../load-target.ts'
import { isRecordingSource, type LikeSource } from '../importing.ts'
import type { Database } from './database.ts'

/** How many of the first rows, and of the companies in them, are looked at. */
const rowsMax = 10_000
const companiesMax = 1_000

/**
 * The other source that has the most of an import's companies; undefined if none has any.
 *
 * Needs the table `placed`, before anything is written.
 *
 * @param source the number of the import's own source.
 */
export async function findLikeSource(
  db: Database,
  { companySources }: LoadTarget,
  source: number,
): Promise<LikeSource | undefined> {
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
  const like = rows.find(
    ({ id, name }) => Number(id) !== source && !isRecordingSource(String(name)),
  )
  return (
    like && {
      source: String(like['name']),
      companies: Number(like['companies']),
      own: Number(own?.['companies'] ?? 0),
      sampled: Number(like['sampled']),
    }
  )
}
