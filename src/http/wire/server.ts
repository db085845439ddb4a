// The HTTP server below the application: what becomes of connections, whatever is asked on them.

import {
  createServer,
  type IncomingMessage,
  METHODS,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { Duplex } from 'node:stream'
import { type ApiError, badRequest, headersMax, statusError } from '../errors.ts'

/** What a connection has been through. */
interface Connection {
  /** Requests that have come and whose answers have not been handed to the system. */
  unanswered: number
  /** Where the request whose turn it is counts as under way; undefined where none does. */
  load: Load | undefined
  /** The last request that has come. */
  last: IncomingMessage | undefined
  /** Those that wait for the answer before theirs, in their order; made where there is one. */
  waiting: Waiting[] | undefined
  /** Nothing that comes from now on is looked at: its last answer has been found. */
  isClosing: boolean
  /** It is closed; none of its requests is under way any more. */
  isGone: boolean
  /** What is to be done when all whole requests have been answered. */
  onQuiet: (() => void) | undefined
  /** To be called when a request has been answered. */
  readonly answered: () => void
}

/** A request whose turn has not come. */
interface Waiting {
  readonly response: ServerResponse
  readonly handOn: () => void
}

/** How much is under way, as the server counts it, and when that is too much. */
export interface Load {
  begin(): void
  end(): void
  /** Why a request cannot be taken on now; undefined where it can. */
  excess(): string | undefined
  /** Logs that something is refused, once for many. */
  warn(reason: string): void
  close(): void
}

/** What the server puts up with from one connection; times in milliseconds. */
export interface WireLimits {
  /** Connections; one more is closed as soon as it is there. */
  readonly connectionsMax: number
  /** Requests on a connection that wait for their answers; one more, and it is cut off. */
  readonly unansweredMax: number
  /** How long the head of a request may take to arrive. */
  readonly headMs: number
  /** How long a request with its body may take to arrive. */
  readonly requestMs: number
  /** How long a connection may rest between two requests. */
  readonly restMs: number
  /** How long a connection with a request under way may stand still, in both directions. */
  readonly standstillMs: number
  /** How often arrivals that take too long are looked for. */
  readonly checkMs: number
}

/** The limits that a server has unless it is given others. */
export const wireLimits: WireLimits = {
  unansweredMax: 8,
  headMs: 10_000,
  requestMs: 30_000,
  restMs: 65_000,
  standstillMs: 15_000,
  checkMs: 1_000,
  connectionsMax: 10_000,
}

/**
 * Emitted for a request without a version whose method is none of HTTP's, such as PRI or PLAY: the
 * parser lets it through, and no router finds anything for it, not even a refusal.
 */
export const unknownMethod = 'unknownMethod'
const methods: ReadonlySet<string> = new Set(METHODS)

const connectionKey = Symbol('connection')
interface Tracked {
  [connectionKey]: Connection | undefined
}

/** How the server hands a request on. */
export type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** Makes the server that hands sound connections' requests to the application. */
export function createWireServer(handler: Handler, limits: WireLimits, load: Load): Server {
  const { unansweredMax } = limits
  const receive: Handler = (request, response) => {
    const connection = connectionOf(request.socket)
    if (connection.isClosing) return
    if (!methods.has(request.method ?? '')) {
      server.emit(unknownMethod, request)
      return
    }
    connection.unanswered += 1
    // Whoever asks on without reading fills our memory with answers, not its own.
    if (connection.unanswered > unansweredMax) {
      connection.isClosing = true
      request.socket.destroy()
      return
    }
    connection.last = request
    response.on('finish', connection.answered)
    if (connection.unanswered === 1) handOn(connection, request, response)
    // One answer is made at a time. Whoever asks on without reading is found out before the others
    // are made, and one who reads slowly has one of them in our memory.
    else {
      const inOrder = () => handOn(connection, request, response)
      ;(connection.waiting ??= []).push({ response, handOn: inOrder })
    }
  }
  // What waits for another answer on its connection is not under way: it holds no more than its
  // head, and a connection counts once at most.
  const handOn = (connection: Connection, request: IncomingMessage, response: ServerResponse) => {
    connection.load = load
    load.begin()
    handler(request, response)
  }
  const track = (socket: Duplex) => {
    const connection = createConnection()
    const tracked = socket as unknown as Tracked
    tracked[connectionKey] = connection
    socket.once('close', () => {
      endLoad(connection)
      connection.isGone = true
    })
  }
  const server = createServer(
    {
      headersTimeout: limits.headMs,
      requestTimeout: limits.requestMs,
      keepAliveTimeout: limits.restMs,
      connectionsCheckingInterval: limits.checkMs,
      // Node would answer a request without Host by itself, in no form at all.
      requireHostHeader: false,
    },
    receive,
  )
  // A client that does not read stands still, too: bytes that the system does not take are no
  // movement.
  server.timeout = limits.standstillMs
  // One more than is allowed: beyond this Node drops fields in silence, Authorization included.
  server.maxHeadersCount = headersMax + 1
  const expect: Handler = (request, response) => {
    // A client that waits for leave and gets an answer instead may send its body or may not; what
    // follows cannot be told apart, so nothing may follow.
    response.shouldKeepAlive = false
    receive(request, response)
  }
  server.maxConnections = limits.connectionsMax
  server.on('connection', track).on('drop', () => load.warn('connections'))
  // Leave to send a body is given where one is read (request-body.ts), not before it is refused.
  server.on('checkContinue', expect).on('checkExpectation', expect)
  return server
}

/** From now on nothing that comes on the connection is looked at. */
export function closeToRequests(socket: Duplex): void {
  connectionOf(socket).isClosing = true
}

/** The request whose turn it is on the connection no longer counts as under way. */
export function excludeFromLoad(socket: Duplex): void {
  endLoad(connectionOf(socket))
}

/** Whether the connection's last answer has been found already. */
export function isClosedToRequests(socket: Duplex): boolean {
  return connectionOf(socket).isClosing
}

/** Whether the connection waits for the rest of a request, and for nothing else. */
export function isAwaitingRequest(socket: Duplex): boolean {
  const { last, unanswered, isClosing } = connectionOf(socket)
  return !isClosing && unanswered === 1 && last?.complete === false
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
  // A request that came without a connection, as tests inject it, has nothing to count.
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
      if (connection.waiting !== undefined) handOnNext(connection)
    },
  }
  return connection
}

function handOnNext({ waiting }: Connection): void {
  const next = waiting?.shift()
  // Where the answer before it was the connection's last one, it never gets its turn.
  if (next?.response.socket?.writable === true) next.handOn()
}

function runIfQuiet(connection: Connection): void {
  const broken = connection.last?.complete === false ? 1 : 0
  if (connection.unanswered > broken) return
  const work = connection.onQuiet
  connection.onQuiet = undefined
  work?.()
}

const closing = { connection: 'close' }
const targetPattern = /^[\x21-\x7e]+$/
/** `uri-host [":" port]`, which may be empty (RFC 9110 section 7.2, RFC 3986 section 3.2.2). */
const hostPattern = /^(?:\[[0-9a-fv.:]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/i

/**
 * The refusal of a request that is not sound HTTP/1.0 or 1.1; undefined for a sound one. It stands
 * before everything else, the look at the key included: 100 to 200 ns.
 */
export function findWireFault(request: IncomingMessage): ApiError | undefined {
  const { httpVersion, url, rawHeaders } = request
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return findVersionFault(httpVersion)
  if (rawHeaders.length > headersMax * 2) return statusError(431, closing)
  if (!targetPattern.test(url ?? '')) return fault('The target has a character that it may not')
  let hosts = 0
  let authorizations = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    // Most names differ in length from all of these; then their case need not be looked at.
    if (name.length === 4 && isNamed(name, 'host')) {
      if (!hostPattern.test(rawHeaders[at + 1] ?? '')) return fault('The Host is not valid')
      hosts += 1
    } else if (name.length === 13 && isNamed(name, 'authorization')) authorizations += 1
    else if (name.length === 17 && isNamed(name, 'transfer-encoding')) {
      if (!isChunked(rawHeaders[at + 1]) || httpVersion === '1.0') {
        return fault('Transfer-Encoding must be chunked, or absent')
      }
    }
  }
  // RFC 9112 section 3.2.
  if (hosts === 0 && httpVersion === '1.1') return fault('The request has no Host')
  if (hosts > 1) return fault('The request has more than one Host')
  if (authorizations > 1) return fault('The request has more than one Authorization')
  // RFC 9110 section 10.1.1; HTTP/1.0 knows no expectations.
  const { expect } = request.headers
  const isMet = expect === undefined || httpVersion === '1.0' || /^100-continue$/i.test(expect)
  return isMet ? undefined : statusError(417, closing)
}

/** `GET /x` without a version is read as HTTP/0.9; HTTP/2.0 has another form altogether. */
function findVersionFault(httpVersion: string): ApiError {
  return httpVersion === '0.9' ? fault('The request has no version') : statusError(505, closing)
}

function fault(message: string): ApiError {
  return badRequest(message, closing)
}

function isNamed(given: string, name: string): boolean {
  return given === name || given.toLowerCase() === name
}

/** RFC 9112 section 6.1: any other coding, and any second one, is refused. */
function isChunked(coding: string | undefined): boolean {
  return coding?.toLowerCase() === 'chunked'
}
