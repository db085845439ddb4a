// Requests that never become one: what the parser or a timeout ends is answered on the socket.

import { randomUUID } from 'node:crypto'
import { type IncomingMessage, STATUS_CODES, type Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Logger } from 'pino'
import { failureBody } from '../errors.ts'
import { createLineLimit } from '../line-limit.ts'
import {
  afterAnswers,
  closeToRequests,
  isAwaitingRequest,
  isClosedToRequests,
  unknownMethod,
} from './server.ts'

const statusOfCode: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
}

/** How many broken requests a second are logged one by one. */
export const brokenLinesMax = 20

/** Logs a broken request that was answered. */
type LogBroken = (requestId: string, status: number, reason: string | undefined) => void

/**
 * Logs broken requests. Whoever sends garbage fills no disk: what is beyond the most lines of a
 * second is counted, and told with the next line.
 *
 * @param onPassedOver is called for each line that is not logged.
 * @param clock gives milliseconds that are never set back.
 */
export function createBrokenLog(
  logger: Logger,
  onPassedOver?: () => void,
  clock?: () => number,
): LogBroken {
  const limit = createLineLimit(brokenLinesMax, onPassedOver, clock)
  return (requestId, status, reason) => {
    if (!limit.allows()) return
    const before = limit.takePassedOver()
    const omitted = before > 0 ? { untold_before: before } : {}
    logger.info({ request_id: requestId, status, reason, ...omitted }, 'broken request')
  }
}

/**
 * Answers a malformed, oversized or unfinished request in the contract's form, after the answers
 * to the requests before it, and hangs up.
 */
export function answerBrokenRequest(
  error: Error & { code?: string },
  socket: Socket,
  log: LogBroken,
): void {
  // A client that went away is nobody to answer.
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  refuse(socket, statusOfCode[error.code ?? ''] ?? 400, error.code, log)
}

/**
 * Answers what Node and the router would not answer in our form, or at all: CONNECT, methods that
 * are none of HTTP's, and bodies that come to a standstill.
 */
export function answerUnhandled(server: Server, log: LogBroken): void {
  server.on('connect', (_request, socket) => refuse(socket, 400, 'CONNECT', log))
  server.on(unknownMethod, ({ socket }: IncomingMessage) => refuse(socket, 400, 'method', log))
  server.on('timeout', (socket: Socket) => {
    if (isAwaitingRequest(socket)) refuse(socket, 408, 'standstill', log)
    else socket.destroy()
  })
}

/** Writes an answer straight to the socket when it is its turn, and hangs up. */
function refuse(socket: Duplex, status: number, reason: string | undefined, log: LogBroken): void {
  // The parser complains once more about each piece that follows; the first complaint stands.
  if (isClosedToRequests(socket)) return
  closeToRequests(socket)
  afterAnswers(socket, () => {
    // One of the answers was the connection's last: what comes behind that is no request.
    if (!socket.writable) return
    // A second answer in the middle of one would corrupt it.
    if (isAnswering(socket)) socket.destroy()
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
  const body = failureBody(status, status === 400 ? 'The request is not valid HTTP/1.1' : phrase)
  const requestId = randomUUID()
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

/** Whether the head of an answer is already on its way. */
function isAnswering(socket: Duplex & { _httpMessage?: { headersSent: boolean } | null }): boolean {
  return socket._httpMessage?.headersSent ?? false
}
