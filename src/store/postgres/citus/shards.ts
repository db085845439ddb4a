// The shards of a store: which companies each has, where it is, and statements that read its own
// tables instead of the distributed ones. For Citus to find these takes several times as long as
// most reads.

import { ownSchema } from '../schema.ts'
import type { Rows } from '../tables.ts'
import { hashOfId } from './hash-id.ts'

// Each shard holds the companies whose hashes are up to its last one. Shards of other tables that
// are distributed by company have the same hashes, and move with it; small tables have one shard,
// on every node. On a standby, which other nodes would be standbys is not known.
const shardsSql = `
  select s.shardmaxvalue::integer, s.shardid, p.groupid, n.nodename, n.nodeport,
    n.groupid = (select groupid from pg_dist_local_group),
    (
      select json_object_agg(c.relname, shard_name(c.oid, o.shardid))::text
      from pg_dist_partition d
      join pg_class c on c.oid = d.logicalrelid and c.relnamespace = ${ownSchema}
      join pg_dist_shard o on o.logicalrelid = c.oid
      where d.partmethod = 'n'
        or d.colocationid = t.colocationid and o.shardmaxvalue = s.shardmaxvalue
    )
  from pg_dist_shard s
  join pg_dist_partition t using (logicalrelid)
  join pg_dist_placement p using (shardid)
  join pg_dist_node n on n.groupid = p.groupid and n.noderole = 'primary'
  where s.logicalrelid = 'company_states'::regclass and not pg_is_in_recovery()
    and n.isactive and n.hasmetadata and n.metadatasynced
  order by 1`

type Place = readonly [host: string, port: number, isOwn: boolean]
type ShardRow = readonly [lastHash: number, id: number, group: number, ...Place, tables: string]

export interface Shard {
  readonly lastHash: number
  readonly host: string
  readonly port: number
  /** Whether it is at the node that was asked. */
  readonly isOwn: boolean
  /** Makes a statement on tables that are distributed by company one on those of the shard. */
  readonly sqlOf: (sql: string) => string
}

/** All shards, by their last hash; none on a standby. */
export async function readShards(rows: Rows): Promise<readonly Shard[]> {
  const found = await rows<ShardRow>(shardsSql)
  return found.map(([lastHash, id, group, host, port, isOwn, tables]) => {
    const sqlOf = statementsOf(id, group, JSON.parse(tables) as Record<string, string>)
    return { lastHash, host, port, isOwn, sqlOf }
  })
}

/** The shard of a company: the first whose last hash is not before that of the company. */
export function shardOf<T extends Pick<Shard, 'lastHash'>>(
  shards: readonly T[],
  companyId: number,
): T | undefined {
  const hash = hashOfId(companyId)
  let [first, end] = [0, shards.length]
  while (first < end) {
    const middle = (first + end) >> 1
    if ((shards[middle]?.lastHash ?? 0) < hash) first = middle + 1
    else end = middle
  }
  return shards[first]
}

/** Each statement is made once: a new text would have to be hashed to find its name. */
function statementsOf(id: number, group: number, tables: Readonly<Record<string, string>>) {
  const made = new Map<string, string>()
  return (sql: string): string => {
    const statement = made.get(sql) ?? ofShard(sql)
    made.set(sql, statement)
    return statement
  }

  // Citus moves a copy of a shard, and drops the old one later.
  function ofShard(sql: string): string {
    const own = sql.replaceAll(
      /\b(from|join) (\w+)/g,
      (_, word: string, table: string) => `${word} ${tables[table] ?? table}`,
    )
    return `
      select p.is_there, q.* from (
        select exists (select from pg_dist_placement where shardid = ${id} and groupid = ${group})
      ) p (is_there)
      left join lateral (select true, r.* from (${own}) r) q on true`
  }
}

/** A row of such a statement; if it finds none, there is one of nulls. */
export type RowOfShard = readonly [isThere: boolean, isFound: true | null, ...unknown[]]

/** The rows of the statement itself; undefined if the shard has moved. */
export function rowsOfShard(rows: readonly RowOfShard[]): readonly unknown[][] | undefined {
  const [[isThere, isFound] = [false]] = rows
  if (!isThere) return undefined
  return isFound === true ? rows.map(([, , ...row]) => row) : []
}
