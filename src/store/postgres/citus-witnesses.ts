// Whether all nodes show one state of a store that Citus has spread. A commit reaches one node
// some moments before another, so what is read from several nodes could be of two versions. A page
// is read from one node; a search looks at all of them first.
//
// Each group of tables whose shards are together has a table of witnesses, with rows on every node
// on which the group has shards. A query on it runs there, beside the node's own `imports`.

import type { Client } from 'pg'
import type { Snapshot } from '../sql/snapshot.ts'
import { text } from './text.ts'

/** Tables that searches read, one of each group, and the columns by which they are spread. */
const groups = { companies: 'bigint', company_names: text, words: text } as const

export type WitnessedTable = keyof typeof groups

const witnessesOf = (table: string) => `${table}_witnesses`

/** The names of the tables of witnesses. */
export const witnessTables: readonly string[] = Object.keys(groups).map(witnessesOf)

// Hashes are spread at random: even of 128 shards, none is likely to be without a row.
const rows = 4_096

/** Creates the tables of witnesses that are missing; returns their names. */
export async function createWitnesses(
  client: Client,
  existing: ReadonlySet<string>,
): Promise<string[]> {
  const missing = Object.entries(groups).filter(([table]) => !existing.has(witnessesOf(table)))
  for (const [table, type] of missing) {
    const name = witnessesOf(table)
    await client.query(`create table ${name} (place ${type} not null)`)
    const sql = 'select create_distributed_table($1, $2, colocate_with => $3)'
    await client.query(sql, [name, 'place', table])
    await client.query(`insert into ${name} select place from generate_series(1, ${rows}) place`)
  }
  return missing.map(([table]) => witnessesOf(table))
}

/**
 * Whether the nodes of some tables show the version of this one, in the snapshots in which the
 * queries that follow in the transaction read them.
 */
export async function areNodesEven(
  snapshot: Snapshot,
  tables: readonly WitnessedTable[],
): Promise<boolean> {
  const [latest] = await snapshot.rows<[version: number]>(versionSql)
  for (const table of tables) {
    const uneven = await snapshot.rows(unevenSql(table), latest?.[0] ?? 0)
    if (uneven.length > 0) return false
  }
  return true
}

const versionSql = 'select coalesce(max(version), 0) from imports'

const unevenSql = (table: WitnessedTable) => `
  select 1 from ${witnessesOf(table)}
  where exists (select 1 from imports where version > $1)
    or ($1::bigint > 0 and not exists (select 1 from imports where version = $1))
  limit 1`
