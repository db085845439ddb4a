// An endpoint is one entry of a table. The router, 404 and 405, the scopes of keys, the labels of
// metrics and log, OpenAPI, the reference page and the guides derive from the table.

import type { HttpReply, HttpRequest } from '../wire/exchange.ts'
import type { Awaitable } from '../../store/awaitable.ts'
import type { Service } from '../service.ts'

/** The methods of every endpoint: the service is read-only. */
export const readMethods: readonly string[] = ['GET', 'HEAD']

export interface Endpoint {
  /** With parameters in braces, such as `/api/v1/companies/{company_id}/rights`. */
  readonly path: string
  /** The scope that a key needs; undefined if any key will do, or none is needed (`needsKey`). */
  readonly scope: string | undefined
  /** Answered under any load, so that a supervisor can see that the process is alive. */
  readonly isAlwaysAnswered?: true
  /** A file that browsers load; it has a limit of its own instead of that of requests. */
  readonly isAsset?: true
  /** Answers a request that has passed every stage. */
  readonly answer: (request: HttpRequest, service: Service) => Awaitable<HttpReply>
}

/** Every path below this needs a key. */
export const apiPrefix = '/api/'

/** Whether a request for an endpoint needs a key, of whatever scope. */
export function needsKey({ path, scope }: Endpoint): boolean {
  return scope !== undefined || path.startsWith(apiPrefix)
}

/** The path in the router's syntax: `/api/v1/companies/:company_id/rights`. */
export function routerPath({ path }: Endpoint): string {
  return path.replace(/\{(\w+)\}/g, ':$1')
}
