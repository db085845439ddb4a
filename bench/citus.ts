// The measures on Citus, beside a PostgreSQL of the same programs: a coordinator and two workers,
// all on this machine, so that ratios say what spreading costs and not what it brings.

import { type CitusNodes, findCitus, runOn, startCitus } from '../test/support/citus-nodes.ts'
import { startCountingProxy } from '../test/support/counting-proxy.ts'
import { type PostgresServer, startPostgres } from '../test/support/postgres-server.ts'
import { makeExtract, makeFile, makeKey, rightsOf } from './files.ts'
import { compare, type Figure, type Measure } from './measures.ts'
import { settings as usual, timeouts } from './postgres.ts'
import {
  cpuSeconds,
  endedSeconds,
  importFile,
  load,
  type Server,
  startDossier,
} from './processes.ts'

const port = 18_100
const rounds = 3
const listing = 20
const workers = 2

// Four servers share the memory.
const settings = { ...usual, shared_buffers: '512MB', max_locks_per_transaction: '1024' }

/** Measures imports and pages, and what travels between the nodes. */
export const onCitus: Measure = async (scale) => {
  const programs = findCitus()
  if (programs === undefined) {
    console.error('no PostgreSQL with Citus is installed here: not measured')
    return []
  }
  const one = await startPostgres({ programs, settings })
  const nodes = await startCitus(programs, workers, settings)
  try {
    await runOn(nodes.coordinator, 'alter database postgres set dossier.distributed = on')
    return [
      ...(await importing(one, nodes, scale)),
      ...(await randomPages(one, nodes, scale)),
      ...(await traffic(nodes, scale)),
    ]
  } finally {
    await Promise.all([one.remove(), nodes.remove()])
  }
}

const storeIn = (server: PostgresServer, schema: string) => `${server.url}?schema=${schema}`

/** What is imported in each round, into a new schema. */
const importsOf = (scale: number) => {
  const companies = 2e5 * scale
  const rights = rightsOf(1e6 * scale, listing)
  const file = makeFile(rights)
  return [
    ['companies', 'companies', makeExtract(companies, 'first'), companies],
    ['rights', 'rights', file, rights.records],
    ['the same rights again', 'rights', file, rights.records],
  ] as const
}

async function importing(one: PostgresServer, nodes: CitusNodes, scale: number): Promise<Figure[]> {
  const figures: Figure[] = []
  const { coordinator } = nodes
  for (const [what, target, file, rows] of importsOf(scale)) {
    const [wall, cpu] = [[] as number[], [] as number[]]
    const shares: readonly number[][] = [[], [], []]
    for (let round = 0; round < rounds; round++) {
      const schema = `round_${round}`
      const importIntoOne = () => importFile(target, file, storeIn(one, schema))
      const ofOne = await costOf([[], [one]], importIntoOne)
      const importSpread = () => importFile(target, file, storeIn(coordinator, schema))
      const ofNodes = await costOf([[], [coordinator], nodes.workers], importSpread)
      wall.push(ofOne.seconds / ofNodes.seconds)
      cpu.push(sum(ofOne.cpu) / sum(ofNodes.cpu))
      for (const [place, seconds] of ofNodes.cpu.entries()) {
        shares[place]?.push((seconds * 1e6) / rows)
      }
    }
    const name = `Citus: import of ${what}`
    const unit = '÷ one PostgreSQL'
    figures.push(
      { what: name, unit, values: wall, reach: { least: 0.5 } },
      { what: `${name}, by processor`, unit, values: cpu, reach: undefined },
      ...sharesOf(name, 'µs a row', shares),
    )
  }
  return figures
}

/** The processor time of the process itself, of the coordinator and of all workers. */
function sharesOf(what: string, unit: string, shares: readonly number[][]): Figure[] {
  return ['own process', 'coordinator', 'workers'].map((part, place) => ({
    ...{ what: `${what}, ${part}`, unit, values: shares[place] ?? [], reach: undefined },
  }))
}

const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0)

/**
 * The time of some work, and the processor time of several groups of servers, in seconds.
 *
 * @param groups that of the processes that this one starts and that end meanwhile is added to the
 * first of them.
 */
async function costOf(
  groups: readonly (readonly PostgresServer[])[],
  work: () => Promise<unknown>,
) {
  const spent = () =>
    groups.map(
      (servers, place) =>
        sum(servers.map((server) => treeSeconds(server.pids()[0] ?? 0))) +
        (place === 0 ? endedSeconds('self') : 0),
    )
  const [before, startedAt] = [spent(), performance.now()]
  await work()
  const seconds = (performance.now() - startedAt) / 1_000
  return { seconds, cpu: spent().map((now, place) => now - (before[place] ?? 0)) }
}

/** The processor time of a process with its children, those that have ended included. */
const treeSeconds = (pid: number) => cpuSeconds(pid) + endedSeconds(pid)

async function randomPages(
  one: PostgresServer,
  nodes: CitusNodes,
  scale: number,
): Promise<Figure[]> {
  const ofOne = await serve(one, port)
  const ofNodes = await serve(nodes.coordinator, port + 1)
  try {
    const path = '/api/v1/companies/{}/rights'
    const companies = (1e6 * scale) / listing
    const question = ({ key }: { key: string }) => ({ key, path, companies })
    const ratios = await compare(
      [ofNodes.server, question(ofNodes)],
      [ofOne.server, question(ofOne)],
    )
    const shares: readonly number[][] = [[], [], []]
    for (let round = 0; round < rounds; round++) {
      let [pages, own] = [0, 0]
      const { cpu } = await costOf([[], [nodes.coordinator], nodes.workers], async () => {
        const { perSecond, cpuUs } = await load(ofNodes.server, question(ofNodes), 2)
        ;[pages, own] = [perSecond * 2, cpuUs]
      })
      for (const [place, seconds] of cpu.entries()) {
        shares[place]?.push(place === 0 ? own : (seconds * 1e6) / pages)
      }
    }
    const what = `Citus: random pages of ${listing}, cache off`
    const unit = '÷ one PostgreSQL'
    return [
      { what, unit, values: ratios.rate, reach: { least: 0.6 } },
      { what: `${what}, latency`, unit, values: ratios.latency, reach: undefined },
      ...sharesOf(what, 'µs a page', shares),
    ]
  } finally {
    await Promise.all([ofOne.server.stop(), ofNodes.server.stop()])
  }
}

/** Serves the store of the first round. */
async function serve(
  database: PostgresServer,
  at: number,
): Promise<{ server: Server; key: string }> {
  const db = storeIn(database, 'round_0')
  return { key: makeKey(db), server: await startDossier(db, at, 0, timeouts, '0,1') }
}

/** Counts bytes: each node is known to the others by the port of a proxy. */
async function traffic(nodes: CitusNodes, scale: number): Promise<Figure[]> {
  const { coordinator } = nodes
  const known = await runOn<{ nodeid: number; nodeport: number }>(
    coordinator,
    'select nodeid, nodeport from pg_dist_node',
  )
  const between = await Promise.all(known.map(({ nodeport }) => startCountingProxy(nodeport)))
  const toCoordinator = await startCountingProxy(coordinator.port)
  try {
    for (const [place, { nodeid }] of known.entries()) {
      const behind = between[place]?.port ?? 0
      await runOn(coordinator, `select citus_update_node(${nodeid}, '127.0.0.1', ${behind})`)
    }
    await runOn(coordinator, 'select start_metadata_sync_to_all_nodes()')
    const url = new URL(coordinator.url)
    url.port = String(toCoordinator.port)
    const figures: Figure[] = []
    const travelled = () => sum(between.map(({ bytes }) => bytes()))
    for (const [what, target, file] of importsOf(scale)) {
      const before = [travelled(), toCoordinator.bytes()] as const
      await importFile(target, file, `${url.href}?schema=traffic`)
      const staged = toCoordinator.bytes() - before[1]
      figures.push({
        ...{ what: `Citus: bytes between nodes, import of ${what}`, unit: '÷ bytes staged' },
        ...{ values: [(travelled() - before[0]) / staged], reach: { most: 2.5 } },
      })
    }
    return figures
  } finally {
    for (const proxy of [...between, toCoordinator]) proxy.stop()
  }
}
