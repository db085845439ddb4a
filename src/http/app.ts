// The application, without its listener: the stages that every request passes, and the endpoints
// behind them.

import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import type { ListenOptions, Socket } from 'node:net'
import type { Logger } from 'pino'
import { after } from '../store/awaitable.ts'
import { endpointsOf } from './endpoints/table.ts'
import { ApiError, asApiError, failureBody } from './errors.ts'
import type { Metrics } from './metrics.ts'
import { bodyBytes, createRequestLog, type RequestLog } from './request-log.ts'
import { createRouter } from './router.ts'
import { answerBrokenRequest, answerUnhandled, createBrokenLog } from './wire/broken-requests.ts'
import { createClient } from './wire/client.ts'
import { HttpReply, HttpRequest, requestIdOf } from './wire/exchange.ts'
import { checkKeyAgain, createStages, type StageOptions, type Stop } from './stages.ts'
import { createService, type ServiceOptions } from './service.ts'
import type { Load } from './wire/load.ts'
import { createWireServer, urlOf, wireLimits } from './wire/server.ts'

/** The parts of an application, and its settings. */
export interface AppOptions extends StageOptions, ServiceOptions {
  /** Addresses and networks of proxies whose X-Forwarded-For is trusted; none by default. */
  readonly trustedProxies?: readonly string[]
  readonly logger: Logger
  readonly isExplorerOn?: boolean
}

export type App = ReturnType<typeof buildApp>

/** Builds the application; the caller listens. */
export function buildApp(options: AppOptions) {
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
    /** Answers a request, from the server or from a test. */
    handle,
    /** @returns its URL. @throws Error of Node if it cannot listen there. */
    async listen(where: ListenOptions): Promise<string> {
      server.listen(where)
      await once(server, 'listening')
      return urlOf(server)
    },
    /** Stops listening, and waits until every connection has closed. */
    async close(): Promise<void> {
      // Node calls back even if the server does not listen, or no longer does.
      await new Promise((resolve) => server.close(resolve))
      load.close()
      log.close()
    },
    /** Makes the service not ready; every connection closes with its next response. */
    startDraining: () => stop.draining.abort(),
    /** Refuses every further request with 503, and closes its connection. */
    stopAnswering(): void {
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
  const checkAgain = (request: HttpRequest) => checkKeyAgain(options, request)
  const hooks = { noteFault, checkKeyAgain: checkAgain }
  const service = createService(options, stop.draining.signal, hooks)
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
