// The members of a request: its query parameters, and those of a JSON object in its body.

import type { IncomingMessage } from 'node:http'
import type { HttpRequest } from '../wire/exchange.ts'
import { advise } from '../../text/nearest.ts'
import { withoutKeys } from '../../text/redact.ts'
import { type ApiError, badRequest, cutValue, malformedUrl } from '../errors.ts'
import { after, type Awaitable } from '../../store/awaitable.ts'
import { readBody } from '../wire/body.ts'

/** Values by name; a repeated query parameter has a list of texts. */
export type Members = Readonly<Record<string, unknown>>

/** What a request gives, in its query and in its body. */
export interface Given {
  readonly query: Members
  /** Undefined if the request has no body. */
  readonly body: Members | undefined
}

/**
 * Reads the query and the body of a request.
 *
 * @throws ApiError 400 for a query that is not UTF-8, else as `readBody` does.
 */
export function readMembers(request: HttpRequest): Awaitable<Given> {
  checkQuery(request.url)
  const body = hasBody(request.raw) ? readBody(request.raw, request.reply.raw) : undefined
  return after(body, (members) => ({ query: request.target.query, body: members }))
}

/** The parser of queries passes on what it cannot decode, which would be another request. */
function checkQuery(url: string): void {
  const start = url.indexOf('?')
  if (start < 0 || !url.includes('%', start)) return
  try {
    decodeURIComponent(url.slice(start))
  } catch {
    throw malformedUrl()
  }
}

/**
 * The value of a parameter in query or body; undefined if it is in neither.
 *
 * @param parse makes it of what the client wrote, or throws an ApiError 400.
 * @param takes says what is allowed, for a parameter that is repeated.
 * @throws ApiError 400 if it is repeated, or has another value in the body than in the query.
 */
export function readValue<T extends string | number>(
  name: string,
  { query, body }: Given,
  parse: (written: unknown) => T,
  takes: () => string = () => 'give one',
): T | undefined {
  const inQuery = query[name]
  const inBody = body?.[name]
  if (Array.isArray(inQuery)) throw badRequest(`${name} is given more than once; ${takes()}`)
  const fromQuery = inQuery === undefined ? undefined : parse(inQuery)
  const fromBody = inBody === undefined ? undefined : parse(inBody)
  if (fromQuery !== undefined && fromBody !== undefined && fromQuery !== fromBody) {
    const [one, other] = [fromQuery, fromBody].map((value) => cutValue(String(value)))
    throw badRequest(`${name} is ${one} in the query and ${other} in the body; give one`)
  }
  return fromQuery ?? fromBody
}

/** Whether a request has a body (RFC 9112 section 6.3). */
function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length']
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0')
}

/** Checks that every member is known (contract 1.4). @throws ApiError as `checkName`. */
export function checkNames({ query, body }: Given, known: readonly string[]): void {
  for (const name in query) checkName(name, 'query parameter', known)
  if (body !== undefined)
    for (const name of Object.keys(body)) checkName(name, 'body member', known)
}

/** @throws ApiError as `unknownName` for a name that is not known. */
export function checkName(name: string, kind: string, known: readonly string[]): void {
  if (!known.includes(name)) throw unknownName(name, kind, known)
}

/**
 * A 400 for an unknown name, which gives the nearest known one, or all of them (contract 1.4).
 *
 * @param kind `query parameter` or `body member`.
 * @param shown the known names to list, if there are too many.
 */
export function unknownName(
  name: string,
  kind: string,
  known: readonly string[],
  shown = known,
): ApiError {
  return noSuchName(name, kind, advise(name, known, listed(shown, kind)))
}

export function noSuchName(name: string, kind: string, advice: string): ApiError {
  const text = JSON.stringify(withoutKeys(name).slice(0, 60).toWellFormed())
  return badRequest(`${text} is not a known ${kind}; ${advice}`)
}

function listed(names: readonly string[], kind: string): string {
  const last = names.at(-1)
  if (last === undefined) return `there is no ${kind} here`
  return names.length === 1
    ? `known is ${last}`
    : `known are ${names.slice(0, -1).join(', ')} and ${last}`
}
