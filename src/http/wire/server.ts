// The HTTP server below the application. It limits what connections may do, whatever they request.

import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { headersMax } from '../errors.ts'
import type { Load } from './load.ts'
import { createServer } from './node-http.ts'

interface Connection {
  /** Requests that have arrived and whose responses have not been handed to the system. */
  unanswered: number
  /** Where the current request counts as under way; undefined if none does. */
  load: Load | undefined
  /** The last request that has arrived. */
  last: IncomingMessage | undefined
  /** Hand on the requests that wait for the response before theirs; created for the first one. */
  waiting: (() => void)[] | undefined
  /** The last response of the connection is decided; further requests are ignored. */
  isClosing: boolean
  /** The connection is closed, and none of its requests is under way. */
  isGone: boolean
  /** Called when all complete requests have been answered. */
  onQuiet: (() => void) | undefined
  /** To be called when a request has been answered. */
  readonly answered: () => void
}

/** Limits of connections; times in milliseconds. */
export interface WireLimits extends Readonly<typeof wireLimits> {
  /** The maximum number of connections; any further one is closed immediately. */
  readonly connectionsMax: number
}

/** The limits that no setting changes. */
export const wireLimits = {
  /** The maximum number of unanswered requests on a connection; one more closes it. */
  unansweredMax: 8,
  /** How long the head of a request may take to arrive. */
  headMs: 10_000,
  /** How long a request with its body may take to arrive. */
  requestMs: 30_000,
  /** How long a connection may be idle between two requests. */
  restMs: 65_000,
  /** How long a connection with a request under way may transfer nothing in either direction. */
  standstillMs: 15_000,
  /**
   * How long after a client has closed its sending side its answer may take to begin: the client
   * may have left, which looks the same until something is sent.
   */
  halfClosedMs: 1_000,
  /** How often the server looks for requests that take too long to arrive. */
  checkMs: 1_000,
}

const openSockets = new WeakMap<Server, Set<Socket>>()

const connectionKey = Symbol('connection')
interface Tracked {
  [connectionKey]: Connection | undefined
}

/** Creates the server that hands requests to the application, one per connection at a time. */
export function createWireServer(handler: RequestListener, limits: WireLimits, load: Load): Server {
  const { unansweredMax } = limits
  const receive: RequestListener = (request, response) => {
    const connection = connectionOf(request.socket)
    if (connection.isClosing) return
    connection.unanswered += 1
    // The responses to a client that sends requests without reading would fill our memory.
    if (connection.unanswered > unansweredMax) {
      connection.isClosing = true
      request.socket.destroy()
      return
    }
    connection.last = request
    // Node drops what came together with a request that offers another protocol: without an end of
    // the connection, a client would wait in vain for the answer to its next request.
    if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false
    response.on('finish', connection.answered)
    if (connection.unanswered === 1) handOn(connection, request, response)
    // One response is made at a time. A client that does not read is cut off before the others are
    // made, and a client that reads slowly holds one of them in our memory.
    else {
      connection.waiting ??= []
      connection.waiting.push(() => {
        // The response before it may have closed the connection.
        if (response.socket?.writable === true) handOn(connection, request, response)
      })
    }
  }
  // A request that waits for another response on its connection does not count as under way: it
  // holds only its head. So a connection counts at most once.
  const handOn = (connection: Connection, request: IncomingMessage, response: ServerResponse) => {
    connection.load = load
    load.begin()
    handler(request, response)
  }
  const server = createServer(
    {
      headersTimeout: limits.headMs,
      requestTimeout: limits.requestMs,
      keepAliveTimeout: limits.restMs,
      connectionsCheckingInterval: limits.checkMs,
      // Node would answer a request without Host itself, with an empty body.
      requireHostHeader: false,
    },
    receive,
  )
  const open = new Set<Socket>()
  openSockets.set(server, open)
  // This covers clients that do not read: bytes that the system does not accept are no activity.
  server.timeout = limits.standstillMs
  // One more than we allow: beyond this, Node silently drops fields, Authorization included.
  server.maxHeadersCount = headersMax + 1
  const expect: RequestListener = (request, response) => {
    // A client that waits for a 100 and gets a final response may or may not send its body. The
    // body could not be told from the next request, so the connection is closed.
    response.shouldKeepAlive = false
    receive(request, response)
  }
  server.maxConnections = limits.connectionsMax
  server
    .on('connection', (socket) => track(socket, open, limits))
    .on('drop', () => load.warn('connections'))
  // The 100 is sent where a body is read (body.ts), not for requests that are refused.
  server.on('checkContinue', expect).on('checkExpectation', expect)
  return server
}

function track(socket: Socket, open: Set<Socket>, { halfClosedMs }: WireLimits): void {
  open.add(socket)
  const connection = createConnection()
  const tracked = socket as unknown as Tracked
  tracked[connectionKey] = connection
  const leave = () => isAnswering(socket) || socket.destroy()
  socket.once('end', () => connection.unanswered > 0 && setTimeout(leave, halfClosedMs).unref())
  socket.once('close', () => {
    open.delete(socket)
    endLoad(connection)
    connection.isGone = true
  })
}

/** The URL of a listening server's address, such as `http://127.0.0.1:8080`. */
export function urlOf(server: Server): string {
  const bound = server.address()
  if (bound === null || typeof bound === 'string') return String(bound)
  const { address, family, port } = bound
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}

/** Closes all connections of a server, as `cut` does. */
export function cutConnections(server: Server): void {
  for (const socket of openSockets.get(server) ?? []) cut(socket)
}

/**
 * Closes a connection. With a response under way it is reset: without a length or chunks, as in
 * HTTP/1.0, a client would take what it has for the whole.
 */
export function cut(socket: Socket): void {
  if (isAnswering(socket)) socket.resetAndDestroy()
  else socket.destroy()
}

/** Whether the head of a response has been sent already. */
function isAnswering(socket: Duplex): boolean {
  const { _httpMessage: response } = socket as { _httpMessage?: ServerResponse | null }
  return response?.headersSent ?? false
}

/** Makes the server ignore everything else that arrives on the connection. */
export function closeToRequests(socket: Duplex): void {
  connectionOf(socket).isClosing = true
}

/** Stops counting the current request of the connection as under way. */
export function excludeFromLoad(socket: Duplex): void {
  endLoad(connectionOf(socket))
}

/** Whether the last response of the connection is decided already. */
export function isClosedToRequests(socket: Duplex): boolean {
  return connectionOf(socket).isClosing
}

/** Whether the connection waits only for the rest of a request. */
export function isAwaitingRequest(socket: Duplex): boolean {
  const { unanswered, isClosing } = connectionOf(socket)
  return !isClosing && unanswered === 1 && unfinishedRequest(socket) !== undefined
}

/** Whether a request has been answered without its rest, which is missing. */
export function isAnsweredEarly(socket: Duplex): boolean {
  return connectionOf(socket).unanswered === 0 && unfinishedRequest(socket) !== undefined
}

/** The last request of a connection if its rest is missing. */
export function unfinishedRequest(socket: Duplex): IncomingMessage | undefined {
  const { last } = connectionOf(socket)
  return last?.complete === false ? last : undefined
}

/**
 * Calls a function once all complete requests so far have been answered, which may be now. The last
 * request may be the broken one itself, which is waited for only if its answer has begun.
 */
export function afterAnswers(socket: Duplex, work: () => void): void {
  const connection = connectionOf(socket)
  connection.onQuiet = work
  runIfQuiet(connection)
}

function connectionOf(socket: Duplex): Connection {
  const tracked = socket as unknown as Tracked
  // An injected request, as in tests, has no connection that was tracked.
  return (tracked[connectionKey] ??= createConnection())
}

function endLoad(connection: Connection): void {
  connection.load?.end()
  connection.load = undefined
}

function createConnection(): Connection {
  const connection: Connection = {
    unanswered: 0,
    load: undefined,
    last: undefined,
    waiting: undefined,
    isClosing: false,
    isGone: false,
    onQuiet: undefined,
    answered() {
      if (connection.isGone) return
      connection.unanswered -= 1
      endLoad(connection)
      if (connection.onQuiet !== undefined) runIfQuiet(connection)
      connection.waiting?.shift()?.()
    },
  }
  return connection
}

function runIfQuiet(connection: Connection): void {
  const { last } = connection
  const broken = last?.complete === false && !isAnswering(last.socket) ? 1 : 0
  if (connection.unanswered > broken) return
  const work = connection.onQuiet
  connection.onQuiet = undefined
  work?.()
}
