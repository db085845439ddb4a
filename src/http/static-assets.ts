// Files that browsers load: read once, compressed once for each coding, and sent to every client
// from the same memory. They need no key, so they have limits of their own.

import { createHash } from 'node:crypto'
import { parse } from 'node:path/posix'
import type { HttpReply, HttpRequest } from './wire/exchange.ts'
import { LRUCache } from 'lru-cache'
import { type Endpoint, type Handler, readMethods, type Service } from './endpoints/endpoint.ts'
import { chooseCoding, type Coding, encode, levelsForOnce, varyBy } from './wire/coding.ts'
import { notFound, overloaded } from './errors.ts'
import type { Awaitable } from '../store/awaitable.ts'
import { matchesTag } from './answers/page.ts'
import { createTurns } from './wire/turns.ts'

/** Limits of all responses with assets; they do not count as requests under way. */
export interface AssetLimits {
  /** The maximum number of responses under way; any further one is a 503. */
  readonly assetsMax: number
  /** How long a client may take to read a response, in milliseconds, before it is cut off. */
  readonly assetMs: number
}

/** The default limits. */
export const assetLimits: AssetLimits = { assetsMax: 64, assetMs: 60_000 }

/** The content of an asset. */
interface AssetContent {
  /** Absolute, such as /docs/start.js. */
  readonly path: string
  readonly body: Buffer
  /** The media type. */
  readonly type: string
  /** Header fields in addition to those of every asset. */
  readonly headers?: Readonly<Record<string, string>>
}

/** A file to serve. */
export interface Asset extends AssetContent {
  /** The first 64 bits of the body's SHA-256, in hexadecimal digits. */
  readonly digest: string
}

export function makeAsset(content: AssetContent): Asset {
  const digest = createHash('sha256').update(content.body).digest('hex').slice(0, 16)
  return { ...content, digest }
}

/** The assets of an application. */
export interface StaticAssets {
  /** Creates a handler for an asset; all handlers of one asset share its compressed bodies. */
  readonly createHandler: (asset: Asset, cacheControl: string) => Handler
}

/** Smaller assets are sent as they are; the others are compressed only once. */
const codedBytesMin = 256

/** The Cache-Control of what keeps its name when it changes. */
export const revalidated = 'no-cache'
/** The Cache-Control of what is named by its content. */
export const keptForGood = 'public, max-age=31536000, immutable'

/** An asset with its tag and its compressed bodies, each made once. */
interface ReadyAsset extends Asset {
  /** Weak, since it covers every coding (decision 7). */
  readonly tag: string
  readonly inCoding: (coding: Coding) => Promise<Buffer>
}

/** What every asset's endpoint has. */
const ofAsset = {
  methods: readMethods,
  scope: undefined,
  isAsset: true,
  operation: undefined,
} as const

/** The endpoint of an asset that browsers revalidate before each use; it is made when asked for. */
export function documentEndpoint(
  path: string,
  assetOf: (service: Pick<Service, 'openApiText' | 'clientGuide'>) => Awaitable<Asset>,
): Endpoint {
  return {
    ...{ path, ...ofAsset },
    createHandler(service) {
      const handler = onDemand(async () =>
        service.assets.createHandler(await assetOf(service), revalidated),
      )
      return async (request, reply) => (await handler())(request, reply)
    },
  }
}

/** As `documentEndpoint`, for an asset that names the address at which clients find the service. */
export function addressedEndpoint(
  path: string,
  assetOf: (service: Pick<Service, 'documentIndex'>, base: string) => Asset,
): Endpoint {
  return {
    ...{ path, ...ofAsset },
    createHandler(service) {
      const handlers = new LRUCache<string, Handler>({ max: addressesMax })
      return (request, reply) => {
        const base = addressOf(request)
        const made =
          handlers.get(base) ?? service.assets.createHandler(assetOf(service, base), revalidated)
        handlers.set(base, made)
        return made(request, reply)
      }
    },
  }
}

/** For how many addresses an asset is kept; clients may name any. */
const addressesMax = 16

/** The address of the service as the client wrote it; empty if it named none. */
function addressOf({ headers, protocol }: HttpRequest): string {
  const { host = '' } = headers
  if (!/^[\w.:[\]-]{1,255}$/.test(host)) return ''
  return `${protocol === 'https' ? 'https' : 'http'}://${host}`
}

/** The name of a file in its folder, and its Cache-Control. */
type NamedAsset = readonly [name: string, asset: Asset, cacheControl: string]

/** The endpoint of the files in a folder, which are made when one is asked for. */
export function filesEndpoint(
  folder: string,
  filesOf: () => Promise<readonly NamedAsset[]>,
): Endpoint {
  return {
    ...{ path: `${folder}/{file}`, ...ofAsset },
    createHandler({ assets }) {
      const handlers = onDemand(async () => {
        const files = await filesOf()
        return new Map(files.map(([name, ...file]) => [name, assets.createHandler(...file)]))
      })
      return async (request, reply) => {
        const { file } = request.target.params as { readonly file: string }
        const handler = (await handlers()).get(file)
        if (handler === undefined) throw notFound()
        return handler(request, reply)
      }
    },
  }
}

/** What is made when it is first asked for; if that fails, when it is next asked for. */
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

/** A file's name with the hash of its content, such as start.5f2e0c81d7a94b36.js. */
export function hashedName({ path, digest }: Asset): string {
  const { name, ext } = parse(path)
  return `${name}.${digest}${ext}`
}

export function createStaticAssets(limits: AssetLimits): StaticAssets {
  const slots = createSlots(limits)
  const encodeInTurn = createEncoder()
  const nextTurn = createTurns()

  const ready = new WeakMap<Asset, ReadyAsset>()

  async function answer(
    request: HttpRequest,
    reply: HttpReply,
    asset: ReadyAsset,
    cacheControl: string,
  ): Promise<HttpReply> {
    const isUnchanged = matchesTag(request.headers['if-none-match'], asset.tag)
    if (!isUnchanged && !slots.take(reply)) throw overloaded('assets')
    const isCoded = asset.body.length >= codedBytesMin
    const coding = isCoded ? chooseCoding(request.headers['accept-encoding']) : 'identity'
    const body = isUnchanged ? undefined : await asset.inCoding(coding)
    await nextTurn()
    if (isCoded) varyBy(reply, 'Accept-Encoding')
    void reply
      .headers(asset.headers ?? {})
      .header('etag', asset.tag)
      .header('cache-control', cacheControl)
    if (body === undefined) return reply.code(304).send()
    if (coding !== 'identity') void reply.header('content-encoding', coding)
    return reply.header('content-type', asset.type).send(body)
  }

  return {
    createHandler(asset, cacheControl) {
      const made = ready.get(asset) ?? makeReady(asset, encodeInTurn)
      ready.set(asset, made)
      return (request, reply) => answer(request, reply, made, cacheControl)
    },
  }
}

type Encode = typeof encode

function makeReady(asset: Asset, encodeInTurn: Encode): ReadyAsset {
  const bodies = new Map<Coding, Promise<Buffer>>()
  return {
    ...asset,
    tag: `W/"${asset.digest}"`,
    inCoding(coding) {
      const known = bodies.get(coding)
      if (known !== undefined) return known
      const made = encodeInTurn(asset.body, coding, levelsForOnce)
      bodies.set(coding, made)
      made.catch(() => bodies.delete(coding))
      return made
    },
  }
}

/** Creates an `encode` that works on one body at a time: listings need the other threads. */
function createEncoder(): Encode {
  let last: Promise<unknown> = Promise.resolve()
  return (body, coding, levels) => {
    if (coding === 'identity') return Promise.resolve(body)
    const made = last.then(() => encode(body, coding, levels))
    last = made.catch(() => undefined)
    return made
  }
}

/** Limits how many responses are under way, and how long each may take. */
function createSlots({ assetsMax, assetMs }: AssetLimits) {
  let taken = 0
  return {
    /** Takes a slot until the response is sent or its connection closes; false if none is free. */
    take({ raw }: HttpReply): boolean {
      if (taken >= assetsMax) return false
      taken += 1
      // A client that reads slowly never triggers the idle timeout of its connection.
      const timer = setTimeout(() => raw.destroy(), assetMs).unref()
      let isHeld = true
      const free = () => {
        if (!isHeld) return
        isHeld = false
        taken -= 1
        clearTimeout(timer)
      }
      raw.once('finish', free).once('close', free)
      return true
    },
  }
}
