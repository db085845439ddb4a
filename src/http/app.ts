// The application, without its listener: the stages that every request passes, in order, and the
// endpoints behind them.

import { randomUUID } from 'node:crypto'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { METHODS } from 'node:http'
import type { Logger } from 'pino'
import type { Resource } from '../resources/resource.ts'
import type { Awaitable } from '../store/awaitable.ts'
import type { KeyRecord } from '../store/keys.ts'
import type { StoreReader } from '../store/reading.ts'
import { hasScope } from '../store/scopes.ts'
import type { KeyUses } from '../store/usage.ts'
import { clientGuide, documentIndex } from './docs/guide.ts'
import { createOpenApi } from './docs/openapi.ts'
import { apiPrefix, type Endpoint, needsKey, routerPath } from './endpoints/endpoint.ts'
import { endpointsOf } from './endpoints/table.ts'
import {
  asApiError,
  failureBody,
  forbidden,
  methodNotAllowed,
  notFound,
  tooMany,
  unavailable,
} from './errors.ts'
import type { Metrics } from './metrics.ts'
import { createPageCache } from './page.ts'
import { bodyBytes, createRequestLog, type RequestLog } from './request-log.ts'
import { answerBrokenRequest, answerUnhandled, createBrokenLog } from './wire/broken-requests.ts'
import { type AssetLimits, assetLimits, createStaticAssets } from './static-assets.ts'
import { type Cors, createCors } from './wire/cors.ts'
import { createStreamer } from './wire/streaming.ts'
import {
  closeToRequests,
  createWireServer,
  excludeFromLoad,
  findWireFault,
  type Load,
  type WireLimits,
  wireLimits,
} from './wire/server.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The endpoint that the route serves. */
    endpoint?: Endpoint
  }
  interface FastifyRequest {
    /** The key of the request, once it has been found valid. */
    key: KeyRecord | undefined
    /** What is left of the rate limit of its key; undefined if that has none. */
    rate: RateVerdict | undefined
  }
  interface FastifyInstance {
    /** Makes the service not ready; every connection closes with its next response. */
    startDraining: () => void
    /** Refuses every further request with 503, and closes its connection. */
    stopAnswering: () => void
  }
}

/** A client's key, or how long the client has to wait; undefined if it has no valid key. */
type Authenticated = KeyRecord | { readonly waitSeconds: number } | undefined

/** Whether a request is within the rate limit of its key, and what is left of the limit. */
interface RateVerdict {
  readonly isWithin: boolean
  readonly policy: string
  readonly quota: number
  readonly windowSeconds: number
  readonly remaining: number
  readonly resetSeconds: number
}

/** The parts of an application, and its settings. */
export interface AppOptions {
  readonly store: StoreReader
  readonly resources: readonly Resource[]
  /** Finds the key of a request; reads the client's address only if it needs it. */
  readonly authenticate: (
    authorization: string | undefined,
    client: { readonly ip: string | undefined; readonly socket: object },
  ) => Awaitable<Authenticated>
  /** Counts a request of a key; returns the verdict of its rate limit, if it has one. */
  readonly limitRate?: (key: KeyRecord) => Awaitable<RateVerdict | undefined>
  /** Meters a request that its key and its rate limit have let in. */
  readonly countUse?: ((keyId: number) => void) | undefined
  /** Reads the metered uses of a key; undefined, or without a result, if they are not counted. */
  readonly readUses?: ((keyId: number) => Awaitable<KeyUses | undefined>) | undefined
  /** Counts the requests under way, and decides when there are too many. */
  readonly load: Load
  /** Addresses and networks of proxies whose X-Forwarded-For is trusted; none by default. */
  readonly trustedProxies?: readonly string[]
  readonly cacheBytesMax: number
  readonly logger: Logger
  /** Undefined if metrics are off. */
  readonly metrics?: Metrics | undefined
  readonly version: string
  /** Whether the explorer is served; by default it is. */
  readonly isExplorerOn?: boolean
  /** Origins whose pages may read responses, or `*`; none by default. */
  readonly corsOrigins?: readonly string[]
  /** Limits that differ from the defaults. */
  readonly limits?: Partial<WireLimits & AssetLimits>
}

/** The progress of a stop. */
interface Stop {
  isDraining: boolean
  isStopping: boolean
}

const requestIdPattern = /^[A-Za-z0-9._-]{1,64}$/

// No route has a schema for Fastify; by default, it would load 300 modules to compile them.
const withoutSchemas = {
  buildValidator: () => noSchemas,
  buildSerializer: () => noSchemas,
}

function noSchemas(): never {
  throw new Error('a route has a schema for Fastify')
}

/** Builds the application; the caller listens or injects requests. */
export function buildApp(options: AppOptions): FastifyInstance {
  const { logger, load, metrics } = options
  const noteOmitted = metrics && (() => metrics.countOmitted())
  const logBroken = createBrokenLog(logger, noteOmitted)
  const log = createRequestLog(logger, noteOmitted)
  const app = Fastify({
    logger: false,
    genReqId: ({ headers }) => requestId(headers['x-request-id']),
    // Lets an id that is far too long reach our own check, and get its message.
    routerOptions: { maxParamLength: 16_384 },
    ...(options.trustedProxies && { trustProxy: [...options.trustedProxies] }),
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    exposeHeadRoutes: false,
    schemaController: { compilersFactory: withoutSchemas },
    serverFactory: (handler) => {
      const server = createWireServer(handler, { ...wireLimits, ...options.limits }, load)
      answerUnhandled(server, logBroken)
      return server
    },
    frameworkErrors: (error, request, reply) => {
      // The router cannot parse the URL; no hook runs for such a request.
      reply.raw.once('finish', () => noteAnswer(log, metrics, request, reply))
      stages(request, reply, error).catch((refusal: unknown) =>
        sendFailure(request, reply, refusal, log),
      )
    },
    clientErrorHandler: (error, socket) => {
      metrics?.countBroken()
      answerBrokenRequest(error, socket, logBroken)
    },
  })
  const stop = addStop(app)
  const stages = createStages(options, stop)
  app.decorateRequest('key', undefined)
  app.decorateReply('streamedBytes', undefined)
  app.decorateRequest('rate', undefined)
  // Only endpoints that take a body read it (wire/body.ts).
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  app.addHook('onRequest', (request, reply) => stages(request, reply))
  app.addHook('onResponse', (request, reply, done) => {
    noteAnswer(log, metrics, request, reply)
    done()
  })
  app.setErrorHandler((error, request, reply) => sendFailure(request, reply, error, log))
  app.addHook('onClose', () => {
    load.close()
    log.close()
  })
  addEndpoints(app, options, { stop, log })
  return app
}

/** The client's own id if it is harmless, else a random one (contract section 5). */
function requestId(given: string | string[] | undefined): string {
  return typeof given === 'string' && requestIdPattern.test(given) ? given : randomUUID()
}

function addStop(app: FastifyInstance): Stop {
  const stop: Stop = { isDraining: false, isStopping: false }
  app.decorate('startDraining', () => {
    stop.isDraining = true
  })
  app.decorate('stopAnswering', () => {
    stop.isDraining = true
    stop.isStopping = true
  })
  return stop
}

/**
 * Creates the stages that every request passes before its endpoint, in this order, whether or not
 * its path is known. Each stage lets the request pass or throws the ApiError to answer it with.
 */
function createStages(options: AppOptions, stop: Stop) {
  const cors: Cors | undefined = options.corsOrigins && createCors(options.corsOrigins)
  const { load } = options

  return async (
    request: FastifyRequest,
    reply: FastifyReply,
    routerFault?: Error,
  ): Promise<FastifyReply | undefined> => {
    const { endpoint } = request.routeOptions.config
    void reply.header('x-request-id', request.id).header('x-content-type-options', 'nosniff')
    if (stop.isDraining) void reply.header('connection', 'close')
    if (stop.isStopping) throw unavailable()
    refuseUnsound(request)
    if (cors !== undefined) {
      cors.mark(request, reply)
      if (cors.answerPreflight(request, reply)) return reply
    }
    refuseExcess(load, request, endpoint)
    // Under /api/ the key is checked before anything else. An endpoint that needs a key needs it
    // however its path was spelled (contract 2.3).
    if ((endpoint !== undefined && needsKey(endpoint)) || isUnderApi(request.url)) {
      const key = await findKey(options, request, endpoint)
      request.key = key
      request.rate = await holdToRate(options, key, reply)
      options.countUse?.(key.id)
    }
    if (routerFault !== undefined) throw routerFault
    if (request.is404) throw notFound()
    const { methods = [request.method] } = endpoint ?? {}
    if (!methods.includes(request.method)) throw methodNotAllowed(methods)
    return undefined
  }
}

function refuseUnsound({ raw }: FastifyRequest): void {
  const fault = findWireFault(raw)
  if (fault === undefined) return
  closeToRequests(raw.socket)
  throw fault
}

function refuseExcess(load: Load, { raw }: FastifyRequest, endpoint: Endpoint | undefined): void {
  const { isAsset = false, isAlwaysAnswered = false } = endpoint ?? {}
  if (isAsset) excludeFromLoad(raw.socket)
  const excess = load.excess()
  const isExempt = isAlwaysAnswered || (isAsset && excess === 'requests')
  if (excess === undefined || isExempt) return
  load.warn(excess)
  throw unavailable()
}

/** Finds the key that lets the request in; every refusal looks the same (contract 2.2). */
async function findKey(
  { authenticate }: AppOptions,
  request: FastifyRequest,
  endpoint: Endpoint | undefined,
): Promise<KeyRecord> {
  let key: Authenticated
  try {
    key = await authenticate(request.headers.authorization, request)
  } catch (error) {
    throw unavailable(error)
  }
  if (key === undefined) throw forbidden()
  if ('waitSeconds' in key) throw tooMany(key.waitSeconds)
  const scope = endpoint?.scope
  if (scope !== undefined && !hasScope(key.scopes, scope)) throw forbidden()
  return key
}

/** Counts a request of a key with a rate limit, reports what is left, and refuses any excess. */
async function holdToRate(
  { limitRate }: AppOptions,
  key: KeyRecord,
  reply: FastifyReply,
): Promise<RateVerdict | undefined> {
  const verdict = await limitRate?.(key)
  if (verdict === undefined) return undefined
  const { isWithin, policy, remaining, resetSeconds } = verdict
  void reply
    .header('ratelimit-policy', policy)
    .header('ratelimit', `"default";r=${remaining};t=${resetSeconds}`)
  if (!isWithin) throw tooMany(resetSeconds)
  return verdict
}

/**
 * Whether a target is under the prefix of the API. An encoded slash counts as a slash here: the
 * router does not treat it as one, but a refusal is the safe answer.
 */
function isUnderApi(url: string): boolean {
  return pathOf(url).replaceAll(/%2f/gi, '/').startsWith(apiPrefix)
}

/**
 * The path of a target as the router sees it: without host and query, and percent-decoded except
 * for encoded slashes, which do not separate segments.
 */
export function pathOf(url: string): string {
  const decode = (code: string) =>
    code.toLowerCase() === '%2f' ? code : String.fromCharCode(parseInt(code.slice(1), 16))
  const path = url.replace(/^https?:\/\/[^/]*/i, '').split('?', 1)[0] ?? ''
  return path.replace(/%[0-9a-f]{2}/gi, decode)
}

/** Adds every endpoint for all methods, so that another method gets a 405 and not a 404. */
function addEndpoints(
  app: FastifyInstance,
  options: AppOptions,
  { stop, log }: { readonly stop: Stop; readonly log: RequestLog },
): void {
  const { store, metrics, version, isExplorerOn = true } = options
  const endpoints = endpointsOf(options.resources, { isExplorerOn })
  const service = {
    store,
    readUses: options.readUses,
    metrics,
    pages: createPageCache(options.cacheBytesMax),
    assets: createStaticAssets({ ...assetLimits, ...options.limits }, options.load),
    streams: createStreamer((request, cause) => log.fault(request, cause)),
    isDraining: () => stop.isDraining,
    openApiText: () => JSON.stringify(createOpenApi(endpoints, version)),
    clientGuide: () => clientGuide(endpoints, options.resources),
    documentIndex: () => documentIndex(endpoints),
  }
  for (const method of METHODS) {
    if (!app.supportedMethods.includes(method)) app.addHttpMethod(method)
  }
  for (const endpoint of endpoints) {
    app.route({
      method: app.supportedMethods,
      url: routerPath(endpoint),
      config: { endpoint },
      handler: endpoint.createHandler(service),
    })
  }
}

/** Logs and counts a response that has been sent. */
function noteAnswer(
  log: RequestLog,
  metrics: Metrics | undefined,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const answer = {
    status: reply.statusCode,
    ms: reply.elapsedTime,
    bytes: bodyBytes(request, reply),
  }
  log.answered(request, answer)
  metrics?.countRequest(request.routeOptions.config.endpoint?.scope, answer)
}

/** Sends any error in the form of the contract (section 4). */
function sendFailure(
  request: FastifyRequest,
  reply: FastifyReply,
  error: unknown,
  log: RequestLog,
): FastifyReply {
  const failure = asApiError(error)
  // A deliberate refusal has no cause; its line in the request log says enough.
  const cause = failure === error ? failure.cause : error
  if (failure.code >= 500 && cause !== undefined) log.fault(request, cause)
  return reply
    .code(failure.code)
    .headers(failure.headers)
    .header('content-type', 'application/json; charset=utf-8')
    .header('cache-control', 'no-store')
    .send(failureBody(failure.code, failure.message))
}
