// The members of a request: its query parameters, and those of a JSON object in its body.

import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { nearest } from '../nearest.ts'
import { withoutKeys } from '../redact.ts'
import { badRequest } from './errors.ts'
import { readBody } from './wire/body.ts'

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
 * @throws ApiError as `readBody` does.
 */
export async function readMembers(request: FastifyRequest, reply: FastifyReply): Promise<Given> {
  const body = hasBody(request.raw) ? await readBody(request.raw, reply.raw) : undefined
  return { query: request.query as Members, body }
}

/** Whether a request has a body (RFC 9112 section 6.3). */
function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length']
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0')
}

/**
 * Checks that every member is known (contract 1.4).
 *
 * @throws ApiError 400 that names an unknown one, and the nearest known one.
 */
export function checkNames({ query, body }: Given, known: readonly string[]): void {
  for (const name in query) checkName(name, 'query parameter', known)
  if (body !== undefined)
    for (const name of Object.keys(body)) checkName(name, 'body member', known)
}

function checkName(name: string, kind: string, known: readonly string[]): void {
  if (known.includes(name)) return
  const near = nearest(name, known)
  const last = known.at(-1) ?? ''
  const all =
    known.length === 0
      ? `there is no ${kind} here`
      : known.length === 1
        ? `known is ${last}`
        : `known are ${known.slice(0, -1).join(', ')} and ${last}`
  const advice = near ? `did you mean ${near}?` : all
  const shown = JSON.stringify(withoutKeys(name).slice(0, 60))
  throw badRequest(`${shown} is no known ${kind}; ${advice}`)
}
