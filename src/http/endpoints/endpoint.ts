// What an endpoint is: one entry of a table. The router, 404 and 405, the scopes of keys, labels of
// metrics and of the log, OpenAPI, the reference page and the guides derive from the table.

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { JsonSchema } from '../../resources/field.ts'
import type { StoreReader } from '../../store/reading.ts'
import type { FailureStatus } from '../errors.ts'
import type { Metrics } from '../metrics.ts'
import type { PageCache } from '../page.ts'
import type { StaticAssets } from '../static-assets.ts'

/** The methods that every endpoint takes: the service is read-only. */
export const readMethods = ['GET', 'HEAD'] as const

/** What the handlers of endpoints work with. */
export interface Service {
  readonly store: StoreReader
  readonly metrics: Pick<Metrics, 'countPage'> | undefined
  readonly pages: PageCache
  /** Files that browsers load. */
  readonly assets: StaticAssets
  /** Whether the service is about to stop, so that new requests should go elsewhere. */
  readonly isDraining: () => boolean
  /** The OpenAPI document of all endpoints, as JSON text. */
  readonly openApiText: () => string
}

/** Answers a request that every stage before it has let through. */
export type Handler = (
  request: FastifyRequest,
  reply: FastifyReply,
) => FastifyReply | Promise<FastifyReply>

/** A successful answer, as OpenAPI describes it; its headers and schemas by their names there. */
export interface AnswerDescription {
  readonly description: string
  readonly headers: readonly string[]
  readonly schema?: string
  readonly example?: { readonly name: string; readonly summary?: string; readonly value: unknown }
}

/** What the interface says of an endpoint. */
export interface Operation {
  readonly id: string
  readonly tag: string
  readonly summary: string
  readonly description: string
  /** Names of parameters in `parameterComponents`. */
  readonly parameters: readonly string[]
  readonly answers: Readonly<Record<number, AnswerDescription>>
  readonly failures: readonly FailureStatus[]
  /** The schemas that its answers need beside the shared ones. */
  readonly schemas?: Readonly<Record<string, JsonSchema>>
}

export interface Endpoint {
  /** With parameters in braces, such as `/api/v1/companies/{company_id}/rights`. */
  readonly path: string
  readonly methods: readonly string[]
  /** The scope that a key needs; undefined for an endpoint that needs no key. */
  readonly scope: string | undefined
  /** Whether it is answered under any load, so that a supervisor can see that the process lives. */
  readonly isAlwaysAnswered?: true
  /** It is a file that browsers load, with a bound of its own instead of that of requests. */
  readonly isAsset?: true
  /** Undefined for what is no part of the interface, such as a page. */
  readonly operation: Operation | undefined
  /** Makes the handler, once for each application. */
  readonly createHandler: (service: Service) => Handler
}

/** The path as the router writes it: `/api/v1/companies/:company_id/rights`. */
export function routerPath({ path }: Endpoint): string {
  return path.replace(/\{(\w+)\}/g, ':$1')
}
