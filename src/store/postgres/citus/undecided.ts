// Prepared transactions on nodes of Citus that are neither committed nor rolled back, since the
// coordinator or a node was lost during a commit. What they have changed is not visible
// yet, so an import would be merged with a state that is about to be replaced. Citus decides them
// once a minute; a command that writes makes it do so immediately.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import { OperatorError } from '../../../config/operator-error.ts'
import type { LockWait } from '../../work-watch.ts'
import { withSession } from '../connect.ts'
import { orAborted } from '../transaction.ts'
import { describeUrl } from '../url.ts'

/**
 * SQL that returns each node that has undecided transactions, or does not answer.
 *
 * @param seconds how long they have been undecided: a commit takes a moment.
 */
export const undecidedSql = (seconds: number) => `
  select n.nodename || ':' || n.nodeport as node, r.success as answers, r.result as found
  from run_command_on_all_nodes($$
    select string_agg(gid, ', ') from pg_prepared_xacts
    where gid like 'citus%' and database = current_database()
      and prepared <= clock_timestamp() - interval '${seconds} seconds' $$) r
  join pg_dist_node n on n.nodeid = r.nodeid
  where coalesce(r.result, '') <> '' or not r.success`

const pauseMs = 200

/**
 * Waits until no node has an undecided transaction.
 *
 * @throws OperatorError if a node does not answer: what it has is unknown.
 */
export async function untilDecided(db: string, { onWait, signal }: LockWait): Promise<void> {
  await withSession(db, async (client) => {
    for (let looks = 1; await isAnyUndecided(client, db); looks++) {
      await decide(client)
      if (looks === 1) continue
      if (looks === 2) onWait('nodes of Citus have not ended a transaction yet; waiting for them')
      await orAborted(sleep(pauseMs), signal)
    }
  })
}

/** Makes Citus decide, outside a transaction; if this user may not do that, Citus decides later. */
async function decide(client: Client): Promise<void> {
  await client.query('select recover_prepared_transactions()').catch(() => undefined)
}

async function isAnyUndecided(client: Client, db: string): Promise<boolean> {
  const { rows } = await client.query<{ node: string; answers: boolean }>(undecidedSql(0))
  const lost = rows.filter(({ answers }) => !answers).map(({ node }) => node)
  if (lost.length === 0) return rows.length > 0
  throw new OperatorError(
    `${describeUrl(db)}: node ${lost.join(', ')} does not answer; nothing was changed; start ` +
      'it and try again',
  )
}
