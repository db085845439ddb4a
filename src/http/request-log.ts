// One line a request, and the cause of each fault under the same id. No key is in any of them.

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'

/** Logs an answered request. The query stays out: a mistaken client puts its key there. */
export function logRequest(logger: Logger, request: FastifyRequest, reply: FastifyReply): void {
  logger.info({
    request_id: request.id,
    method: request.method,
    path: request.url.split('?', 1)[0],
    status: reply.statusCode,
    ms: Math.round(reply.elapsedTime * 1_000) / 1_000,
    bytes: Number(reply.getHeader('content-length') ?? 0),
    key: request.key?.name,
  })
}

/** Logs what went wrong inside, which the client is not told. */
export function logFault(logger: Logger, request: FastifyRequest, cause: unknown): void {
  logger.error({ request_id: request.id, err: cause }, 'the request could not be answered')
}
