// Error responses (contract section 4): one form of body, one catalogue of causes.

import { rateSecondsMax } from '../config/rate.ts'
import { withoutKeys } from '../text/redact.ts'
import { pageBytesMax } from '../store/page-size.ts'
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
  /** Of what there is too much, in a word; undefined for other errors than refusals for load. */
  readonly excess: string | undefined

  constructor(code: number, message: string, { headers = {}, cause, excess }: ErrorDetails = {}) {
    super(message, { cause })
    this.code = code
    this.headers = headers
    this.excess = excess
  }
}

/** The description of a failure in the OpenAPI document and in the guides. */
export interface FailureDescription {
  readonly when: string
  /** An example message, if messages are not the status's own phrase. */
  readonly example?: string
  /** Headers in addition to those of every failure. */
  readonly headers?: readonly string[]
  /** It is sent before the key is known, so without the headers of the key's rate limit. */
  readonly isBeforeTheKey?: true
}

/** Every failure of a request, by status (contract section 4). */
export const failures = {
  400: {
    when:
      'A parameter, `company_id` or the body is invalid, or the page would be larger than ' +
      `${pageBytesMax >> 20} MiB; then the message names a \`limit\` that fits.`,
    example: 'limit is "0"; it takes an integer from 1 to 1000',
  },
  403: {
    when: 'The key is missing, malformed, unknown, expired, revoked or not valid for this listing.',
    isBeforeTheKey: true,
  },
  404: {
    when: 'The company, or the version, is not in the registry.',
    example: 'Company GB:9876543 is not in the registry; did you mean GB:09876543?',
    // Where a version is later than the last one.
    headers: ['Retry-After'],
  },
  405: { when: 'The method is neither GET nor HEAD.', headers: ['Allow'] },
  408: { when: 'The request did not arrive in time.', isBeforeTheKey: true },
  410: {
    when:
      'The version was pruned, and the message names the earliest one; or a cursor is of another ' +
      'history, or a copy was withdrawn.',
    example: 'Version 3 was pruned; the earliest one is 12',
    headers: ['Link'],
  },
  413: { when: `The body is larger than ${bodyBytesMax / 1_024} KiB.` },
  415: { when: 'The body is not `application/json`.' },
  416: {
    when: 'The range of bytes is beyond the end of the file.',
    headers: ['Content-Range'],
  },
  417: { when: 'The `Expect` header is not `100-continue`.', isBeforeTheKey: true },
  429: {
    when: 'The key is over its rate limit, or the client has tried too many invalid keys.',
    headers: ['Retry-After'],
  },
  431: {
    when: `The headers are larger than 16 KiB, or more than ${headersMax}.`,
    isBeforeTheKey: true,
  },
  500: { when: 'A bug in the service. Give its operator the `X-Request-Id`.' },
  503: {
    when: 'The store is unavailable, or the service is overloaded or stopping.',
    headers: ['Retry-After'],
  },
  505: { when: 'The HTTP version is neither 1.0 nor 1.1.', isBeforeTheKey: true },
} as const satisfies Readonly<Record<number, FailureDescription>>

export type FailureStatus = keyof typeof failures

/** The status of what only files have: ranges. */
export const rangeStatus = 416

/** The statuses of all other failures, in ascending order. */
export const failureStatuses = Object.keys(failures)
  .map(Number)
  .filter((status) => status !== rangeStatus) as readonly FailureStatus[]

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
  return new ApiError(400, `${what} is ${show(got)}; ${allowed}`)
}

/** A 400 for any other reason. */
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
 * A refusal for load, which is no fault: the client may come again.
 *
 * @param excess says of what there is too much, in one of a few words, for the log.
 */
export function overloaded(excess: string): ApiError {
  return statusError(503, { ...retryAfter(5), excess })
}

/** Tells a client when to ask again (RFC 9110 section 10.2.3). */
export function retryAfter(seconds: number): ErrorDetails {
  return { headers: { 'retry-after': String(seconds) } }
}

function show(value: unknown): string {
  return cutValue(JSON.stringify(value))
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
