// Deletes past states that were current only in versions older than an operator wants to keep.

import type { Resource } from '../../resources/resource.ts'
import type { WorkWatch } from '../work-watch.ts'
import type { Pruned } from '../writing.ts'
import { type Database, readValue } from './database.ts'
import { pastHeadsOf } from './past-heads.ts'

/**
 * Deletes every past state that was replaced or removed before a moment, in one transaction.
 *
 * The version that was current at that moment stays complete, and so do all later ones. The log of
 * imports and recorded changes are kept.
 *
 * @param before in milliseconds since 1970.
 */
export async function prune(
  db: Database,
  resources: readonly Resource[],
  before: number,
  watch: WorkWatch,
): Promise<Pruned> {
  return db.inTransaction('registry', watch, async () => {
    const version = Number(await readValue(db, lastVersionBefore, { before }))
    const forgotten: Record<string, number> = {}
    const forget = (table: string) =>
      db.run(`delete from ${table} where until <= $version`, { version })
    const names = ['companies', 'company_attributes', ...resources.map((one) => one.name)]
    for (const [n, name] of names.entries()) {
      watch.onStep?.(`deleting past ${name}`, n / names.length)
      forgotten[name] = await forget(`${name}_past`)
    }
    for (const { name } of resources) await forget(pastHeadsOf(name))
    const { greatest } = db.dialect
    await db.run(`update store set past_from = ${greatest}(past_from, $version)`, { version })
    const earliest = await readValue(db, 'select past_from from store')
    return { earliestVersion: Number(earliest), forgotten }
  })
}

// The version before the first import since then. A clock that was set back can make it an earlier
// version, never a later one.
const lastVersionBefore = `
  select coalesce(
    (select min(version) - 1 from imports where committed_at >= $before),
    (select max(version) from imports),
    0
  ) as version`
