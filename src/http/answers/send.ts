// Sends answers that are ready, and what lets clients revalidate them (contract section 5).

import type { HttpReply, HttpRequest } from '../wire/exchange.ts'
import { giveBackAfter } from '../wire/body-memory.ts'
import { type Coding, varyBy } from '../wire/coding.ts'

/** What a 200 and a 304 have in common. */
export interface Validators {
  readonly tag: string
  /** The registry's version that the answer was read from. */
  readonly dataVersion: number
  /** As an HTTP date. */
  readonly lastModified: string
}

/** An answer that is ready to send. */
export interface Ready extends Omit<Validators, 'dataVersion'> {
  /** The body in its coding. */
  readonly body: Buffer
  readonly coding: Coding
}

/** What else an answer's headers contain. */
interface Told {
  readonly dataVersion: number
  readonly link: string | undefined
  /** JSON, unless these say otherwise. */
  readonly headers?: Readonly<Record<string, string | number>> | undefined
}

/** Sends a 200, or a 304. */
export function sendReady(
  request: HttpRequest,
  { body, coding, tag, lastModified }: Ready,
  { dataVersion, link, headers = {} }: Told,
): HttpReply {
  const { reply } = request
  const validators = { tag, dataVersion, lastModified }
  if (matchesTag(request.headers['if-none-match'], tag)) return sendUnchanged(reply, validators)
  setValidators(reply, validators)
    .header('content-type', 'application/json; charset=utf-8')
    .headers(headers)
  if (link !== undefined) reply.header('link', link)
  if (coding !== 'identity') reply.header('content-encoding', coding)
  giveBackAfter(reply.raw, body)
  return reply.send(body)
}

/** Sends a 304. */
export function sendUnchanged(reply: HttpReply, validators: Validators): HttpReply {
  return setValidators(reply, validators).code(304).send()
}

export function setValidators(
  reply: HttpReply,
  { tag, dataVersion, lastModified }: Validators,
): HttpReply {
  return varyBy(reply, 'Accept-Encoding')
    .header('etag', tag)
    .header('cache-control', 'private, no-cache')
    .header('data-version', dataVersion)
    .header('last-modified', lastModified)
}

/** Whether an If-None-Match field matches the tag, by weak comparison (RFC 9110 13.1.2). */
export function matchesTag(field: string | undefined, tag: string): boolean {
  if (field === undefined) return false
  if (field.trim() === '*') return true
  const opaque = tag.replace(/^W\//, '')
  return field.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === opaque)
}
