// Nodes of Citus that are added and taken out, and shards that move between them, while the server
// serves and imports run. The commands are those of the operator's guide.

import { setTimeout as sleep } from 'node:timers/promises'
import { runOn } from '../test/support/citus-nodes.ts'
import { examine, repeat, untilEnded } from './citus-judge.ts'
import { startCitusReaders } from './citus-readers.ts'
import type { CitusStore } from './citus-store.ts'
import { firstFault, type Ground, type Outcome } from './outcome.ts'
import { faultOfRefusal, startDossier } from './processes.ts'

/** Moves shards; in the long form to a node that is added, and back. */
export async function* moveShards(store: CitusStore, ground: Ground): AsyncGenerator<Outcome> {
  if (ground.isShort) {
    yield await importMeanwhile(store, ground, 'a shard moved, logical', moveOneShard(store))
    return
  }
  const { port } = await store.nodes.add()
  const { coordinator } = store
  const added = 'a node added, and shards moved to it, logical'
  yield await importMeanwhile(store, ground, added, async () => {
    await coordinator.query(`select citus_add_node('127.0.0.1', ${port})`)
    return rebalance(store, 'force_logical')
  })
  const emptied = 'shards moved away from a node, block_writes'
  yield await importMeanwhile(store, ground, emptied, async () => {
    const property = `'127.0.0.1', ${port}, 'shouldhaveshards', false`
    await coordinator.query(`select citus_set_node_property(${property})`)
    return rebalance(store, 'block_writes')
  })
  await coordinator.query(`select citus_remove_node('127.0.0.1', ${port})`)
  yield await importMeanwhile(store, ground, 'the node removed', () => Promise.resolve(() => true))
}

/** Begins a move of shards; returns whether it is done. */
type Move = () => Promise<() => boolean | Promise<boolean>>

/** Moves the shard of the first company to another node. */
function moveOneShard({ nodes }: CitusStore): Move {
  return () => {
    let isOver = false
    void runOn(nodes.coordinator, moveSql).finally(() => (isOver = true))
    return Promise.resolve(() => isOver)
  }
}

const moveSql = `
  select citus_move_shard_placement(
    s.shardid, s.nodename, s.nodeport, n.nodename, n.nodeport, 'force_logical'
  )
  from citus_shards s join pg_dist_node n on n.shouldhaveshards and n.nodeport <> s.nodeport
  where s.shardid = get_shard_id_for_distribution_column('dossier.company_states', 1)`

async function rebalance(store: CitusStore, mode: string): Promise<() => Promise<boolean>> {
  const start = `select citus_rebalance_start(shard_transfer_mode => '${mode}')`
  await store.coordinator.query(start)
  return () => isBalanced(store)
}

async function isBalanced({ coordinator }: CitusStore): Promise<boolean> {
  const rows = await coordinator.query<{ state: string }>(
    'select state::text as state from citus_rebalance_status()',
  )
  const [job] = rows
  if (job === undefined || job.state === 'finished') return true
  if (['failed', 'cancelled'].includes(job.state)) throw new Error(`the rebalance ${job.state}`)
  return false
}

/** Imports, again and again, while shards are being moved, and reads. */
async function importMeanwhile(
  store: CitusStore,
  ground: Ground,
  what: string,
  begin: Move,
): Promise<Outcome> {
  const before = await store.places()
  const readers = startCitusReaders(store, ground.random)
  const isDone = await begin()
  let [done, refused] = [0, 0]
  let fault: string | undefined
  do {
    const change = store.course.plan('import')
    const ended = await untilEnded(startDossier(change.args(store.db)))
    if (ended.code === 0) {
      store.course.done(change)
      done += 1
    } else {
      refused += 1
      fault = faultOfRefusal(ended)
    }
    await sleep(ground.random.integer(0, 1_000))
  } while (fault === undefined && !(await isDone()))
  const sight = await readers.stop()
  const after = await store.places()
  const moved = store.companies.filter((company) => before.get(company) !== after.get(company))
  const last = store.course.plan('import')
  const { fault: found } = await examine(store, last)
  return {
    what,
    found: `${done} imports, ${refused} refused; ${moved.length} companies moved; ` + sight.found,
    fault: firstFault(fault, sight.fault, found) ?? (await repeat(store, last)),
  }
}
