// Broken requests, which the parser or a timeout has ended; they are answered on the socket.

import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Logger } from 'pino'
import { failureBody, malformedUrl } from '../errors.ts'
import { createLineLimit } from '../request-log.ts'
import { requestIdOf } from './exchange.ts'
import {
  afterAnswers,
  closeToRequests,
  cut,
  isAnsweredEarly,
  isAwaitingRequest,
  isClosedToRequests,
  unfinishedRequest,
} from './server.ts'
import { STATUS_CODES } from './node-http.ts'

const statusOfCode: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
}

/** How many broken requests are logged per second. */
export const brokenLinesMax = 20

/** Logs a broken request that was answered. */
type LogBroken = (requestId: string, status: number, reason: string | undefined) => void

/**
 * Creates the log of broken requests. Clients that send garbage cannot fill the disk: lines beyond
 * the limit per second are counted, and the next line reports their number.
 *
 * @param onOmitted is called for each omitted line.
 * @param clock returns milliseconds and never goes backwards.
 */
export function createBrokenLog(
  logger: Logger,
  onOmitted?: () => void,
  clock?: () => number,
): LogBroken {
  const limit = createLineLimit(brokenLinesMax, onOmitted, clock)
  return (requestId, status, reason) => {
    const omitted = limit.next()
    if (omitted === undefined) return
    logger.info({ request_id: requestId, status, reason, ...omitted }, 'broken request')
  }
}

/**
 * Answers a malformed, oversized or incomplete request in the contract's form, after the responses
 * to the requests before it, and closes the connection.
 */
export function answerBrokenRequest(
  error: Error & { code?: string; reason?: string },
  socket: Socket,
  log: LogBroken,
): void {
  // The client has disconnected.
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  // The parser has the same code for versions of another form, such as HTTP/x.
  const status = error.reason === 'Invalid HTTP version' ? 505 : statusOfCode[error.code ?? '']
  refuse(socket, status ?? 400, error.code, log)
}

/** Answers what Node would not answer in our form, or at all: CONNECT, and bodies that stall. */
export function answerUnhandled(server: Server, log: LogBroken): void {
  server.on('connect', (_request, socket) => refuse(socket, 400, 'CONNECT', log))
  server.on('timeout', (socket: Socket) => {
    if (isAwaitingRequest(socket)) refuse(socket, 408, 'standstill', log)
    else cut(socket)
  })
}

/** Writes a response to the socket after those before it, and closes the connection. */
function refuse(socket: Duplex, status: number, reason: string | undefined, log: LogBroken): void {
  // The parser reports another error for each further chunk; only the first is answered.
  if (isClosedToRequests(socket)) return
  closeToRequests(socket)
  afterAnswers(socket, () => {
    // One of the responses closed the connection: anything behind its request is ignored.
    if (!socket.writable) return
    // A client would take a second answer for the answer to its next request.
    if (isAnsweredEarly(socket)) socket.end()
    else writeRefusal(socket, status, reason, log)
  })
}

function writeRefusal(
  socket: Duplex,
  status: number,
  reason: string | undefined,
  log: LogBroken,
): void {
  const phrase = STATUS_CODES[status] ?? ''
  const body = failureBody(status, status === 400 ? messageOf(reason) : phrase)
  const requestId = requestIdOf(unfinishedRequest(socket))
  socket.end(
    [
      `HTTP/1.1 ${status} ${phrase}`,
      'content-type: application/json; charset=utf-8',
      `content-length: ${Buffer.byteLength(body)}`,
      'cache-control: no-store',
      'x-content-type-options: nosniff',
      `x-request-id: ${requestId}`,
      `date: ${new Date().toUTCString()}`,
      'connection: close',
      '',
      body,
    ].join('\r\n'),
  )
  log(requestId, status, reason)
}

/** What is wrong with a request that Node's parser has refused, if the parser tells. */
function messageOf(reason: string | undefined): string {
  return reason === 'HPE_INVALID_URL' ? malformedUrl().message : 'The request is not valid HTTP/1.1'
}
