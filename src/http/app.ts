// The application, without its listener: the stages that every request passes, and the endpoints
// behind them.

import { once } from 'node:events'
import type { RequestListener, Server } from 'node:http'
import type { ListenOptions, Socket } from 'node:net'
import type { Logger } from 'pino'
import type { Resource } from '../resources/resource.ts'
import { after } from '../store/awaitable.ts'
import type { Service } from './endpoints/endpoint.ts'
import { endpointsOf } from './endpoints/table.ts'
import { ApiError, asApiError, failureBody } from './errors.ts'
import type { Metrics } from './metrics.ts'
import { createAnswerCache } from './answers/answer-cache.ts'
import { createChangeWatch } from './change-watch.ts'
import { bodyBytes, createRequestLog, type RequestLog } from './request-log.ts'
import { createRouter } from './router.ts'
import { answerBrokenRequest, answerUnhandled, createBrokenLog } from './wire/broken-requests.ts'
import { createClient } from './wire/client.ts'
import { HttpReply, HttpRequest, requestIdOf } from './wire/exchange.ts'
import { checkKeyAgain, createStages, type StageOptions, type Stop } from './stages.ts'
import { createReadInTurn, createWorkInTurn, type ScanLimits, scanLimits } from './scan-turns.ts'
import { type AssetLimits, assetLimits, createSendAsset } from './static-assets.ts'
import { createBeginStream } from './wire/streaming.ts'
import type { Load } from './wire/load.ts'
import { createWireServer, urlOf, type WireLimits, wireLimits } from './wire/server.ts'

/** The parts of an application, and its settings. */
export interface AppOptions
  extends
    StageOptions,
    Pick<Service, 'store'>,
    Partial<Pick<Service, 'readUses' | 'exportsFolder'>> {
  readonly resources: readonly Resource[]
  /** Addresses and networks of proxies whose X-Forwarded-For is trusted; none by default. */
  readonly trustedProxies?: readonly string[]
  readonly cacheBytesMax: number
  readonly logger: Logger
  /** Undefined if metrics are off. */
  readonly metrics?: Metrics | undefined
  readonly isExplorerOn?: boolean
  readonly limits: Pick<WireLimits, 'connectionsMax'> &
    Partial<WireLimits & AssetLimits & ScanLimits>
}

export interface App {
  readonly server: Server
  /** Answers a request, from the server or from a test. */
  readonly handle: RequestListener
  /** @returns its URL. @throws Error of Node if it cannot listen there. */
  listen(options: ListenOptions): Promise<string>
  /** Stops listening, and waits until every connection has closed. */
  close(): Promise<void>
  /** Makes the service not ready; every connection closes with its next response. */
  startDraining(): void
  /** Refuses every further request with 503, and closes its connection. */
  stopAnswering(): void
}

/** Builds the application; the caller listens. */
export function buildApp(options: AppOptions): App {
  const { logger, load, metrics } = options
  const noteOmitted = metrics && (() => metrics.countOmitted())
  const log = createRequestLog(logger, noteOmitted)
  const stop: Stop = { isStopping: false, draining: new AbortController() }
  const handle = createHandle(options, stop, log)
  const server = createWireServer(handle, { ...wireLimits, ...options.limits }, load)
  const logBroken = createBrokenLog(logger, noteOmitted)
  answerUnhandled(server, logBroken)
  server.on('clientError', (error, socket: Socket) => {
    metrics?.countBroken()
    answerBrokenRequest(error, socket, logBroken)
  })
  return {
    server,
    handle,
    async listen(where) {
      server.listen(where)
      await once(server, 'listening')
      return urlOf(server)
    },
    async close() {
      // Node calls back even if the server does not listen, or no longer does.
      await new Promise((resolve) => server.close(resolve))
      load.close()
      log.close()
    },
    startDraining: () => stop.draining.abort(),
    stopAnswering() {
      stop.draining.abort()
      stop.isStopping = true
    },
  }
}

/** What answers each request: its endpoint, once it has passed the stages. */
function createHandle(options: AppOptions, stop: Stop, log: RequestLog): RequestListener {
  const { metrics, resources, isExplorerOn = true, trustedProxies = [] } = options
  const noteFault = createNoteFault(log, options.load, stop)
  const find = createRouter(endpointsOf(resources, { isExplorerOn }))
  const service = createService(options, stop, noteFault)
  const passStages = createStages(options, stop)
  const client = createClient(trustedProxies)

  return (raw, response) => {
    const target = find(raw.url ?? '')
    const request = new HttpRequest(raw, new HttpReply(response), requestIdOf(raw), target, client)
    // If the client leaves, the response never finishes, but it closes.
    response.once('close', () => noteAnswer(log, metrics, request))
    const fail = (error: unknown) => sendFailure(request, error, noteFault)
    try {
      // A stage that has answered the request returns its reply.
      const sent = after(
        passStages(request),
        (answered) => answered ?? target.endpoint?.answer(request, service),
      )
      // Most requests wait for nothing; a promise would cost as much as reading a short page.
      if (sent instanceof Promise) sent.catch(fail)
    } catch (error) {
      fail(error)
    }
  }
}

function createService(options: AppOptions, stop: Stop, noteFault: NoteFault): Service {
  const { store, metrics, resources } = options
  const checkAgain = (request: HttpRequest) => checkKeyAgain(options, request)
  const { standstillMs } = { ...wireLimits, ...options.limits }
  const scans = { ...scanLimits, ...options.limits }
  return {
    store,
    resources,
    readUses: options.readUses,
    exportsFolder: options.exportsFolder,
    metrics,
    answers: createAnswerCache(options.cacheBytesMax),
    sendAsset: createSendAsset({ ...assetLimits, ...options.limits }),
    beginStream: createBeginStream({ noteFault, checkKeyAgain: checkAgain, standstillMs }),
    readInTurn: createReadInTurn(scans),
    searchInTurn: createWorkInTurn(scans, scans.scansMax),
    companiesInTurn: createWorkInTurn(scans, scans.shortMax),
    changesInTurn: createWorkInTurn(scans, scans.scansMax),
    isDraining: () => stop.draining.signal.aborted,
    watch: createChangeWatch(store, stop.draining.signal, metrics?.countWaiting),
    checkKeyAgain: checkAgain,
  }
}

/** Logs why a request could not be answered. */
type NoteFault = (request: HttpRequest, error: unknown) => void

/** A refusal for load is counted, and is no fault. */
function createNoteFault(log: RequestLog, load: Load, stop: Stop): NoteFault {
  return (request, error) => {
    // The store closes under a request that a stop has cut off.
    if (stop.isStopping && request.raw.socket.destroyed) return
    if (!(error instanceof ApiError)) log.fault(request, error, false)
    else if (error.excess !== undefined) load.warn(error.excess)
    // A deliberate refusal has no cause; its line in the request log says enough.
    else if (error.cause !== undefined) log.fault(request, error.cause, true)
  }
}

/** The status that is logged if a client has left before its answer began, as in nginx. */
const clientLeft = 499

/** Logs and counts a response that has been sent, or whose client has left. */
function noteAnswer(log: RequestLog, metrics: Metrics | undefined, request: HttpRequest): void {
  const { raw, statusCode, elapsedTime: ms } = request.reply
  const { headersSent: hasBegun, writableFinished: isWhole } = raw
  const answer = {
    status: hasBegun ? statusCode : clientLeft,
    ms,
    bytes: hasBegun ? bodyBytes(request) : 0,
    isAborted: hasBegun && !isWhole,
  }
  log.answered(request, answer)
  metrics?.countRequest(request.endpoint?.scope, answer)
}

/** Sends any error in the form of the contract (section 4). */
function sendFailure(request: HttpRequest, error: unknown, noteFault: NoteFault): void {
  const { reply } = request
  const failure = asApiError(error)
  if (failure.code >= 500) noteFault(request, error)
  // A response that has begun cannot become a failure; the client must not take it for complete.
  if (reply.raw.headersSent) {
    reply.raw.destroy()
    return
  }
  reply
    .code(failure.code)
    .headers(failure.headers)
    .header('content-type', 'application/json; charset=utf-8')
    .header('cache-control', 'no-store')
    .send(failureBody(failure.code, failure.message))
}
