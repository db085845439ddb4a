// Requests that never become one: what the parser or a timeout ends is answered on the socket.

import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
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
  const status = statusOfCode[error.code ?? ''] ?? 400
  const body =
    status === 400
      ? failureBody(400, 'The request is not valid HTTP/1.1')
      : failureBody(status, STATUS_CODES[status] ?? '')
  const requestId = randomUUID()
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
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
  logger.info({ request_id: requestId, status, reason: error.code }, 'broken request')
}

/** Whether the head of an answer is already on its way: a second one would corrupt it. */
function isAnswering(socket: Socket & { _httpMessage?: { headersSent: boolean } }): boolean {
  return socket._httpMessage?.headersSent ?? false
}
