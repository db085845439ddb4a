// The measures on Citus, beside a PostgreSQL of the same programs: a coordinator and two workers,
// all on this machine, so that ratios say what spreading costs and not what it brings.
//
// Each is given by the clock and by processor time, that of the databases' processes included.

import { type CitusNodes, findCitus, runOn, startCitus } from '../test/support/citus-nodes.ts'
import { startCountingProxy } from './counting-proxy.ts'
import { type PostgresServer, startPostgres } from '../test/support/postgres-server.ts'
import { dossier, makeCompanies, makeFew, makeFile, makeKey, rightsOf } from './files.ts'
import type { Figure, Measure } from './measures.ts'
import { settings as usual, timeouts } from './postgres.ts'
import {
  cpuSeconds,
  endedSeconds,
  importFile,
  type Load,
  load,
  type Question,
  run,
  type Server,
  startBare,
  startDossier,
} from './processes.ts'

const port = 18_100
const rounds = 3
const roundSeconds = 2
const listing = 20
const workers = 2
const changed = 1_500
const fewChanged = `${changed} changed rights`

// Four servers share the memory.
const settings = { ...usual, shared_buffers: '512MB', max_locks_per_transaction: '1024' }

/** Measures imports, pages and searches, and what travels between the nodes. */
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
      ...(await serving(one, nodes, scale)),
      ...(await traffic(nodes, scale)),
    ]
  } finally {
    await Promise.all([one.remove(), nodes.remove()])
  }
}

const storeIn = (server: PostgresServer, schema: string) => `${server.url}?schema=${schema}`

const companiesAt = (scale: number) => 5e4 * scale
const rightsAt = (scale: number) => rightsOf(2e5 * scale, listing)

/** What is imported in each round, one after the other into a store. */
const importsOf = (scale: number) => {
  const file = makeFile(rightsAt(scale))
  return [
    ['companies', 'companies', makeCompanies(companiesAt(scale))],
    ['rights', 'rights', file],
    ['the same rights again', 'rights', file],
    [fewChanged, 'rights', makeFew(rightsAt(scale), changed)],
  ] as const
}

/** Creates an empty store, so that no import has to. */
const createStore = (db: string) => run([dossier, 'migrate', '--db', db])

async function importing(one: PostgresServer, nodes: CitusNodes, scale: number): Promise<Figure[]> {
  for (const server of [one, nodes.coordinator]) {
    for (let round = 0; round < rounds; round++) {
      await createStore(storeIn(server, `round_${round}`))
    }
  }
  const figures: Figure[] = []
  for (const [what, target, file] of importsOf(scale)) {
    const [wall, cpu, seconds] = [[] as number[], [] as number[], [] as number[]]
    for (let round = 0; round < rounds; round++) {
      const costIn = (server: PostgresServer, all: readonly PostgresServer[]) =>
        costOf(all, () => importFile(target, file, storeIn(server, `round_${round}`)))
      const ofOne = await costIn(one, [one])
      const ofNodes = await costIn(nodes.coordinator, [nodes.coordinator, ...nodes.workers])
      wall.push(ofOne.seconds / ofNodes.seconds)
      cpu.push(ofOne.cpu / ofNodes.cpu)
      seconds.push(ofNodes.seconds)
    }
    const name = `Citus: import of ${what}`
    const unit = '÷ one PostgreSQL'
    // What has little to do takes the time that connecting and planning take.
    const [share, time] =
      what === fewChanged ? [undefined, { most: 1 }] : [{ least: 0.5 }, undefined]
    figures.push(
      { what: name, unit, values: wall },
      { what: `${name}, by processor`, unit, values: cpu, reach: share },
      { what: name, unit: 's', values: seconds, reach: time },
    )
  }
  return figures
}

const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0)

/** The time of some work, and the processor time of that and of servers, in seconds. */
async function costOf(servers: readonly PostgresServer[], work: () => Promise<unknown>) {
  const spent = () => endedSeconds('self') + secondsOf(servers)
  const [before, startedAt] = [spent(), performance.now()]
  await work()
  return { seconds: (performance.now() - startedAt) / 1_000, cpu: spent() - before }
}

/** The processor time of servers and their sessions, those that have ended included. */
function secondsOf(servers: readonly PostgresServer[]): number {
  return sum(servers.map((server) => treeSeconds(server.pids()[0] ?? 0)))
}

function treeSeconds(pid: number): number {
  for (;;) {
    try {
      return cpuSeconds(pid) + endedSeconds(pid)
    } catch {
      // A session has ended meanwhile.
    }
  }
}

/** A server of Dossier, and the databases that work for it. */
interface Served {
  readonly where: string
  readonly server: Server
  readonly key: string
  readonly databases: readonly PostgresServer[]
}

/**
 * Asked of one PostgreSQL, of the coordinator and of a worker, in turn. The bare servers, which
 * read the texts of a page by one key, show what of it Citus takes from everybody.
 */
async function serving(one: PostgresServer, nodes: CitusNodes, scale: number): Promise<Figure[]> {
  const { coordinator } = nodes
  const [worker = coordinator] = nodes.workers
  const all = [coordinator, ...nodes.workers]
  const served: Served[] = []
  const bare: Served[] = []
  const path = '/api/v1/companies/{}/rights'
  const serve = async (where: string, at: PostgresServer, databases: readonly PostgresServer[]) => {
    const key = makeKey(storeIn(at === worker ? coordinator : at, 'round_0'))
    // A bare server takes the port after its own.
    const own = port + 2 * served.length
    const server = await startDossier(storeIn(at, 'round_0'), own, 0, timeouts, '0,1')
    served.push({ where, server, key, databases })
    const first = path.replace('{}', '1')
    const beside = await startBare(server, key, first, ['bare-postgres.ts', at.url])
    bare.push({ where, server: beside, key, databases })
  }
  try {
    await Promise.all([makeBareTable(one, false), makeBareTable(coordinator, true)])
    await serve('one', one, [one])
    await serve('coordinator', coordinator, all)
    await serve('worker', worker, all)
    const pages = { path, companies: rightsAt(scale).records / listing }
    const what = `Citus: random pages of ${listing}, cache off`
    const lookups = 'Citus: bare server of the same texts'
    const search = { companies: companiesAt(scale), connections: 1 }
    return [
      ...(await ask(`${what}, 1 connection`, served, { ...pages, connections: 1 }, [0.5, 0.6])),
      ...(await ask(`${lookups}, 1 connection`, bare, { ...pages, connections: 1 }, [])),
      ...(await ask(`${what}, 8 connections`, served, { ...pages, connections: 8 }, [0.35, 0.6])),
      ...(await ask(`${lookups}, 8 connections`, bare, { ...pages, connections: 8 }, [])),
      ...(await ask('Citus: search by number', served, {
        ...search,
        path: '/api/v1/companies?identifier={}&jurisdiction=GB',
      })),
      ...(await ask('Citus: search by two words', served, {
        ...search,
        path: '/api/v1/companies?q=own{}+tra',
        companies: Math.min(20_000, companiesAt(scale)),
      })),
    ]
  } finally {
    await Promise.all([...served, ...bare].map(({ server }) => server.stop()))
  }
}

/** Makes the table that the bare servers read, of the rights that were imported in `round_0`. */
async function makeBareTable(server: PostgresServer, isDistributed: boolean): Promise<void> {
  await runOn(server, 'create table bare (company_id bigint primary key, body bytea)')
  if (isDistributed) await runOn(server, "select create_distributed_table('bare', 'company_id')")
  await runOn(
    server,
    `insert into bare select distinct on (company_id) company_id, texts from round_0.heads
      where listing = 'rights' and texts is not null order by company_id, version desc`,
  )
  await runOn(server, 'vacuum analyze bare')
}

/** @param reaches of the ratios of coordinator and worker, if any; without them, it is a search. */
async function ask(
  what: string,
  served: readonly Served[],
  question: Omit<Question, 'key'>,
  reaches?: readonly number[],
): Promise<Figure[]> {
  const found = served.map((): (Load & { readonly allUs: number })[] => [])
  const warmUp = { ...question, connections: 8 }
  for (const { server, key } of served) await load(server, { ...warmUp, key }, 5)
  for (let round = 0; round < rounds; round++) {
    for (const [n, { server, key, databases }] of served.entries()) {
      const before = secondsOf(databases)
      const one = await load(server, { ...question, key }, roundSeconds)
      const ofDatabases = (secondsOf(databases) - before) * 1e6
      const allUs = one.cpuUs + ofDatabases / (one.perSecond * roundSeconds)
      found[n]?.push({ ...one, allUs })
    }
  }
  const [ofOne = [], ...others] = found
  return others.flatMap((loads, n): Figure[] => {
    const name = `${what}, ${served[n + 1]?.where ?? ''}`
    const unit = '÷ one PostgreSQL'
    const ratios = (of: (one: Load & { allUs: number }, other: typeof one) => number) =>
      loads.flatMap((one, at) => (ofOne[at] === undefined ? [] : of(one, ofOne[at])))
    const least = reaches?.[n]
    const [rates, cpu] = [
      ratios((one, other) => one.perSecond / other.perSecond),
      ratios((one, other) => other.allUs / one.allUs),
    ]
    const p50Ms = loads.map(({ p50Us }) => p50Us / 1_000)
    return [
      { what: name, unit, values: rates },
      { what: `${name}, by processor`, unit, values: cpu, reach: least ? { least } : undefined },
      {
        what: `${name}, p50`,
        unit: 'ms',
        values: p50Ms,
        reach: reaches ? undefined : { most: 15 },
      },
    ]
  })
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
    await createStore(`${url.href}?schema=traffic`)
    const figures: Figure[] = []
    const travelled = () => sum(between.map(({ bytes }) => bytes()))
    for (const [what, target, file] of importsOf(scale)) {
      const before = [travelled(), toCoordinator.bytes()] as const
      await importFile(target, file, `${url.href}?schema=traffic`)
      const staged = toCoordinator.bytes() - before[1]
      figures.push({
        what: `Citus: bytes between nodes, import of ${what}`,
        unit: '÷ bytes staged',
        values: [(travelled() - before[0]) / staged],
        reach: { most: 2.5 },
      })
    }
    return figures
  } finally {
    for (const proxy of [...between, toCoordinator]) proxy.stop()
  }
}
