// What follows the commit of an import in its session.

import type { Client } from 'pg'
import type { Written } from '../sql/import.ts'

const manyRows = 10_000

/** Updates the statistics of changed tables and ends the session, which may be lost by now. */
export async function settle(client: Client, written: Written): Promise<void> {
  await analyse(client, written)
  await client.end().catch(() => undefined)
}

/** Updates statistics for the plans of the next import; autovacuum may come too late. */
async function analyse(client: Client, { tables, rows }: Written): Promise<void> {
  if (rows < manyRows) return
  const all = [...tables, 'companies', 'company_names']
  await client.query(`analyze ${all.join(', ')}`).catch(() => undefined)
}
