// A store that Citus has spread over nodes of its own, a server on it, and which of its companies
// are on a node that is down.

import { mkdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { QueryResultRow } from 'pg'
import { type CitusNodes, findCitus, startCitus } from '../test/support/citus-nodes.ts'
import type { PostgresServer } from '../test/support/postgres-server.ts'
import { type Course, createCourse } from './course.ts'
import { createOutages, type Outages } from './citus-outages.ts'
import type { Ground, Outcome } from './outcome.ts'
import { type Cluster, clusterOf } from './postgres-cluster.ts'
import { mustRun } from './processes.ts'
import { serve, type Served } from './serving.ts'

export interface CitusStore {
  readonly nodes: CitusNodes
  /** Queries on the coordinator. */
  readonly coordinator: Cluster
  /** Queries on a node. */
  readonly on: (node: PostgresServer) => Cluster
  readonly db: string
  readonly served: Served
  readonly companies: readonly number[]
  readonly course: Course
  readonly outages: Outages
  /** The port of the node that each company is on. */
  places(): Promise<ReadonlyMap<number, number>>
}

const settings = {
  'citus.shard_count': '4',
  // A node that is back decides at once what the coordinator has left undecided.
  'citus.recover_2pc_interval': '1s',
}

/** Runs trials on a store of two workers; without Citus, yields one skipped outcome. */
export async function* onCitusStore(
  ground: Ground,
  trials: (store: CitusStore) => AsyncGenerator<Outcome>,
): AsyncGenerator<Outcome> {
  const programs = findCitus()
  if (programs === undefined) {
    const found = 'no PostgreSQL with Citus is installed here'
    yield { what: 'nodes of Citus', found, isSkipped: true }
    return
  }
  mkdirSync(ground.folder, { recursive: true })
  const nodes = await startCitus(programs, 2, settings)
  const clusters = new Map<number, Cluster>()
  const on = (server: PostgresServer) => {
    const known = clusters.get(server.port) ?? clusterOf(server)
    clusters.set(server.port, known)
    return known
  }
  let served: Served | undefined
  try {
    const db = on(nodes.coordinator).urlOf('postgres')
    await mustRun(['migrate', '--distributed', '--db', db])
    // Both nodes have some of them.
    const companies = Array.from({ length: ground.isShort ? 3 : 8 }, (_, n) => n + 1)
    const course = createCourse(ground.folder, companies)
    // Enough that each listing has a former state, to which a revert goes back.
    for (let n = 0; n < 4; n++) {
      const change = course.plan('import')
      await mustRun(change.args(db))
      course.done(change)
    }
    // A busy machine must not refuse what a node could answer; a node that is down refuses at once.
    served = await serve(db, ['--wait-ms', '10000', '--statement-ms', '10000'])
    const store = { nodes, coordinator: on(nodes.coordinator), on, db, served, companies, course }
    const places = () => findPlaces(store.coordinator)
    yield* trials({ ...store, places, outages: createOutages(await places()) })
  } finally {
    await served?.stop()
    for (const cluster of clusters.values()) await cluster.close()
    await nodes.remove()
  }
}

async function findPlaces(coordinator: Cluster): Promise<Map<number, number>> {
  const rows = await coordinator.query<{ id: number; port: number }>(
    `select c.id::integer, s.nodeport as port from dossier.companies c
     join citus_shards s
       on s.shardid = get_shard_id_for_distribution_column('dossier.company_states', c.id)`,
  )
  return new Map(rows.map(({ id, port }) => [id, port]))
}

/** Queries on every node. */
export function everyNode({ nodes, on }: CitusStore): Cluster[] {
  return [nodes.coordinator, ...nodes.workers].map(on)
}

/** The transactions of Citus that a node has prepared, and that are undecided. */
export async function undecidedOn(node: Cluster): Promise<string[]> {
  const rows = await node.query<{ gid: string } & QueryResultRow>(
    `select gid from pg_prepared_xacts where gid like 'citus%'`,
  )
  return rows.map(({ gid }) => gid)
}

const settledMs = 20_000

/** Waits until no node has an undecided transaction; returns those that stay. */
export async function untilDecided(store: CitusStore): Promise<string | undefined> {
  for (const end = performance.now() + settledMs; ; await sleep(20)) {
    const lists = await Promise.all(everyNode(store).map(undecidedOn))
    const left = lists.flat()
    if (left.length === 0) return undefined
    if (performance.now() > end) return `still undecided: ${left.join(', ')}`
  }
}
