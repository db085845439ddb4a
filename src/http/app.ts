// The application, without its listener: the stages that every request passes, and the endpoints
// behind them.

import { randomUUID } from 'node:crypto'
import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type RouteHandlerMethod,
} from 'fastify'
import type { Logger } from 'pino'
import type { RateVerdict } from '../config/rate.ts'
import type { Resource } from '../resources/resource.ts'
import type { Awaitable } from '../store/awaitable.ts'
import type { KeyRecord, KeyUses } from '../store/keys.ts'
import type { StoreReader } from '../store/reading.ts'
import { clientGuide, documentIndex } from './docs/guide.ts'
import { describedOf } from './docs/described.ts'
import { createOpenApi } from './docs/openapi.ts'
import { type Endpoint, type Handler, routerPath } from './endpoints/endpoint.ts'
import { endpointsOf } from './endpoints/table.ts'
import { ApiError, asApiError, failureBody } from './errors.ts'
import type { Metrics } from './metrics.ts'
import { createAnswerCaches } from './answers/answer-cache.ts'
import { createChangeWatch } from './change-watch.ts'
import { bodyBytes, createRequestLog, type RequestLog } from './request-log.ts'
import { answerBrokenRequest, answerUnhandled, createBrokenLog } from './wire/broken-requests.ts'
import { createStages, type StageOptions, type Stop } from './stages.ts'
import { createScanning, type ScanLimits, scanLimits } from './scan-turns.ts'
import { type AssetLimits, assetLimits, createStaticAssets } from './static-assets.ts'
import { createStreamer } from './wire/streaming.ts'
import type { Load } from './wire/load.ts'
import { createWireServer, type WireLimits, wireLimits } from './wire/server.ts'
import { METHODS } from './wire/node-http.ts'

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

/** The parts of an application, and its settings. */
export interface AppOptions extends StageOptions {
  readonly store: StoreReader
  readonly resources: readonly Resource[]
  /** Reads the metered uses of a key; undefined, or without a result, if they are not counted. */
  readonly readUses?: ((keyId: number) => Awaitable<KeyUses | undefined>) | undefined
  /** Addresses and networks of proxies whose X-Forwarded-For is trusted; none by default. */
  readonly trustedProxies?: readonly string[]
  readonly cacheBytesMax: number
  readonly logger: Logger
  /** Undefined if metrics are off. */
  readonly metrics?: Metrics | undefined
  readonly version: string
  /** Whether the explorer is served; by default it is. */
  readonly isExplorerOn?: boolean
  /** The folder of complete copies; by default there are none. */
  readonly exportsFolder?: string | undefined
  /** Limits that differ from the defaults. */
  readonly limits?: Partial<WireLimits & AssetLimits & ScanLimits>
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
  const noteFault = createNoteFault(log, load)
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
      runStages(
        stages,
        request,
        reply,
        (refusal) => {
          if (refusal !== undefined) sendFailure(request, reply, refusal, noteFault)
        },
        error,
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
  app.addHook('onRequest', (request, reply, done) => runStages(stages, request, reply, done))
  app.addHook('onResponse', (request, reply, done) => {
    noteAnswer(log, metrics, request, reply)
    done()
  })
  app.setErrorHandler((error, request, reply) => sendFailure(request, reply, error, noteFault))
  app.addHook('onClose', () => {
    load.close()
    log.close()
  })
  addEndpoints(app, options, { stop, noteFault })
  return app
}

/** Runs the stages; `done` is called with an error, or when all have let the request pass. */
function runStages(
  stages: ReturnType<typeof createStages>,
  request: FastifyRequest,
  reply: FastifyReply,
  done: (error?: Error) => void,
  routerFault?: Error,
): void {
  try {
    const passed = stages(request, reply, routerFault)
    if (passed === undefined) done()
    else if (passed instanceof Promise) {
      // A stage that has answered the request returns its reply.
      passed.then((sent) => sent ?? done(), done)
    }
  } catch (error) {
    done(error as Error)
  }
}

/** The client's own id if it is harmless, else a random one (contract section 5). */
function requestId(given: string | string[] | undefined): string {
  return typeof given === 'string' && requestIdPattern.test(given) ? given : randomUUID()
}

function addStop(app: FastifyInstance): Stop {
  const stop: Stop = { isDraining: false, isStopping: false, draining: new AbortController() }
  const startDraining = () => {
    stop.isDraining = true
    stop.draining.abort()
  }
  app.decorate('startDraining', startDraining)
  app.decorate('stopAnswering', () => {
    startDraining()
    stop.isStopping = true
  })
  return stop
}

/** Adds every endpoint for all methods, so that another method gets a 405 and not a 404. */
function addEndpoints(
  app: FastifyInstance,
  options: AppOptions,
  { stop, noteFault }: { readonly stop: Stop; readonly noteFault: NoteFault },
): void {
  const { store, metrics, version, isExplorerOn = true } = options
  const endpoints = endpointsOf(options.resources, { isExplorerOn })
  const service = {
    store,
    readUses: options.readUses,
    exportsFolder: options.exportsFolder,
    metrics,
    ...createAnswerCaches(options.cacheBytesMax),
    assets: createStaticAssets({ ...assetLimits, ...options.limits }),
    streams: createStreamer(noteFault),
    scanning: createScanning({ ...scanLimits, ...options.limits }),
    isDraining: () => stop.isDraining,
    watch: createChangeWatch(store, stop.draining.signal, metrics?.countWaiting),
    openApiText: () => JSON.stringify(createOpenApi(endpoints, options.resources, version)),
    clientGuide: () => clientGuide(endpoints, options.resources),
    documentIndex: (base: string) => documentIndex(describedOf(endpoints, options.resources), base),
  }
  for (const method of METHODS) {
    if (!app.supportedMethods.includes(method)) app.addHttpMethod(method)
  }
  for (const endpoint of endpoints) {
    app.route({
      method: app.supportedMethods,
      url: routerPath(endpoint),
      config: { endpoint },
      handler: withoutWaiting(endpoint.createHandler(service)),
    })
  }
}

/**
 * The framework waits for what a handler returns, which costs about as much as reading a short
 * page: it hears of promises only.
 */
function withoutWaiting(handle: Handler): RouteHandlerMethod {
  return (request, reply) => {
    const answered: unknown = handle(request, reply)
    return answered instanceof Promise ? answered : undefined
  }
}

/** Logs why a request could not be answered. */
type NoteFault = (request: FastifyRequest, error: unknown) => void

/** A refusal for load is counted, and is no fault. */
function createNoteFault(log: RequestLog, load: Load): NoteFault {
  return (request, error) => {
    if (hasLeft(request, error)) return
    if (!(error instanceof ApiError)) log.fault(request, error)
    else if (error.excess !== undefined) load.warn(error.excess)
    // A deliberate refusal has no cause; its line in the request log says enough.
    else if (error.cause !== undefined) log.fault(request, error.cause)
  }
}

/** Whether a stream has ended because its client has gone. */
function hasLeft({ raw }: FastifyRequest, error: unknown): boolean {
  const isCut =
    error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE'
  return isCut && raw.socket.destroyed
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
  noteFault: NoteFault,
): FastifyReply {
  const failure = asApiError(error)
  if (failure.code >= 500) noteFault(request, error)
  // A failure is not what would be there.
  reply.removeHeader('content-location')
  return reply
    .code(failure.code)
    .headers(failure.headers)
    .header('content-type', 'application/json; charset=utf-8')
    .header('cache-control', 'no-store')
    .send(failureBody(failure.code, failure.message))
}
