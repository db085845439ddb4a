// Imports and moves of shards, which exclude each other: Citus creates no table beside shards that
// are being moved, and moves none beside which a transaction has created one. So an import creates
// one beside each at the beginning of its transaction, and begins it again if one is being moved.

import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, DatabaseError } from 'pg'
import type { LockWait } from '../lock-wait.ts'

const pauseMs = 1_000

// A table of each group of those whose shards are moved together.
const groupsSql = `
  select distinct on (p.colocationid) c.relname as name,
    column_to_column_name(p.logicalrelid, p.partkey) as column
  from pg_dist_partition p join pg_class c on c.oid = p.logicalrelid
  where c.relnamespace = current_schema()::regnamespace and p.partmethod = 'h'
  order by p.colocationid, c.relname`

/**
 * Begins a transaction in which the shards of the store stay where they are.
 *
 * While a shard is being moved, nothing is begun: the move waits for transactions that have begun.
 *
 * @param begin begins it; nothing is done that cannot be rolled back and done again.
 */
export async function beginHolding(
  client: Client,
  wait: LockWait,
  begin: (wait: LockWait) => Promise<void>,
): Promise<void> {
  let hasTold = false
  const onWait = () => {
    if (!hasTold) wait.onWait()
    hasTold = true
  }
  await untilNothingMoves({ ...wait, onWait }, async () => {
    await begin({ ...wait, onWait })
    try {
      await holdShards(client)
    } catch (error) {
      await client.query('rollback')
      throw error
    }
  })
}

/** Creates a table beside each group, which fails if its shards are being moved. */
async function holdShards(client: Client): Promise<void> {
  const groups = await client.query<{ name: string; column: string }>(groupsSql)
  for (const { name, column } of groups.rows) {
    const held = `held_${name}`
    await client.query(
      `create unlogged table ${held} as select ${column} from ${name} with no data`,
    )
    const sql = 'select create_distributed_table($1, $2, colocate_with => $3)'
    await client.query(sql, [held, column, name])
    await client.query(`drop table ${held}`)
  }
}

/** Repeats `work` as long as shards are being moved that it needs. */
async function untilNothingMoves(
  { onWait, signal }: Partial<LockWait>,
  work: () => Promise<unknown>,
): Promise<void> {
  for (;;) {
    try {
      await work()
      return
    } catch (error) {
      if (!(error instanceof DatabaseError && isMoving.test(error.message))) throw error
    }
    onWait?.()
    await sleep(pauseMs, undefined, { signal })
  }
}

const isMoving = /^could not acquire the lock required to /
