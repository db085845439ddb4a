// Moments of a command on Citus at which a node is killed: any, or between the steps of its commit.
//
// A commit prepares the transaction on every node, commits on the coordinator, and has the nodes
// commit then. These steps take some milliseconds, so one of them is held: it waits for a standby
// that does not exist.

import { setTimeout as sleep } from 'node:timers/promises'
import type { CitusStore } from './citus-store.ts'
import type { Cluster } from './postgres-cluster.ts'
import { isRunning, reach, type Running } from './processes.ts'

export interface CommandMoment {
  readonly what: string
  /** Waits for the moment; false if the command ended before. */
  reach(store: CitusStore, running: Running): Promise<boolean>
  /** Lets the command continue as soon as the node that holds it is running. */
  release(store: CitusStore): Promise<void>
}

/** A moment after the start of the command, in milliseconds. */
export function after(delayMs: number): CommandMoment {
  return {
    what: `${delayMs} ms after its start`,
    async reach(_, running) {
      await Promise.race([sleep(delayMs), running.ended])
      return isRunning(running)
    },
    release: () => Promise.resolve(),
  }
}

/** When some nodes have prepared the transaction, and the last worker is about to. */
export const whilePreparing = held(
  'while it was being prepared',
  ({ nodes, on, coordinator }) => on(nodes.workers.at(-1) ?? coordinator.server),
  (node) => isHeld(node, 'prepare transaction'),
)

/** When all nodes have prepared it, and the coordinator has committed, which is not visible yet. */
export const beforeNodesCommit = held(
  'between the commit of the coordinator and that of the nodes',
  ({ coordinator }) => coordinator,
  async (coordinator) => {
    // The coordinator is a node, too, and prepares its part before it commits.
    await coordinator.query(
      `select pg_cancel_backend(pid) from pg_stat_activity
       where wait_event = 'SyncRep' and query ilike 'prepare transaction%'`,
    )
    return isHeld(coordinator, 'commit')
  },
)

function held(
  what: string,
  holder: (store: CitusStore) => Cluster,
  isThere: (node: Cluster) => Promise<boolean>,
): CommandMoment {
  return {
    what,
    async reach(store, running) {
      const node = holder(store)
      await reach(running, () => hasChanged(store.coordinator))
      await node.query(`alter system set synchronous_standby_names = 'nobody'`)
      await node.query('select pg_reload_conf()')
      return reach(running, () => isThere(node))
    },
    async release(store) {
      const node = holder(store)
      await node.query('alter system reset synchronous_standby_names')
      await node.query('select pg_reload_conf()')
    },
  }
}

/** Whether the command has come to its transaction: its smaller commits are behind it. */
async function hasChanged(coordinator: Cluster): Promise<boolean> {
  const found = await coordinator.query(
    `select from pg_stat_activity
     where application_name = 'dossier' and query ~* '^\\s*(copy|insert|update|delete)'`,
  )
  return found.length > 0
}

/** Whether a session on a node has done such a statement, and waits for the standby. */
async function isHeld(node: Cluster, statement: string): Promise<boolean> {
  const found = await node.query(
    `select from pg_stat_activity where wait_event = 'SyncRep' and query ilike $1`,
    [`${statement}%`],
  )
  return found.length > 0
}
