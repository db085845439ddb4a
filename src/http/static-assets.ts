// Files that browsers load: read once, compressed once for each coding, and sent to every client
// from the same memory. They need no key, so they have limits of their own.

import { hash } from 'node:crypto'
import type { HttpReply, HttpRequest } from './wire/exchange.ts'
import type { Endpoint } from './endpoints/endpoint.ts'
import { chooseCoding, type Coding, encode, levelsForOnce, varyBy } from './wire/coding.ts'
import { notFound, overloaded } from './errors.ts'
import type { Awaitable } from '../store/awaitable.ts'
import { matchesTag } from './answers/send.ts'

export type AssetLimits = Readonly<typeof assetLimits>

/** Limits of all responses with assets; they do not count as requests under way. */
export const assetLimits = {
  /**
   * The maximum of the bytes under way, uncompressed; from then on, any further response is a 503.
   * Bytes, since a browser asks for all files of the explorer at once, and each is small.
   */
  assetBytesMax: 64 * 1_024 * 1_024,
  /** How long a client may take to read a response, in milliseconds, before it is cut off. */
  assetMs: 60_000,
}

/** A file to serve. */
export interface Asset {
  /** The media type. */
  readonly type: string
  readonly body: Buffer
  /** Header fields in addition to those of every asset, or in place of them. */
  readonly headers: Readonly<Record<string, string>>
  /** The first 64 bits of the body's SHA-256, in hexadecimal digits. */
  readonly digest: string
  /** The body in the codings that clients have asked for so far. */
  readonly coded: Map<Coding, Promise<Buffer>>
}

export function makeAsset(type: string, body: string | Buffer, headers = {}): Asset {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  const digest = hash('sha256', bytes, 'hex').slice(0, 16)
  return { type, body: bytes, headers, digest, coded: new Map() }
}

/**
 * The endpoint of one asset, or of the files in a folder.
 *
 * @param find finds what a request asks for.
 */
export function assetEndpoint(
  path: string,
  find: (request: HttpRequest) => Awaitable<Asset | undefined>,
): Endpoint {
  return {
    path,
    scope: undefined,
    isAsset: true,
    async answer(request, service) {
      const found = await find(request)
      if (found === undefined) throw notFound()
      return service.sendAsset(request, found)
    },
  }
}

/** Makes something when it is first asked for; if that fails, when it is next asked for. */
export function onDemand<T>(make: () => Awaitable<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return async () => {
    try {
      return await (made ??= Promise.try(make))
    } catch (error) {
      made = undefined
      throw error
    }
  }
}

export function createSendAsset({ assetBytesMax, assetMs }: AssetLimits) {
  let taken = 0

  /** Takes bytes until a response has ended, for which there is a limit of time. */
  function take(reply: HttpReply, bytes: number): void {
    if (taken >= assetBytesMax) throw overloaded('assets')
    taken += bytes
    // A client that reads slowly never triggers the idle timeout of its connection.
    const timer = setTimeout(() => reply.raw.destroy(), assetMs).unref()
    reply.onClosed(() => {
      taken -= bytes
      clearTimeout(timer)
    })
  }

  /** Sends an asset, or a 304. @throws ApiError 503 if too many are under way. */
  return async (request: HttpRequest, asset: Asset): Promise<HttpReply> => {
    const { reply } = request
    // Weak, since it covers every coding (decision 7).
    const tag = `W/"${asset.digest}"`
    const isUnchanged = matchesTag(request.headers['if-none-match'], tag)
    if (!isUnchanged) take(reply, asset.body.length)
    const coding = chooseCoding(request.headers['accept-encoding'])
    const body = isUnchanged ? undefined : await codedBody(asset, coding)
    varyBy(reply, 'Accept-Encoding')
    reply.header('etag', tag).header('cache-control', 'no-cache').headers(asset.headers)
    if (body === undefined) return reply.code(304).send()
    if (coding !== 'identity') reply.header('content-encoding', coding)
    return reply.header('content-type', asset.type).send(body)
  }
}

let lastCoded: Promise<unknown> = Promise.resolve()

/** The body in a coding: each is made once, and one at a time, since listings need the threads. */
async function codedBody({ body, coded }: Asset, coding: Coding): Promise<Buffer> {
  if (coding === 'identity') return body
  const known = coded.get(coding)
  if (known !== undefined) return known
  const made = lastCoded.then(() => encode(body, coding, levelsForOnce))
  coded.set(coding, made)
  lastCoded = made.catch(() => coded.delete(coding))
  return made
}
