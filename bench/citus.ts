// The measures on Citus, beside a PostgreSQL of the same programs: a coordinator and two workers,
// all on this machine, so that ratios say what spreading costs and not what it brings.
//
// Processor time is that of all processes, the databases' included.

import { type CitusNodes, findCitus, runOn, startCitus } from '../test/support/citus-nodes.ts'
import { startCountingProxy } from './counting-proxy.ts'
import { type PostgresServer, startPostgres } from '../test/support/postgres-server.ts'
import { type Figure, figure, type Measure } from './figures.ts'
import { dossier, makeCompanies, makeFew, makeFile, makeKey, rightsOf } from './files.ts'
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
  startDossier,
} from './processes.ts'

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
  const one = await startPostgres({ programs, auth: 'trust', settings })
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
    const [cpu, seconds] = [[] as number[], [] as number[]]
    for (let round = 0; round < rounds; round++) {
      const costIn = (server: PostgresServer, all: readonly PostgresServer[]) =>
        costOf(all, () => importFile(target, file, storeIn(server, `round_${round}`)))
      const ofOne = await costIn(one, [one])
      const ofNodes = await costIn(nodes.coordinator, [nodes.coordinator, ...nodes.workers])
      cpu.push(ofOne.cpu / ofNodes.cpu)
      seconds.push(ofNodes.seconds)
    }
    const name = `Citus: import of ${what}`
    figures.push(figure(`${name}, by processor`, '÷ one PostgreSQL', cpu, { least: 0.5 }))
    // What has little to do takes the time that connecting and planning take.
    if (what === fewChanged) figures.push(figure(name, 's', seconds, { most: 1 }))
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

/** Asked of one PostgreSQL, of the coordinator and of a worker, in turn. */
async function serving(one: PostgresServer, nodes: CitusNodes, scale: number): Promise<Figure[]> {
  const { coordinator } = nodes
  const [worker = coordinator] = nodes.workers
  const all = [coordinator, ...nodes.workers]
  const served: Served[] = []
  const serve = async (where: string, at: PostgresServer, databases: readonly PostgresServer[]) => {
    const key = makeKey(storeIn(at === worker ? coordinator : at, 'round_0'))
    const server = await startDossier(storeIn(at, 'round_0'), 0, timeouts, '0,1')
    served.push({ where, server, key, databases })
  }
  try {
    await serve('one', one, [one])
    await serve('coordinator', coordinator, all)
    await serve('worker', worker, all)
    const pages = {
      path: '/api/v1/companies/{}/rights',
      companies: rightsAt(scale).records / listing,
    }
    const number = '/api/v1/companies?identifier={}&jurisdiction=GB'
    const words = { path: '/api/v1/companies?q=own{}+tra', connections: 1 }
    const companies = companiesAt(scale)
    return [
      ...(await comparePages(served, { ...pages, connections: 1 }, [0.5, 0.6])),
      ...(await comparePages(served, { ...pages, connections: 8 }, [0.35, 0.6])),
      ...(await search('number', served, { path: number, companies, connections: 1 })),
      ...(await search('two words', served, { ...words, companies: Math.min(20_000, companies) })),
    ]
  } finally {
    await Promise.all(served.map(({ server }) => server.stop()))
  }
}

/** @param leasts of the coordinator and of the worker. */
async function comparePages(
  served: readonly Served[],
  question: Omit<Question, 'key'>,
  leasts: readonly number[],
): Promise<Figure[]> {
  const [ofOne = [], ...others] = await loadInTurn(served, question)
  return others.map((loads, n) => {
    const what = `Citus: random pages of ${listing}, cache off, ${question.connections} connections`
    const values = loads.map(({ allUs }, at) => (ofOne[at]?.allUs ?? NaN) / allUs)
    const name = `${what}, ${served[n + 1]?.where ?? ''}, by processor`
    return figure(name, '÷ one PostgreSQL', values, { least: leasts[n] ?? NaN })
  })
}

async function search(
  by: string,
  served: readonly Served[],
  question: Omit<Question, 'key'>,
): Promise<Figure[]> {
  const [, ...others] = await loadInTurn(served, question)
  return others.map((loads, n) => {
    const p50Ms = loads.map(({ p50Us }) => p50Us / 1_000)
    const what = `Citus: search by ${by}, ${served[n + 1]?.where ?? ''}, p50`
    return figure(what, 'ms', p50Ms, { most: 15 })
  })
}

/** The loads of each server, with the processor time of a request in all processes. */
async function loadInTurn(served: readonly Served[], question: Omit<Question, 'key'>) {
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
  return found
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
      const share = (travelled() - before[0]) / staged
      const name = `Citus: bytes between nodes, import of ${what}`
      figures.push(figure(name, '÷ bytes staged', [share], { most: 2.5 }))
    }
    return figures
  } finally {
    for (const proxy of [...between, toCoordinator]) proxy.stop()
  }
}
