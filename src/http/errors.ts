// Error responses (contract section 4), in one form; `scripts/openapi/failures.ts` describes them.

import { rateSecondsMax } from '../config/rate.ts'
import { withoutKeys } from '../text/redact.ts'
import { STATUS_CODES } from './wire/node-http.ts'

/** The largest body of a request, in bytes (contract 1.6). */
export const bodyBytesMax = 16_384
/** The maximum number of header fields of a request. */
export const headersMax = 100
/** How much of a client's value an error message repeats, in characters. */
const shownLengthMax = 60

interface ErrorDetails {
  readonly headers?: Readonly<Record<string, string>>
  readonly cause?: unknown
  readonly excess?: string
}

/** An error response; `code` is the HTTP status. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly code: number
  readonly headers: Readonly<Record<string, string>>
  /** What exceeds its limit, in a word; undefined unless this is a refusal because of load. */
  readonly excess: string | undefined

  constructor(code: number, message: string, { headers = {}, cause, excess }: ErrorDetails = {}) {
    super(message, { cause })
    this.code = code
    this.headers = headers
    this.excess = excess
  }
}

/**
 * The body of a failure (contract section 4). A message may repeat a client's value, and that may
 * be a key in the wrong place; the key is removed, since clients log and show responses.
 */
export function failureBody(code: number, message: string): string {
  return JSON.stringify({ ok: false, error: { code, message: withoutKeys(message) } })
}

/** An error whose message is the status's own phrase (RFC 9110 section 15). */
export function statusError(code: number, details?: ErrorDetails): ApiError {
  return new ApiError(code, STATUS_CODES[code] ?? 'Error', details)
}

/** A 400 that names what is invalid (`what`), the value it has, and what is allowed. */
export function invalid(what: string, got: unknown, allowed: string): ApiError {
  return new ApiError(400, `${what} is ${cutValue(JSON.stringify(got))}; ${allowed}`)
}

export function badRequest(message: string, details?: ErrorDetails): ApiError {
  return new ApiError(400, message, details)
}

/** The refusal of contract 2.2: the same bytes whatever the reason. */
export function forbidden(): ApiError {
  return statusError(403)
}

export function notFound(): ApiError {
  return statusError(404)
}

/** The client has to wait this many seconds, but never longer than the longest window. */
export function tooMany(seconds: number): ApiError {
  return statusError(429, retryAfter(Math.min(seconds, rateSecondsMax)))
}

/**
 * The store is unavailable, or the service is overloaded or stopping; `cause` goes only to the log.
 */
export function unavailable(cause?: unknown): ApiError {
  return statusError(503, { ...retryAfter(5), cause })
}

/**
 * A refusal because of load, which is not a fault: the client may try again.
 *
 * @param excess names what exceeds its limit, in one of a few words, for the log.
 */
export function overloaded(excess: string): ApiError {
  return statusError(503, { ...retryAfter(5), excess })
}

/** Tells a client when to ask again (RFC 9110 section 10.2.3). */
export function retryAfter(seconds: number): ErrorDetails {
  return { headers: { 'retry-after': String(seconds) } }
}

/** A client's value in a message, cut short, without keys. */
export function cutValue(value: string): string {
  // Keys are removed before the cut: a part of one would not be recognised.
  const text = withoutKeys(value)
  return text.length > shownLengthMax ? `${text.slice(0, shownLengthMax).toWellFormed()}…` : text
}

/** Turns any error into a response: an unexpected one becomes a 500 with the error as its cause. */
export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  return new ApiError(500, 'Internal Server Error', { cause: error })
}

/** A 400: a part of the URL is not UTF-8, or not percent-encoded. */
export function malformedUrl(): ApiError {
  return badRequest('The URL is not valid; percent-encode it as UTF-8')
}
