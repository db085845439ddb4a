// Forgetting the past: what stood only in versions that an operator no longer wants to know.

import type { Client } from 'pg'
import type { Resource } from '../../resources/resource.ts'
import type { Turn } from '../turn.ts'
import type { Pruned } from '../writing.ts'
import { inTurn } from './transaction.ts'

/**
 * Forgets every former state that was replaced or removed before a moment, in one transaction.
 *
 * The version that stood at that moment stays whole, and so do all later ones. The log of imports
 * and what was recorded of changes stay, too.
 *
 * @param before in milliseconds since 1970
 */
export async function prune(
  client: Client,
  db: string,
  resources: readonly Resource[],
  before: number,
  turn: Turn,
): Promise<Pruned> {
  return inTurn(client, db, turn, async () => {
    const last = await client.query<{ version: number }>(lastVersionBefore, [before])
    const version = Number(last.rows[0]?.version)
    const forgotten: Record<string, number> = {}
    for (const name of ['companies', 'company_attributes', ...resources.map((one) => one.name)]) {
      const sql = `delete from ${name}_past where until <= $1`
      forgotten[name] = (await client.query(sql, [version])).rowCount ?? 0
    }
    const { rows } = await client.query<{ past_from: number }>(
      'update store set past_from = greatest(past_from, $1) returning past_from',
      [version],
    )
    return { earliestVersion: Number(rows[0]?.past_from), forgotten }
  })
}

// The version before the first import since then: a clock that was set back makes it an earlier
// one, never a later one.
const lastVersionBefore = `
  select coalesce(
    (select min(version) - 1 from imports where committed_at >= $1),
    (select max(version) from imports),
    0
  ) as version`
