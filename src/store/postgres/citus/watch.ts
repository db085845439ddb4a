// Watches the nodes of Citus while a command changes the store: a node that has gone silent makes a
// statement wait, and nothing would report it.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import { OperatorError } from '../../../config/operator-error.ts'
import type { LockWait } from '../../work-watch.ts'
import { withSession } from '../connect.ts'
import { describeUrl } from '../url.ts'

const watchTimes = {
  /** How often the nodes are checked. */
  everyMs: 10_000,
  /** How long a node may take to accept a session. */
  answerMs: 5_000,
  /** How long a command waits for a node that does not. */
  silentMs: 60_000,
}

const silentSql = `
  select n.nodename || ':' || n.nodeport as node
  from run_command_on_all_nodes('select 1') r join pg_dist_node n on n.nodeid = r.nodeid
  where not r.success`

/**
 * Reports once that a node does not answer, and ends the session with an error if it stays silent.
 * The watch ends with the session.
 */
export function watchNodes(
  client: Client,
  db: string,
  { onWait }: Pick<LockWait, 'onWait'>,
  { everyMs, answerMs, silentMs } = watchTimes,
): void {
  const over = new AbortController()
  client.once('end', () => over.abort())
  let silentSince: number | undefined
  const settings = { 'citus.node_connection_timeout': answerMs }

  async function look(): Promise<void> {
    const startedAt = performance.now()
    const { rows } = await withSession(
      db,
      (own) => own.query<{ node: string }>(silentSql),
      settings,
    )
    if (over.signal.aborted) return
    if (rows.length === 0) {
      silentSince = undefined
      return
    }
    const nodes = rows.map(({ node }) => node).join(', ')
    if (silentSince === undefined) onWait(`the node ${nodes} of Citus does not answer; waiting`)
    silentSince ??= startedAt
    if (performance.now() - silentSince < silentMs) return
    const told =
      `${describeUrl(db)}: its node ${nodes} has not answered for ` +
      `${Math.round(silentMs / 1_000)} seconds; nothing was changed, start it and try again`
    // Whatever waits for the session gets this error.
    client.connection.stream.destroy(new OperatorError(told))
  }

  async function watch(): Promise<void> {
    for (;;) {
      await sleep(everyMs, undefined, { ref: false, signal: over.signal })
      // If the coordinator itself is lost, the session's statement fails by itself.
      await look().catch(() => undefined)
    }
  }
  // It ends where the signal is aborted.
  watch().catch(() => undefined)
}
