// An endpoint is one entry of a table. The router, 404 and 405, the scopes of keys, the labels of
// metrics and log, OpenAPI, the reference page and the guides derive from the table.

import type { HttpReply, HttpRequest } from '../wire/exchange.ts'
import type { Resource } from '../../resources/resource.ts'
import type { Awaitable } from '../../store/awaitable.ts'
import type { StoreReader } from '../../store/serving/store-reader.ts'
import type { KeyUses } from '../../store/keys.ts'
import type { Metrics } from '../metrics.ts'
import type { AnswerCache } from '../answers/answer-cache.ts'
import type { ChangeWatch } from '../change-watch.ts'
import type { ReadInTurn, WorkInTurn } from '../scan-turns.ts'
import type { SendAsset } from '../static-assets.ts'
import type { BeginStream } from '../wire/streaming.ts'

/** The methods of every endpoint: the service is read-only. */
export const readMethods: readonly string[] = ['GET', 'HEAD']

/** The parts of the application that handlers use. */
export interface Service {
  readonly resources: readonly Resource[]
  readonly store: StoreReader
  /** Reads the uses of a key; undefined, or without a result, if they are not counted. */
  readonly readUses: ((keyId: number) => Awaitable<KeyUses | undefined>) | undefined
  /** The folder of complete copies; undefined without one. */
  readonly exportsFolder: string | undefined
  readonly answers: AnswerCache
  readonly metrics: Pick<Metrics, 'countPage'> | undefined
  readonly sendAsset: SendAsset
  readonly beginStream: BeginStream
  /** Reads what may need scans of listings. */
  readonly readInTurn: ReadInTurn
  /** Reads what needs a search for names. */
  readonly searchInTurn: WorkInTurn
  /** Finds companies by number, and reads one as a whole. */
  readonly companiesInTurn: WorkInTurn
  readonly changesInTurn: WorkInTurn
  readonly watch: ChangeWatch
  /** Whether the service is stopping, so that new requests should go elsewhere. */
  readonly isDraining: () => boolean
  /** Checks that the key of a request that has waited still admits it; throws a 403 if not. */
  readonly checkKeyAgain: (request: HttpRequest) => Promise<void>
}

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
