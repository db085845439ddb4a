// Imports and moves of shards, which exclude each other: Citus creates no table beside shards that
// are being moved, and moves none beside which a transaction has created one. So an import creates
// one beside each at the beginning of its transaction, and begins it again if one is being moved.

import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, DatabaseError } from 'pg'
import type { LockWait } from '../lock-wait.ts'
import { spreadAs } from './citus-tables.ts'

const pauseMs = 1_000

// A table of each group of those whose shards are moved together.
const groupsSql = `
  select distinct on (p.colocationid) c.relname as name,
    column_to_column_name(p.logicalrelid, p.partkey) as column
  from pg_dist_partition p join pg_class c on c.oid = p.logicalrelid
  where c.relnamespace = $1::regnamespace and p.partmethod = 'h'
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
  store: string,
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
      await holdShards(client, store)
    } catch (error) {
      await client.query('rollback')
      throw error
    }
  })
}

/** Creates a table beside each group, which fails if its shards are being moved. */
async function holdShards(client: Client, store: string): Promise<void> {
  const groups = await client.query<{ name: string; column: string }>(groupsSql, [store])
  for (const { name, column } of groups.rows) {
    const held = `held_${name}`
    await client.query(
      `create unlogged table ${held} as select ${column} from ${name} with no data`,
    )
    await client.query(spreadAs(held, { by: column, like: name }))
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

/** Creates a table before the import's transaction; waits without a message. */
export async function createBeside(client: Client, statements: readonly string[]): Promise<void> {
  // Statements that are sent together are one transaction.
  await untilNothingMoves({}, () => client.query(statements.join(';')))
}
