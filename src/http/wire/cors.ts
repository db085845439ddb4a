// Which pages of other origins may read answers, and how a browser asks for leave
// (https://fetch.spec.whatwg.org/#http-cors-protocol). Nothing is said unless an operator wants it.

import type { FastifyReply, FastifyRequest } from 'fastify'

/** Header fields of answers that a page may read, beside the few that it always may. */
const exposed = 'Data-Version, ETag, Link, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id'
/** Header fields that a page may send, beside the few that it always may. */
const allowed = 'Authorization, Content-Type, If-None-Match, X-Request-Id'
/** How long a browser may remember an answer to its question, in seconds. */
const preflightMaxAgeSeconds = 600

/** What is done for pages of other origins. */
export interface Cors {
  /** Says on an answer who may read it. */
  mark(request: FastifyRequest, reply: FastifyReply): void
  /** Answers a browser that asks for leave; false where the request is another. */
  answerPreflight(request: FastifyRequest, reply: FastifyReply): boolean
}

/**
 * @param origins such as `https://example.org`; `*` alone for all. No cookie is ever in play, so
 *   credentials are never allowed.
 */
export function createCors(origins: readonly string[]): Cors {
  const isForAll = origins.includes('*')

  function originFor(request: FastifyRequest): string | undefined {
    if (isForAll) return '*'
    const { origin } = request.headers
    return origin !== undefined && origins.includes(origin) ? origin : undefined
  }

  return {
    mark(request, reply) {
      if (!isForAll) void reply.header('vary', 'Origin')
      const origin = originFor(request)
      if (origin === undefined) return
      void reply
        .header('access-control-allow-origin', origin)
        .header('access-control-expose-headers', exposed)
    },
    answerPreflight(request, reply) {
      const { headers, method } = request
      if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) {
        return false
      }
      if (originFor(request) === undefined) return false
      // The same for every path: whoever has no key learns nothing of what exists.
      void reply
        .code(204)
        .header('access-control-allow-methods', 'GET, HEAD')
        .header('access-control-allow-headers', allowed)
        .header('access-control-max-age', preflightMaxAgeSeconds)
        .send()
      return true
    },
  }
}
