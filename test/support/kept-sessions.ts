// A pooler before the PostgreSQL of a run: it gives the sessions that have ended to later clients,
// cleared, as PgBouncer does in the mode `session`. To begin one takes the server longer than all
// that most tests ask for in it. It runs in a thread of its own, and asks nobody for a password.

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'

/** Starts it before a server; returns the URL that leads through it. It ends with the process. */
export async function keepSessions(server: string): Promise<string> {
  const thread = new Worker(new URL(import.meta.url), { workerData: server, execArgv: [] })
  const [port] = (await once(thread, 'message')) as [number]
  thread.unref()
  const through = new URL(server)
  through.port = String(port)
  return through.href
}

/** A session of the server. */
interface Session {
  readonly socket: Socket
  /** What a client asks for first: a user, a database, settings. */
  readonly asked: string
  /** What the server answers once the client is logged in. */
  greeting: Buffer
  isBegun: boolean
  client: Socket | undefined
  /** Whether the server waits for a statement, outside of a transaction. */
  isIdle: boolean
  /** Whether the client has ended, and the session is being cleared. */
  isCleared: boolean
}

const keptMax = 50

// Messages of PostgreSQL's protocol.
const loggedIn = Buffer.from('R\0\0\0\x08\0\0\0\0', 'latin1')
const ready = Buffer.from('Z\0\0\0\x05I', 'latin1')
const discardAll = Buffer.from('Q\0\0\0\x10discard all\0', 'latin1')
const terminate = Buffer.from('X\0\0\0\x04', 'latin1')

/** Sessions without a client, the last used one last. */
const kept: Session[] = []

if (!isMainThread) {
  // Clients close their side after the last message, and wait for the other side.
  const listener = createServer({ noDelay: true, allowHalfOpen: true }, (client) => {
    client.on('error', () => undefined)
    client.once('data', (asked: Buffer) => serve(client, asked))
  })
  listener.listen(0, '127.0.0.1', () => {
    parentPort?.postMessage((listener.address() as AddressInfo).port)
  })
}

function serve(client: Socket, asked: Buffer): void {
  const at = kept.findLastIndex((session) => session.asked === asked.toString('latin1'))
  const [session = begin(asked)] = at < 0 ? [] : kept.splice(at, 1)
  session.client = client
  if (session.isIdle) client.write(session.greeting)
  client.on('data', (said: Buffer) => tell(session, client, said))
  client.on('end', () => {
    if (session.client === client && !session.isCleared) session.socket.end()
  })
  client.on('close', () => {
    if (session.client === client) session.socket.destroy()
  })
}

function begin(asked: Buffer): Session {
  const { hostname, port } = new URL(String(workerData))
  const socket = connect({ host: hostname, port: Number(port), noDelay: true })
  const session: Session = {
    socket,
    asked: asked.toString('latin1'),
    greeting: Buffer.alloc(0),
    isBegun: false,
    client: undefined,
    isIdle: false,
    isCleared: false,
  }
  socket.on('error', () => undefined)
  socket.on('data', (said: Buffer) => hear(session, said))
  socket.on('close', () => {
    session.client?.destroySoon()
    if (kept.includes(session)) kept.splice(kept.indexOf(session), 1)
  })
  socket.write(asked)
  return session
}

/** Passes on what a client says, but for its end. */
function tell(session: Session, client: Socket, said: Buffer): void {
  session.isCleared = session.isIdle && said.equals(terminate)
  session.isIdle = false
  pass(client, session.socket, session.isCleared ? discardAll : said)
}

/** Passes on what the server says; keeps a session that has been cleared. */
function hear(session: Session, said: Buffer): void {
  const { socket, client, isBegun } = session
  session.isIdle = said.subarray(-ready.length).equals(ready)
  if (!isBegun) session.greeting = Buffer.concat([session.greeting, said])
  if (!isBegun && session.isIdle) {
    session.greeting = session.greeting.subarray(session.greeting.indexOf(loggedIn))
    session.isBegun = true
  }
  if (!session.isCleared) {
    if (client !== undefined) pass(socket, client, said)
  } else if (session.isIdle) {
    session.client = undefined
    session.isCleared = false
    client?.end()
    kept.push(session)
    if (kept.length > keptMax) kept.shift()?.socket.destroy()
  }
}

function pass(from: Socket, to: Socket, said: Buffer): void {
  if (to.write(said)) return
  from.pause()
  to.once('drain', () => from.resume())
}
