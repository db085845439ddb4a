// The stages that every request passes before its endpoint: what the wire, the load, the key and
// its rate limit allow.

import type { HttpReply, HttpRequest } from './wire/exchange.ts'
import type { Authenticate, Authenticated } from '../auth/authenticate.ts'
import type { LimitRate, RateVerdict } from '../auth/rate-limit.ts'
import { after, type Awaitable } from '../store/awaitable.ts'
import { type KeyRecord, hasScope } from '../store/keys.ts'
import { apiPrefix, type Endpoint, needsKey, readMethods } from './endpoints/endpoint.ts'
import {
  forbidden,
  malformedUrl,
  notFound,
  overloaded,
  statusError,
  tooMany,
  unavailable,
} from './errors.ts'
import { fromStore } from './store-errors.ts'
import { createCors } from './wire/cors.ts'
import type { Load } from './wire/load.ts'
import { closeToRequests, excludeFromLoad } from './wire/server.ts'
import { findWireFault } from './wire/wire-fault.ts'

/** What the stages depend on, and their settings. */
export interface StageOptions {
  readonly authenticate: Authenticate
  readonly limitRate?: LimitRate
  /** Meters a request that its key and its rate limit have admitted. */
  readonly countUse?: ((keyId: number) => void) | undefined
  readonly load: Load
  /** Origins whose pages may read responses, or `*`; none by default. */
  readonly corsOrigins?: readonly string[]
}

export interface Stop {
  /** Aborted when the service is not ready any more. */
  readonly draining: AbortController
  /** Whether every further request is refused. */
  isStopping: boolean
}

/**
 * Creates the stages that every request passes before its endpoint, in this order, whether or not
 * its path is known. Each stage lets the request pass or throws the ApiError to answer it with.
 */
export function createStages(options: StageOptions, stop: Stop) {
  const cors = createCors(options.corsOrigins ?? [])
  const { load } = options

  // Nothing here waits if the key is in memory and has no rate limit, as for most requests.
  return (request: HttpRequest): Awaitable<HttpReply | undefined> => {
    const { endpoint, reply } = request
    reply.header('x-request-id', request.id).header('x-content-type-options', 'nosniff')
    cors?.mark(request)
    if (stop.draining.signal.aborted) reply.header('connection', 'close')
    if (stop.isStopping) throw unavailable()
    refuseUnsound(request)
    if (cors?.answerPreflight(request) === true) return reply
    refuseExcess(load, request, endpoint)
    // Under /api/ the key is checked before anything else. An endpoint that needs a key needs it
    // however its path was spelled (contract 2.3).
    if ((endpoint !== undefined && needsKey(endpoint)) || isUnderApi(request.url)) {
      return after(findKey(options, request), (found) => admit(options, found, request))
    }
    return pass(request)
  }
}

/**
 * Checks that the key of a request that has waited still admits it (contract 2.2).
 *
 * @throws ApiError 403 if it was revoked or has expired meanwhile; 503 without the store.
 */
export async function checkKeyAgain(options: StageOptions, request: HttpRequest): Promise<void> {
  request.key = requireKey(await findKey(options, request), request.endpoint)
}

function admit(
  options: StageOptions,
  found: Authenticated,
  request: HttpRequest,
): Awaitable<undefined> {
  const key = requireKey(found, request.endpoint)
  request.key = key
  return after(options.limitRate?.(key), (rate) => {
    if (rate !== undefined) applyRateLimit(rate, request)
    options.countUse?.(key.id)
    return pass(request)
  })
}

/** The last stages: check that the path and the method are known. */
function pass({ target, endpoint, method, url }: HttpRequest): undefined {
  if (target.isMalformed) throw malformedUrl()
  const isRead = readMethods.includes(method)
  // The router maps `*`, the service as a whole, to `/`; there is nothing to read.
  if (endpoint === undefined || (isRead && url.startsWith('*'))) throw notFound()
  if (!isRead) {
    throw statusError(405, { headers: { allow: readMethods.join(', ') } })
  }
}

function refuseUnsound({ raw }: HttpRequest): void {
  const fault = findWireFault(raw)
  if (fault === undefined) return
  closeToRequests(raw.socket)
  throw fault
}

function refuseExcess(load: Load, { raw }: HttpRequest, endpoint: Endpoint | undefined): void {
  const { isAsset = false, isAlwaysAnswered = false } = endpoint ?? {}
  if (isAsset) excludeFromLoad(raw.socket)
  const excess = load.excess()
  const isExempt = isAlwaysAnswered || (isAsset && excess === 'requests')
  if (excess === undefined || isExempt) return
  throw overloaded(excess)
}

/** Looks up the key. @throws ApiError 503 without the store. */
function findKey({ authenticate }: StageOptions, request: HttpRequest): Awaitable<Authenticated> {
  return fromStore(() => authenticate(request.headers.authorization, request))
}

/** The key that admits the request; every refusal looks the same (contract 2.2). */
function requireKey(key: Authenticated, endpoint: Endpoint | undefined): KeyRecord {
  if (key === undefined) throw forbidden()
  if ('waitSeconds' in key) throw tooMany(key.waitSeconds)
  const scope = endpoint?.scope
  if (scope !== undefined && !hasScope(key.scopes, scope)) throw forbidden()
  return key
}

/** Reports what is left of the rate limit of a key, and refuses any excess. */
function applyRateLimit(rate: RateVerdict, request: HttpRequest): void {
  const { isWithin, policy, remaining, resetSeconds } = rate
  request.reply
    .header('ratelimit-policy', policy)
    .header('ratelimit', `"default";r=${remaining};t=${resetSeconds}`)
  if (!isWithin) throw tooMany(resetSeconds)
  request.rate = rate
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
