// The application, built apart from listening: what every answer has in common, and the routes.

import { randomUUID } from 'node:crypto'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import type { Resource } from '../resources/resource.ts'
import type { Awaitable, KeyRecord, StoreReader } from '../store/store.ts'
import { type AdmissionOptions, authorize, pathOf } from './admission.ts'
import { type Cors, createCors } from './cors.ts'
import { addDocs } from './docs.ts'
import {
  ApiError,
  badRequest,
  failureBody,
  methodNotAllowed,
  notFound,
  statusError,
  unavailable,
} from './errors.ts'
import { addHealth, isHealthPath } from './health.ts'
import { addListingRoute } from './listing-route.ts'
import { createLoad, type Load, type LoadLimits, loadLimits } from './load.ts'
import type { Metrics } from './metrics.ts'
import { createOpenApi } from './openapi.ts'
import { createPageCache } from './page-cache.ts'
import { answerBrokenRequest, answerUnhandled, createBrokenLog } from './raw-errors.ts'
import { bodyBytes, createRequestLog, type RequestLog } from './request-log.ts'
import { findWireFault } from './wire-faults.ts'
import { closeToRequests, createWireServer, type WireLimits, wireLimits } from './wire-server.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The resource whose listing the route answers. */
    resource?: Resource
  }
  interface FastifyRequest {
    /** The key that the request came with, once it has been found good. */
    key: KeyRecord | undefined
  }
  interface FastifyInstance {
    /** From now on the service is not ready, and every connection closes with its next answer. */
    startDraining: () => void
    /** From now on every request is told to go elsewhere, and its connection to close. */
    stopAnswering: () => void
  }
}

/** What the application is made of. */
export interface AppOptions extends AdmissionOptions {
  readonly store: StoreReader
  readonly resources: readonly Resource[]
  /** Addresses and networks of proxies whose X-Forwarded-For is believed; none unless given. */
  readonly trustedProxies?: readonly string[]
  readonly cacheBytesMax: number
  readonly logger: Logger
  /** Counts what happens; undefined where nobody wants to know. */
  readonly metrics?: Metrics | undefined
  readonly version: string
  /** Origins whose pages may read answers, or `*`; none unless given. */
  readonly corsOrigins?: readonly string[]
  /** Other limits of a connection, and of all together, than the usual ones. */
  readonly limits?: Partial<WireLimits & LoadLimits>
}

const requestIdPattern = /^[A-Za-z0-9._-]{1,64}$/

/** Builds the application; `listen` or `inject` is the caller's. */
export function buildApp(options: AppOptions): FastifyInstance {
  const { store, resources, logger, metrics } = options
  const limits = { ...loadLimits, ...wireLimits, ...options.limits }
  const load = createLoad(limits, logger)
  const notePassedOver = metrics && (() => metrics.countPassedOver())
  const tellBroken = createBrokenLog(logger, notePassedOver)
  const log = createRequestLog(logger, notePassedOver)
  const app = Fastify({
    logger: false,
    genReqId: ({ headers }) => requestId(headers['x-request-id']),
    // Longer company ids than any are answered by our own check, with its message.
    routerOptions: { maxParamLength: 16_384 },
    ...(options.trustedProxies && { trustProxy: [...options.trustedProxies] }),
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    serverFactory: (handler) => {
      const server = createWireServer(handler, limits, load)
      answerUnhandled(server, tellBroken)
      return server
    },
    frameworkErrors: (error, request, reply) => {
      // A URL that the router cannot read: none of the hooks runs for it.
      reply.raw.once('finish', () => noteAnswer(log, metrics, request, reply))
      const answer = (refusal: unknown) => {
        if (refusal !== 'answered') sendFailure(request, reply, refusal ?? error, log)
      }
      Promise.resolve(receive(request, reply)).then(answer, answer)
    },
    clientErrorHandler: (error, socket) => {
      metrics?.countBroken()
      answerBrokenRequest(error, socket, tellBroken)
    },
  })
  const stop = addStop(app)
  const findPath = gatherPaths(app)
  const receive = createReceive(options, stop, load, findPath)
  addCommonBehaviour(app, options, { log, receive, findPath })
  app.addHook('onClose', () => {
    load.close()
    log.close()
  })
  const cache = createPageCache(options.cacheBytesMax)
  for (const resource of resources) addListingRoute(app, resource, { store, cache, metrics })
  addHealth(app, store, stop)
  addDocs(app, createOpenApi(resources, options.version))
  return app
}

/** The client's own id where it is harmless (contract section 5). */
function requestId(given: string | string[] | undefined): string {
  return typeof given === 'string' && requestIdPattern.test(given) ? given : randomUUID()
}

/** The failure of a request that goes no further; undefined for one that goes on. */
type Refusal = ApiError | 'answered' | undefined
/** Gives what every answer has, and refuses what goes no further. */
type Receive = (request: FastifyRequest, reply: FastifyReply) => Awaitable<Refusal>

/** How far a stop has come. */
interface Stop {
  isDraining: boolean
  isStopping: boolean
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

/** Makes what every request meets first, whether the router knows its path or not. */
function createReceive(options: AppOptions, stop: Stop, load: Load, findPath: FindPath): Receive {
  const cors: Cors | undefined = options.corsOrigins && createCors(options.corsOrigins)
  return (request, reply) => {
    void reply.header('x-request-id', request.id).header('x-content-type-options', 'nosniff')
    if (stop.isDraining) void reply.header('connection', 'close')
    if (stop.isStopping) return unavailable()
    const fault = findWireFault(request.raw)
    if (fault !== undefined) {
      closeToRequests(request.raw.socket)
      return fault
    }
    if (cors !== undefined) {
      cors.mark(request, reply)
      if (cors.answerPreflight(request, reply)) return 'answered'
    }
    const excess = load.excess()
    if (excess !== undefined && !isHealthPath(request.url)) {
      load.warn(excess)
      return unavailable()
    }
    // With another method than its own, the router knows nothing of a path.
    const { resource } = request.is404 ? (findPath(request.url) ?? {}) : request.routeOptions.config
    return authorize(options, request, reply, resource)
  }
}

function addCommonBehaviour(
  app: FastifyInstance,
  { metrics }: AppOptions,
  {
    log,
    receive,
    findPath,
  }: { readonly log: RequestLog; readonly receive: Receive; readonly findPath: FindPath },
): void {
  app.decorateRequest('key', undefined)

  function missing(request: FastifyRequest): ApiError | undefined {
    if (!request.is404) return undefined
    return findPath(request.url) === undefined ? notFound() : methodNotAllowed()
  }

  // Bodies are read where they mean something (request-body.ts), and nowhere else.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))

  app.addHook('onRequest', (request, reply, done) => {
    const refusal = receive(request, reply)
    const goOn = (found: Refusal) => {
      if (found !== 'answered') done(found ?? missing(request))
    }
    // Most stores know at once; then the request need not wait for another turn.
    if (refusal instanceof Promise) refusal.then(goOn, done)
    else goOn(refusal)
  })
  app.addHook('onResponse', (request, reply, done) => {
    noteAnswer(log, metrics, request, reply)
    done()
  })
  app.setErrorHandler((error, request, reply) => {
    sendFailure(request, reply, error, log)
  })
  // All has been said before the framework's own handler, which would want to parse a body first.
  app.setNotFoundHandler(() => {
    throw notFound()
  })
}

/** Logs and counts an answer that has been sent. */
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
  metrics?.countRequest(request.routeOptions.config.resource?.name, answer)
}

/** Finds what is served at a path, whatever the method. */
type FindPath = (url: string) => { readonly resource?: Resource } | undefined

/** Gathers the paths of all routes that are added from now on. */
function gatherPaths(app: FastifyInstance): FindPath {
  const routes: { readonly pattern: RegExp; readonly config: { readonly resource?: Resource } }[] =
    []
  app.addHook('onRoute', ({ url, config = {} }) => {
    const pattern = new RegExp(`^${url.replaceAll('.', '\\.').replace(/:\w+/g, '[^/]+')}$`)
    routes.push({ pattern, config })
  })
  return (url) => {
    const path = pathOf(url)
    return routes.find(({ pattern }) => pattern.test(path))?.config
  }
}

/** Sends any error in the one form that the contract has (section 4). */
function sendFailure(
  request: FastifyRequest,
  reply: FastifyReply,
  error: unknown,
  log: RequestLog,
): void {
  const failure = asApiError(error)
  // What we refuse on purpose has no cause, and its line in the log says enough.
  const cause = failure === error ? failure.cause : error
  if (failure.code >= 500 && cause !== undefined) log.fault(request, cause)
  void reply
    .code(failure.code)
    .headers(failure.headers)
    .header('content-type', 'application/json; charset=utf-8')
    .header('cache-control', 'no-store')
    .send(failureBody(failure.code, failure.message))
}

function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500
  if (status < 400 || status >= 500)
    return new ApiError(500, 'Internal Server Error', { cause: error })
  // The framework's own refusals: a URL that cannot be decoded is the only one with words to add.
  return status === 400
    ? badRequest('The URL is not valid; percent-encode it as UTF-8')
    : statusError(status)
}
