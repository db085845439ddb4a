// What it costs to follow the registry: pages of changes, beside pages of a listing, and clients
// that wait for the next change.

import { copyFileSync, existsSync, renameSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  folder,
  makeCompanies,
  makeFew,
  makeFile,
  makeKey,
  makeStore,
  removeStore,
  rightsOf,
  type Shape,
} from './files.ts'
import { compare, type Figure } from './measures.ts'
import { importFile, load, type Question, type Server, start, startDossier } from './processes.ts'

const port = 18_080
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
  await using ofMany = await startDossier(many, port, 0)
  await using ofFew = await startDossier(few, port + 1, 0)
  return await work([ofMany, ask(many)], [ofFew, ask(few)])
}

/** What was changed since the last version, of many records and of a tenth of them. */
async function fewOfMany(scale: number): Promise<Figure[]> {
  const many = await makeChangedStore(rightsOf(1e7 * scale, 100))
  const few = await makeChangedStore(rightsOf(1e6 * scale, 100))
  return ofMany([many, few], '/api/v1/changes?after=1&limit=1000', async (many, few) => {
    const { cpu } = await compare(few, many)
    const ms: number[] = []
    for (let round = 0; round < rounds; round++) ms.push((await load(...many, 2)).cpuUs / 1_000)
    const what = '1,000 changes among 10,000,000 records'
    return [
      { what, unit: 'ms', values: ms, reach: { most: 50 } },
      { what, unit: '÷ of 1,000,000', values: cpu, reach: { most: 1.2 } },
    ]
  })
}

/** A store of a shape in which 1,000 records have changed since version 1. */
async function makeChangedStore(shape: Shape): Promise<string> {
  const changed = join(folder, `changes-${shape.records}.db`)
  if (existsSync(changed)) return changed
  copyFileSync(makeStore(shape).db, `${changed}.part`)
  await importFile('rights', makeFew(shape, 1_000), `${changed}.part`, ['--accept'])
  renameSync(`${changed}.part`, changed)
  return changed
}

/** The first page of a client that has nothing yet, beside a page of as many records. */
async function fromNothing(scale: number): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const listing of [1_000, 100]) {
    const { db } = makeStore(rightsOf(1e6 * scale, listing))
    const long = makeStore(rightsOf(1e6 * scale, 1_000)).db
    await using of = await startDossier(db, port, 0)
    await using ofLong = await startDossier(long, port + 1, 0)
    const ask = (path: string, at: string) => ({ key: makeKey(at, scopes), path, connections: 1 })
    const plain: [Server, Question] = [ofLong, ask(listingOf1000, long)]
    for (const resource of ['rights', 'companies']) {
      const path = `/api/v1/changes?after=0&limit=1000&resource=${resource}`
      const { cpu } = await compare(plain, [of, ask(path, db)])
      figures.push({
        what: `page of 1,000 changes from 0, ${resource}, listings of ${listing}`,
        unit: '÷ page of 1,000',
        values: cpu,
        // Companies are put together from what sources say; records are there as they are sent.
        reach: resource === 'rights' ? { most: 3 } : undefined,
      })
    }
  }
  return figures
}

/** The first page of companies that a register names, of many and of a tenth of them. */
async function fromRegister(scale: number): Promise<Figure[]> {
  const stores = [await makeNamed(1e6 * scale), await makeNamed(1e5 * scale)] as const
  const path = '/api/v1/changes?after=0&limit=1000&resource=companies'
  return ofMany(stores, path, async (many, few) => {
    const { cpu } = await compare(few, many)
    const what = 'page of 1,000 changes from 0, companies of a register'
    return [{ what, unit: '÷ of a tenth', values: cpu, reach: { most: 1.2 } }]
  })
}

/** A store of companies with names. */
async function makeNamed(companies: number): Promise<string> {
  const db = join(folder, `named-${companies}.db`)
  if (existsSync(db)) return db
  await importFile('companies', makeCompanies(companies), `${db}.part`)
  renameSync(`${db}.part`, db)
  return db
}

const clients = 1_000

/** Clients that wait for the next change: what they cost, when they are answered, and at a stop. */
async function waitTogether(): Promise<Figure[]> {
  const shape = rightsOf(10_000, 100)
  const db = join(folder, 'waiting.db')
  removeStore(db)
  await importFile('rights', makeFile(shape), db)
  const key = makeKey(db, scopes)
  const bare = await bytesOfBare(key)
  const main = resolve(import.meta.dirname, '../src/main.ts')
  await using server = await startInspected(port, [
    main,
    'serve',
    '--db',
    db,
    '--port',
    String(port),
  ])
  const sockets = await connectAll(port)
  const ask = (query: string) => sockets.map((socket) => askOn(socket, key, query))
  try {
    // What the first requests load is not what waiting takes.
    await Promise.all([...ask('after=1'), ...ask('after=1&wait=1')])
    await sleep(2_000)
    const idle = await usedBytes(port)
    const waiting = ask('after=1&wait=60')
    await sleep(3_000)
    const bytes = ((await usedBytes(port)) - idle) / clients
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
    const what = '1,000 clients that wait'
    return [
      {
        what: `${what}, memory beside bare node:http`,
        unit: 'bytes each',
        values: [bytes - bare],
        reach: { most: 2_048 },
      },
      {
        what: `${what}, last answer after the import`,
        unit: 'ms',
        values: [late],
        reach: { most: 1_000 },
      },
      { what: `${what}, told`, unit: '', values: [told], reach: { least: clients } },
      {
        what: `${what}, answered at a stop`,
        unit: '',
        values: [ends.filter(isEmpty).length],
        reach: { least: clients },
      },
    ]
  } finally {
    for (const socket of sockets) socket.destroy()
    removeStore(db)
  }
}

/** What a request under way takes in Node.js. */
async function bytesOfBare(key: string): Promise<number> {
  const script = join(import.meta.dirname, 'waiting-server.ts')
  await using server = await startInspected(port, [script, String(port)])
  const sockets = await connectAll(server.port)
  try {
    const idle = await usedBytes(port)
    for (const socket of sockets) void askOn(socket, key, 'after=1').catch(() => undefined)
    await sleep(2_000)
    return ((await usedBytes(port)) - idle) / clients
  } finally {
    for (const socket of sockets) socket.destroy()
  }
}

/** Starts a server with an inspector, on the tenth port after its own. */
function startInspected(port: number, args: readonly string[]): Promise<Server> {
  return start(port, [process.execPath, `--inspect=127.0.0.1:${port + 10}`, ...args])
}

function connectAll(port: number): Promise<Socket[]> {
  return Promise.all(Array.from({ length: clients }, () => open(port)))
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => {
      resolve(socket.setEncoding('latin1').setMaxListeners(0))
    })
    socket.once('error', reject)
  })
}

/** Asks for changes on a connection; the answer, and when it was complete. */
function askOn(
  socket: Socket,
  key: string,
  query: string,
): Promise<{ readonly text: string; readonly at: number }> {
  return new Promise((resolve, reject) => {
    let text = ''
    const take = (chunk: string) => {
      text += chunk
      if (!text.endsWith('"next":null}')) return
      socket.off('data', take).off('close', reject)
      resolve({ text, at: performance.now() })
    }
    socket.on('data', take).once('close', reject)
    socket.write(
      `GET /api/v1/changes?${query} HTTP/1.1\r\nHost: localhost\r\n` +
        `Authorization: Bearer ${key}\r\n\r\n`,
    )
  })
}

/** The memory that is in use in the server after a collection, by its inspector. */
async function usedBytes(port: number): Promise<number> {
  const list = await fetch(`http://127.0.0.1:${port + 10}/json/list`)
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
