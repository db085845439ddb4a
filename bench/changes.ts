// What it costs to follow the registry: pages of changes, beside pages of a listing, and clients
// that wait for the next change.

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '../fuzz/wire.ts'
import { type Figure, figure } from './figures.ts'
import {
  fill,
  folder,
  makeChangedStore,
  makeCompanies,
  makeFew,
  makeFile,
  makeKey,
  makeOnce,
  makeStore,
  removeStore,
  rightsOf,
} from './files.ts'
import {
  compare,
  importFile,
  load,
  nextPort,
  type Question,
  type Server,
  start,
  startDossier,
} from './processes.ts'

const rounds = 5
const scopes = ['changes', 'companies', 'rights']
const listingOf1000 = '/api/v1/companies/7/rights?limit=1000'

/** Pages of changes, none of which is cached, by the server's processor time; and waiting. */
export async function followChanges(scale: number): Promise<Figure[]> {
  return [
    ...(await fewOfMany(scale)),
    ...(await fromNothing(scale)),
    ...(await fromRegister(scale)),
    ...(await waitTogether()),
  ]
}

type Side = [Server, Question]

/** Asks two servers for one page: of a store of many, and of one of a tenth of them. */
async function ofMany<T>(
  [many, few]: readonly [many: string, few: string],
  path: string,
  work: (many: Side, few: Side) => Promise<T>,
): Promise<T> {
  const ask = (db: string) => ({ key: makeKey(db, scopes), path, connections: 1 })
  await using ofMany = await startDossier(many, 0)
  await using ofFew = await startDossier(few, 0)
  return await work([ofMany, ask(many)], [ofFew, ask(few)])
}

/** What was changed since the last version, of many records and of a tenth of them. */
async function fewOfMany(scale: number): Promise<Figure[]> {
  const many = makeChangedStore(rightsOf(1e7 * scale, 100), 1_000)
  const few = makeChangedStore(rightsOf(1e6 * scale, 100), 1_000)
  return ofMany([many, few], '/api/v1/changes?after=1&limit=1000', async (many, few) => {
    const { cpu } = await compare(few, many)
    const ms: number[] = []
    for (let round = 0; round < rounds; round++) ms.push((await load(...many, 2)).cpuUs / 1_000)
    const what = '1,000 changes among 10,000,000 records'
    return [
      figure(what, 'ms', ms, { most: 50 }),
      figure(what, '÷ of 1,000,000', cpu, { most: 1.2 }),
    ]
  })
}

/** The first page of a client that has nothing yet, beside a page of as many records. */
async function fromNothing(scale: number): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const listing of [1_000, 100]) {
    const { db } = makeStore(rightsOf(1e6 * scale, listing))
    const long = makeStore(rightsOf(1e6 * scale, 1_000)).db
    await using of = await startDossier(db, 0)
    await using ofLong = await startDossier(long, 0)
    const ask = (path: string, at: string) => ({ key: makeKey(at, scopes), path, connections: 1 })
    const path = '/api/v1/changes?after=0&limit=1000&resource=rights'
    const { cpu } = await compare([ofLong, ask(listingOf1000, long)], [of, ask(path, db)])
    const what = `page of 1,000 changes from 0, listings of ${listing}`
    figures.push(figure(what, '÷ page of 1,000', cpu, { most: 3 }))
  }
  return figures
}

/** The first page of companies that a register names, of many and of a tenth of them. */
async function fromRegister(scale: number): Promise<Figure[]> {
  const stores = [makeNamed(1e6 * scale), makeNamed(1e5 * scale)] as const
  const path = '/api/v1/changes?after=0&limit=1000&resource=companies'
  return ofMany(stores, path, async (many, few) => {
    const { cpu } = await compare(few, many)
    const what = 'page of 1,000 changes from 0, companies of a register'
    return [figure(what, '÷ of a tenth', cpu, { most: 1.2 })]
  })
}

/** A store of companies with names. */
function makeNamed(companies: number): string {
  return makeOnce(`named-${companies}`, (db) => fill(db, 'companies', makeCompanies(companies)))
}

const clients = 1_000

/** Clients that wait for the next change: what they cost, when they are answered, and at a stop. */
async function waitTogether(): Promise<Figure[]> {
  const shape = rightsOf(10_000, 100)
  const db = join(folder, 'waiting.db')
  removeStore(db)
  await importFile('rights', makeFile(shape), db)
  const bare = await bytesOfBare()
  await using server = await startInspected('../src/main.ts', 'serve', '--db', db, '--port')
  const ask = createAsking(server, makeKey(db, scopes))
  // What the first requests load is not what waiting takes.
  await Promise.all([...ask('after=1'), ...ask('after=1&wait=1')])
  await sleep(2_000)
  const idle = await usedBytes(server)
  const waiting = ask('after=1&wait=60')
  await sleep(3_000)
  const bytes = ((await usedBytes(server)) - idle) / clients
  const few = makeFew(shape, 10)
  const committed = importFile('rights', few, db, ['--accept']).then(() => performance.now())
  const answers = await Promise.all(waiting)
  const since = await committed
  const late = Math.max(0, ...answers.map(({ at }) => at - since))
  const told = answers.filter(({ text }) => text.includes('"change":"put"')).length
  const left = ask('after=2&wait=60')
  await sleep(1_000)
  await server.stop()
  const ends = await Promise.allSettled(left)
  const isEmpty = (one: (typeof ends)[number]) =>
    one.status === 'fulfilled' && one.value.text.includes('"changes":[]')
  removeStore(db)
  const what = '1,000 clients that wait'
  return [
    figure(`${what}, memory beside bare node:http`, 'bytes each', [bytes - bare], { most: 2_048 }),
    figure(`${what}, last answer after the import`, 'ms', [late], { most: 1_000 }),
    figure(`${what}, told`, '', [told], { least: clients }),
    figure(`${what}, answered at a stop`, '', [ends.filter(isEmpty).length], { least: clients }),
  ]
}

/** What a request under way takes in Node.js. */
async function bytesOfBare(): Promise<number> {
  await using server = await startInspected('waiting-server.ts')
  const ask = createAsking(server, '')
  await Promise.all(ask('answer'))
  const idle = await usedBytes(server)
  for (const one of ask('')) one.catch(() => undefined)
  await sleep(2_000)
  return ((await usedBytes(server)) - idle) / clients
}

/** Clients with a connection each: all of them ask, and tell when their answers were complete. */
function createAsking({ port }: Server, key: string) {
  const all = Array.from({ length: clients }, () => createClient(port))
  return (query: string) => {
    const head = `GET /api/v1/changes?${query} HTTP/1.1\r\nHost: localhost\r\n`
    const bytes = Buffer.from(`${head}Authorization: Bearer ${key}\r\n\r\n`)
    return all.map(async (client) => {
      const { text } = await client.ask(bytes, 'GET')
      return { text, at: performance.now() }
    })
  }
}

interface Inspected extends Server {
  readonly inspector: string
}

/** Starts a script with an inspector; the port of its server is its last argument. */
async function startInspected(script: string, ...args: string[]): Promise<Inspected> {
  const inspector = `127.0.0.1:${nextPort()}`
  const program = [process.execPath, `--inspect=${inspector}`, join(import.meta.dirname, script)]
  return { ...(await start((port) => [...program, ...args, port])), inspector }
}

/** The memory that is in use in the server after a collection, by its inspector. */
async function usedBytes({ inspector }: Inspected): Promise<number> {
  const list = await fetch(`http://${inspector}/json/list`)
  const [target] = (await list.json()) as { readonly webSocketDebuggerUrl: string }[]
  const socket = new WebSocket(target?.webSocketDebuggerUrl ?? '')
  await new Promise((resolve) => socket.addEventListener('open', resolve))
  const call = (method: string, params = {}) =>
    new Promise<unknown>((resolve) => {
      const take = ({ data }: MessageEvent) => resolve(JSON.parse(String(data)))
      socket.addEventListener('message', take, { once: true })
      socket.send(JSON.stringify({ id: 1, method, params }))
    })
  await call('HeapProfiler.collectGarbage')
  const expression = 'process.memoryUsage().heapUsed + process.memoryUsage().external'
  const answer = await call('Runtime.evaluate', { expression })
  socket.close()
  return (answer as { result: { result: { value: number } } }).result.result.value
}
