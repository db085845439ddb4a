// Every answer that is not a success (contract section 4): one body, one list of causes.

import { STATUS_CODES } from 'node:http'
import { withoutKeys } from '../redact.ts'

/** The most of a client's value that an error message repeats, in characters. */
const shownLengthMax = 60

/** An answer that is not a success; `code` is the HTTP status. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly code: number
  readonly headers: Readonly<Record<string, string>>

  constructor(
    code: number,
    message: string,
    { headers = {}, cause }: { headers?: Readonly<Record<string, string>>; cause?: unknown } = {},
  ) {
    super(message, { cause })
    this.code = code
    this.headers = headers
  }
}

/**
 * The body of a failure: contract section 4. Where a message repeats what the client gave, and
 * that was a key in the wrong place, the key is left out: answers are logged and shown by clients.
 */
export function failureBody(code: number, message: string): string {
  return JSON.stringify({ ok: false, error: { code, message: withoutKeys(message) } })
}

/** An error whose message is the status's own phrase (RFC 9110 section 15). */
export function statusError(
  code: number,
  headers: Readonly<Record<string, string>> = {},
): ApiError {
  return new ApiError(code, STATUS_CODES[code] ?? 'Error', { headers })
}

/** A parameter, the path or the body is not valid: which, what it got, what is allowed. */
export function invalid(what: string, got: unknown, allowed: string): ApiError {
  return new ApiError(400, `${what} is ${show(got)}; ${allowed}`)
}

/** A request that is not valid for another reason. */
export function badRequest(
  message: string,
  headers: Readonly<Record<string, string>> = {},
): ApiError {
  return new ApiError(400, message, { headers })
}

/** The refusal of contract 2.2: the same bytes whatever the reason. */
export function forbidden(): ApiError {
  return statusError(403)
}

export function notFound(): ApiError {
  return statusError(404)
}

export function unknownCompany(companyId: number): ApiError {
  return new ApiError(404, `Company ${companyId} is not in the registry`)
}

export function methodNotAllowed(): ApiError {
  return statusError(405, { allow: 'GET, HEAD' })
}

/** The client has to wait for so many seconds. */
export function tooMany(seconds: number): ApiError {
  return statusError(429, { 'retry-after': String(seconds) })
}

/** The store cannot be reached, or the service is stopping; `cause` is for the log alone. */
export function unavailable(cause?: unknown): ApiError {
  return new ApiError(503, STATUS_CODES[503] ?? '', { headers: { 'retry-after': '5' }, cause })
}

/** A client's value, cut short. */
function show(value: unknown): string {
  // Before it is cut: a piece of a key may be too short to be seen for one.
  const text = withoutKeys(JSON.stringify(value))
  return text.length > shownLengthMax ? `${text.slice(0, shownLengthMax)}…` : text
}
