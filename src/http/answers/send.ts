// Sends answers that are ready, and what lets clients revalidate them (contract section 5).

import type { HttpReply, HttpRequest } from '../wire/exchange.ts'
import { createPlaces } from '../places.ts'
import { giveBackAfter } from '../wire/body-memory.ts'
import { type Coding, encode, varyBy } from '../wire/coding.ts'

/** The state of an answer's content, by which clients revalidate it. */
export interface State {
  readonly tag: string
  /** When the content last changed, in milliseconds since 1970. */
  readonly changedAt: number
}

export interface Ready extends State {
  /** The body in its coding. */
  readonly body: Buffer
  readonly coding: Coding
}

/** What else a 200 and a 304 tell. */
interface Told {
  /** The registry's version that the answer was read from. */
  readonly dataVersion: number
  readonly link?: string | undefined
  /** For the header `Content-Location`, if the request named it otherwise. */
  readonly location?: string | undefined
  /** Other headers of a 200, which is JSON unless they say otherwise. */
  readonly headers?: Readonly<Record<string, string | number>> | undefined
}

/**
 * How many bytes of large answers may be compressed or on their way, of which each key has a share:
 * a client that reads a little from time to time holds its answer in our memory.
 */
export const unsentBytesMax = 536_870_912
/** The unit in which they are counted; an answer that is smaller than one does not count. */
const unsentUnit = 65_536
const unsent = createPlaces('answers', unsentBytesMax / unsentUnit)

/** Sends a 200, or a 304. @throws ApiError 503 if too much is on its way, or the key's share. */
export function sendReady(request: HttpRequest, ready: Ready, told: Told): HttpReply {
  const { reply } = request
  const { body, coding } = ready
  if (matchesTag(request.headers['if-none-match'], ready.tag)) {
    return sendUnchanged(reply, ready, told)
  }
  const giveBack = placesFor(request.key, body)
  if (giveBack !== undefined) reply.onClosed(giveBack)
  setHead(reply, ready, told)
    .header('content-type', 'application/json; charset=utf-8')
    .headers(told.headers ?? {})
  if (coding !== 'identity') reply.header('content-encoding', coding)
  giveBackAfter(reply.raw, body)
  return reply.send(body)
}

/** Compresses the body of an answer. @throws ApiError 503 as `sendReady`. */
export async function compress(
  { key }: Pick<HttpRequest, 'key'>,
  body: Buffer,
  coding: Coding,
): Promise<Buffer> {
  if (coding === 'identity') return body
  const giveBack = placesFor(key, body)
  return encode(body, coding).finally(giveBack)
}

/** Takes the places of a body; returns what gives them back, or undefined if it takes none. */
function placesFor(key: HttpRequest['key'], { length }: Buffer): (() => void) | undefined {
  if (length < unsentUnit) return undefined
  return unsent.take(key?.id, Math.floor(length / unsentUnit))
}

/**
 * Sends a 304. A cache replaces its links by these: those that it has name an earlier version,
 * which may have been pruned.
 */
export function sendUnchanged(reply: HttpReply, state: State, told: Told): HttpReply {
  return setHead(reply, state, told).code(304).send()
}

/** Sets what a 200 and a 304 have in common. */
export function setHead(
  reply: HttpReply,
  { tag, changedAt }: State,
  { dataVersion, link, location }: Told,
): HttpReply {
  varyBy(reply, 'Accept-Encoding')
    .header('etag', tag)
    .header('cache-control', 'private, no-cache')
    .header('data-version', dataVersion)
    .header('last-modified', httpDate(changedAt))
  if (link !== undefined) reply.header('link', link)
  if (location !== undefined) reply.header('content-location', location)
  return reply
}

let dated = { moment: NaN, text: '' }

/** A moment as an HTTP date (RFC 9110 section 5.6.7). Answers in a row are mostly of one import. */
function httpDate(moment: number): string {
  if (dated.moment !== moment) dated = { moment, text: new Date(moment).toUTCString() }
  return dated.text
}

/** Whether an If-None-Match field matches the tag, by weak comparison (RFC 9110 13.1.2). */
export function matchesTag(field: string | undefined, tag: string): boolean {
  if (field === undefined) return false
  if (field.trim() === '*') return true
  const opaque = tag.replace(/^W\//, '')
  return field.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === opaque)
}
