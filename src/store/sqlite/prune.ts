// Forgetting the past: what stood only in versions that an operator no longer wants to know.

import type { DatabaseSync } from 'node:sqlite'
import type { Resource } from '../../resources/resource.ts'
import type { Turn } from '../turn.ts'
import type { Pruned } from '../writing.ts'
import { inTransaction } from './transaction.ts'
import { emptyWal } from './wal.ts'

/**
 * Forgets every former state that was replaced or removed before a moment, in one transaction.
 *
 * The version that stood at that moment stays whole, and so do all later ones. The log of imports
 * and what was recorded of changes stay, too.
 *
 * @param before in milliseconds since 1970
 */
export async function prune(
  db: DatabaseSync,
  resources: readonly Resource[],
  before: number,
  turn: Turn,
): Promise<Pruned> {
  const pruned = await inTransaction(db, turn, () => {
    const version = Number(db.prepare(lastVersionBefore).get({ before })?.['version'])
    const tables = [
      ['companies', 'companies_past'],
      ['company_attributes', 'company_attributes_past'],
      ...resources.map(({ name }) => [name, `${name}_past`] as const),
    ] as const
    const forgotten = tables.map(([name, table]) => {
      const { changes } = db.prepare(`delete from ${table} where until <= ?`).run(version)
      return [name, Number(changes)] as const
    })
    db.prepare('update store set past_from = max(past_from, ?)').run(version)
    const row = db.prepare('select past_from from store').get()
    return {
      earliestVersion: Number(row?.['past_from']),
      forgotten: Object.fromEntries(forgotten),
    }
  })
  emptyWal(db)
  return pruned
}

// The version before the first import since then: a clock that was set back makes it an earlier
// one, never a later one.
const lastVersionBefore = `
  select coalesce(
    (select min(version) - 1 from imports where committed_at >= $before),
    (select max(version) from imports),
    0
  ) as version`
