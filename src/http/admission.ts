// Who may ask, and how often: what stands before everything else under /api/ (contract section 2).

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Resource } from '../resources/resource.ts'
import type { Awaitable } from '../store/awaitable.ts'
import type { KeyRecord } from '../store/keys.ts'
import { type ApiError, forbidden, tooMany, unavailable } from './errors.ts'

const apiPrefix = '/api/'

/** What is known of whoever asks. */
type Found = KeyRecord | { readonly waitSeconds: number } | undefined

/** What is said of a request of a key with a limit. */
interface RateVerdict {
  readonly isWithin: boolean
  readonly policy: string
  readonly remaining: number
  readonly resetSeconds: number
}

/** What admission asks of the layers beside it. */
export interface AdmissionOptions {
  /** Gives the key of a request, or how long its client has to wait; undefined for no key. */
  readonly authenticate: (
    authorization: string | undefined,
    client: { readonly ip: string | undefined },
  ) => Awaitable<Found>
  /** Counts a request of a key; gives what is said of its limit, if it has one. */
  readonly limitRate?: (key: KeyRecord) => Awaitable<RateVerdict | undefined>
  /** Counts a request of a key that is let in. */
  readonly countUse?: ((keyId: number) => void) | undefined
}

/**
 * Contract section 2: why the request is refused, before everything else under /api/.
 *
 * @param resource is the one whose listing the path names, whatever the method.
 */
export function authorize(
  options: AdmissionOptions,
  request: FastifyRequest,
  reply: FastifyReply,
  resource: Resource | undefined,
): Awaitable<ApiError | undefined> {
  // A route that serves a listing needs a key by whatever spelling of its path it was found.
  if (resource === undefined && !isUnderApi(request.url)) return undefined
  const goOn = (found: Found) => admit(request, found, resource) ?? use(options, request.key, reply)
  try {
    const found = options.authenticate(request.headers.authorization, request)
    return found instanceof Promise ? found.then(goOn).catch(unavailable) : goOn(found)
  } catch (error) {
    return unavailable(error)
  }
}

/** Notes whose request it is; gives the refusal where the key is none, or not for the listing. */
function admit(
  request: FastifyRequest,
  key: Found,
  resource: Resource | undefined,
): ApiError | undefined {
  if (key === undefined) return forbidden()
  if ('waitSeconds' in key) return tooMany(key.waitSeconds)
  if (resource && key.scopes && !key.scopes.includes(resource.name)) return forbidden()
  request.key = key
  return undefined
}

/** Holds the request to the limit of its key, and counts it as a use where it is let in. */
function use(
  { limitRate, countUse }: AdmissionOptions,
  key: KeyRecord | undefined,
  reply: FastifyReply,
): Awaitable<ApiError | undefined> {
  const refusal = limit(limitRate, key, reply)
  const note = (found: ApiError | undefined) => {
    if (found === undefined && key !== undefined) countUse?.(key.id)
    return found
  }
  return refusal instanceof Promise ? refusal.then(note) : note(refusal)
}

/** Counts the request where its key has a limit, says what is left of that, and holds to it. */
function limit(
  limitRate: AdmissionOptions['limitRate'],
  key: KeyRecord | undefined,
  reply: FastifyReply,
): Awaitable<ApiError | undefined> {
  const verdict = key && limitRate?.(key)
  if (verdict === undefined) return undefined
  return verdict instanceof Promise
    ? verdict.then((found) => found && holdTo(found, reply))
    : holdTo(verdict, reply)
}

function holdTo(verdict: RateVerdict, reply: FastifyReply): ApiError | undefined {
  const { isWithin, policy, remaining, resetSeconds } = verdict
  void reply
    .header('ratelimit-policy', policy)
    .header('ratelimit', `"default";r=${remaining};t=${resetSeconds}`)
  return isWithin ? undefined : tooMany(resetSeconds)
}

/** The path of a target as the router sees it: without host and query, and percent-decoded. */
export function pathOf(url: string): string {
  const decode = (code: string) => String.fromCharCode(parseInt(code.slice(1), 16))
  const path = url.replace(/^https?:\/\/[^/]*/i, '').split('?', 1)[0] ?? ''
  return path.replace(/%[0-9a-f]{2}/gi, decode)
}

function isUnderApi(url: string): boolean {
  return pathOf(url).startsWith(apiPrefix)
}
