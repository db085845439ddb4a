// The HTTP server below the application: what becomes of connections, whatever is asked on them.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { headersMax } from './wire-faults.ts'

/** What a connection has been through. */
interface Connection {
  /** Requests that have come and whose answers have not been handed to the system. */
  unanswered: number
  /** The last request that has come. */
  last: IncomingMessage | undefined
  /** Nothing that comes from now on is looked at: its last answer has been found. */
  isClosing: boolean
  /** What is to be done when all whole requests have been answered. */
  onQuiet: (() => void) | undefined
  /** To be called when a request has been answered. */
  readonly answered: () => void
}

const connectionKey = Symbol('connection')
interface Tracked {
  [connectionKey]: Connection | undefined
}

/** How the server hands a request on. */
export type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** Makes the server that hands sound connections' requests to the application. */
export function createWireServer(handler: Handler): Server {
  const receive: Handler = (request, response) => {
    const connection = connectionOf(request.socket)
    if (connection.isClosing) return
    connection.unanswered += 1
    connection.last = request
    response.on('finish', connection.answered)
    handler(request, response)
  }
  const server = createServer(
    {
      requestTimeout: 30_000,
      keepAliveTimeout: 65_000,
      // Node would answer a request without Host by itself, in no form at all.
      requireHostHeader: false,
    },
    receive,
  )
  // One more than is allowed: beyond this Node drops fields in silence, Authorization included.
  server.maxHeadersCount = headersMax + 1
  const expect: Handler = (request, response) => {
    // A client that waits for leave and gets an answer instead may send its body or may not; what
    // follows cannot be told apart, so nothing may follow.
    response.shouldKeepAlive = false
    receive(request, response)
  }
  // Leave to send a body is given where one is read (request-body.ts), not before it is refused.
  server.on('checkContinue', expect).on('checkExpectation', expect)
  return server
}

/** From now on nothing that comes on the connection is looked at. */
export function closeToRequests(socket: Duplex): void {
  connectionOf(socket).isClosing = true
}

/** Whether the connection's last answer has been found already. */
export function isClosedToRequests(socket: Duplex): boolean {
  return connectionOf(socket).isClosing
}

/**
 * Does something when the requests that came whole before have been answered, which may be now.
 * The last one may be the very one that has turned out broken; nobody waits for its answer.
 */
export function afterAnswers(socket: Duplex, work: () => void): void {
  const connection = connectionOf(socket)
  connection.onQuiet = work
  runIfQuiet(connection)
}

function connectionOf(socket: Duplex): Connection {
  const tracked = socket as unknown as Tracked
  return (tracked[connectionKey] ??= createConnection())
}

function createConnection(): Connection {
  const connection: Connection = {
    unanswered: 0,
    last: undefined,
    isClosing: false,
    onQuiet: undefined,
    answered() {
      connection.unanswered -= 1
      if (connection.onQuiet !== undefined) runIfQuiet(connection)
    },
  }
  return connection
}

function runIfQuiet(connection: Connection): void {
  const broken = connection.last?.complete === false ? 1 : 0
  if (connection.unanswered > broken) return
  const work = connection.onQuiet
  connection.onQuiet = undefined
  work?.()
}
