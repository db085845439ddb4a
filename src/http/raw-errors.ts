// Requests that never become one: what the parser or a timeout ends is answered on the socket.

import { randomUUID } from 'node:crypto'
import { STATUS_CODES, type Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Logger } from 'pino'
import { failureBody } from './errors.ts'

const statusOfCode: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
}

/** Answers a malformed, oversized or unfinished request in the contract's form, and hangs up. */
export function answerBrokenRequest(
  error: Error & { code?: string },
  socket: Socket,
  logger: Logger,
): void {
  // A client that went away is nobody to answer; nor is one in the middle of an answer.
  if (error.code === 'ECONNRESET' || !socket.writable || isAnswering(socket)) {
    socket.destroy()
    return
  }
  refuse(socket, statusOfCode[error.code ?? ''] ?? 400, error.code, logger)
}

/** Answers what Node would answer without a body, or not at all: CONNECT, and Expect fields. */
export function answerUnhandled(server: Server, logger: Logger): void {
  server.on('connect', (_request, socket) => refuse(socket, 400, 'CONNECT', logger))
  server.on('checkExpectation', ({ socket }) => refuse(socket, 417, 'Expect', logger))
}

/** Writes an answer straight to the socket, and hangs up. */
function refuse(socket: Duplex, status: number, reason: string | undefined, logger: Logger): void {
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
  logger.info({ request_id: requestId, status, reason }, 'broken request')
}

/** Whether the head of an answer is already on its way: a second one would corrupt it. */
function isAnswering(socket: Socket & { _httpMessage?: { headersSent: boolean } }): boolean {
  return socket._httpMessage?.headersSent ?? false
}
