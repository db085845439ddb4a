// Imports and moves of shards, which take turns: a move waits for transactions that have written to
// its shards, and what writes to them waits for a move that ends. An import that met a move between
// two of its writes could wait for it while it waits for the import. So an import first locks every
// shard as a write does, in the order of their numbers, as moves lock them.

import type { Client } from 'pg'
import type { LockWait } from '../../work-watch.ts'
import { untilDecided } from './undecided.ts'
import { watchNodes } from './watch.ts'
import { ownSchema } from '../schema.ts'
import { beginWriting, orAborted } from '../transaction.ts'

/** How long a command waits for these locks before it reports that shards are being moved. */
const patientMs = 1_000

// The coordinator has these locks, so no node is asked. 5 is ShareLock, the lock of a write:
// https://www.postgresql.org/docs/current/explicit-locking.html, and lockdefs.h of PostgreSQL.
const holdSql = `
  select lock_shard_metadata(5, array_agg(s.shardid order by s.shardid))
  from pg_dist_shard s join pg_dist_partition p using (logicalrelid)
  join pg_class c on c.oid = s.logicalrelid
  where c.relnamespace = ${ownSchema} and p.partmethod = 'h'`

/** Begins a transaction that may write to every node, once nothing is undecided or being moved. */
export async function beginDistributed(client: Client, db: string, wait: LockWait): Promise<void> {
  watchNodes(client, db, wait)
  await beginWriting(client, wait)
  await untilDecided(db, wait)
  const reportMove = () => wait.onWait('Citus is moving shards; waiting for it to finish')
  const timer = setTimeout(reportMove, patientMs)
  try {
    await orAborted(client.query(holdSql), wait.signal)
  } finally {
    clearTimeout(timer)
  }
}
