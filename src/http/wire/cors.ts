// CORS: which origins may read responses, and the preflight requests of browsers
// (https://fetch.spec.whatwg.org/#http-cors-protocol). It is off unless an operator turns it on.

import type { HttpRequest } from './exchange.ts'

/** The response headers that pages may read, in addition to those that they always may. */
const exposed =
  'Accept-Ranges, Allow, Changes-Next, Changes-Until, Content-Disposition, Content-Location, ' +
  'Content-Range, Data-Version, ETag, Link, RateLimit, RateLimit-Policy, Repr-Digest, ' +
  'Retry-After, X-Request-Id, X-Total-Count'
/** The request headers that pages may send, in addition to those that they always may. */
const allowed = 'Authorization, Content-Type, If-None-Match, If-Range, Range, X-Request-Id'
/** How long a browser may cache the response to a preflight request, in seconds. */
const preflightMaxAgeSeconds = 600

/**
 * @param origins are such as `https://example.org`, or only `*` for all; without any, CORS is off.
 *   The service uses no cookies, so credentials are never allowed.
 */
export function createCors(origins: readonly string[]) {
  if (origins.length === 0) return undefined
  const isForAll = origins.includes('*')

  function originFor(request: HttpRequest): string | undefined {
    if (isForAll) return '*'
    const { origin } = request.headers
    return origin !== undefined && origins.includes(origin) ? origin : undefined
  }

  return {
    /** Sets the headers that say which origin may read the response. */
    mark(request: HttpRequest): void {
      const { reply } = request
      if (!isForAll) reply.header('vary', 'Origin')
      const origin = originFor(request)
      if (origin === undefined) return
      reply
        .header('access-control-allow-origin', origin)
        .header('access-control-expose-headers', exposed)
    },
    /** Answers a preflight request of an allowed origin; false for any other request. */
    answerPreflight(request: HttpRequest): boolean {
      const { headers, method, reply } = request
      if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) {
        return false
      }
      if (originFor(request) === undefined) return false
      // The same for every path: a client without a key cannot find out which paths exist.
      reply
        .code(204)
        .header('access-control-allow-methods', 'GET, HEAD')
        .header('access-control-allow-headers', allowed)
        .header('access-control-max-age', preflightMaxAgeSeconds)
        .send()
      return true
    },
  }
}
