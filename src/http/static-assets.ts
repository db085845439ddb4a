// Files that browsers load: read once, compressed once for each coding, and sent to every client
// from the same memory. They need no key, so what they may cost has a bound of its own.

import { createHash } from 'node:crypto'
import { parse } from 'node:path/posix'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Endpoint, type Handler, readMethods, type Service } from './endpoints/endpoint.ts'
import {
  chooseCoding,
  type Coding,
  encode,
  isWorthCoding,
  levelsForOnce,
  varyByCoding,
} from './wire/coding.ts'
import { unavailable } from './errors.ts'
import { matchesTag } from './page.ts'
import type { Load } from './wire/server.ts'

/** What all answers with assets together may take; they do not count as requests under way. */
export interface AssetLimits {
  /** Answers under way; one more is a 503. */
  readonly assetsMax: number
  /** How long a client may take to read one, in milliseconds; then its connection is closed. */
  readonly assetMs: number
}

/** The limits that a server has unless it is given others. */
export const assetLimits: AssetLimits = { assetsMax: 64, assetMs: 60_000 }

/** What an asset is made of. */
interface AssetContent {
  /** Absolute, such as /docs/start.js. */
  readonly path: string
  readonly body: Buffer
  /** The media type. */
  readonly type: string
  /** Header fields in addition to those of every asset. */
  readonly headers?: Readonly<Record<string, string>>
}

/** A file as it is served. */
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
  /** Makes the handler of an asset; those of one asset share what is made of it. */
  readonly createHandler: (asset: Asset, cacheControl: string) => Handler
}

const revalidated = 'no-cache'
const keptForGood = 'public, max-age=31536000, immutable'

/** An asset with what is made of it: once, and then the same for all. */
interface ReadyAsset extends Asset {
  /** Weak, since it stands for every coding (decision 7). */
  readonly tag: string
  readonly inCoding: (coding: Coding) => Promise<Buffer>
}

/** What makes an asset, of what the application knows. */
type AssetOf = (service: Pick<Service, 'openApiText'>) => Asset

/** The endpoint of an asset of which browsers ask whether it has changed before they use it. */
export function documentEndpoint(path: string, assetOf: AssetOf): Endpoint {
  return assetEndpoint(path, assetOf, revalidated)
}

/**
 * The endpoints of a file: at its path, and under a name made of its content, with which browsers
 * keep their copy without asking.
 */
export function fileEndpoints(asset: Asset): readonly Endpoint[] {
  return [
    assetEndpoint(asset.path, () => asset, revalidated),
    assetEndpoint(`${parse(asset.path).dir}/${hashedName(asset)}`, () => asset, keptForGood),
  ]
}

/** The name of a file that is made of its content, such as start.5f2e0c81d7a94b36.js. */
export function hashedName({ path, digest }: Asset): string {
  const { name, ext } = parse(path)
  return `${name}.${digest}${ext}`
}

function assetEndpoint(path: string, assetOf: AssetOf, cacheControl: string): Endpoint {
  return {
    path,
    methods: readMethods,
    scope: undefined,
    isAsset: true,
    operation: undefined,
    createHandler: (service) => service.assets.createHandler(assetOf(service), cacheControl),
  }
}

/** @param load is told where an asset is refused. */
export function createStaticAssets(limits: AssetLimits, load: Pick<Load, 'warn'>): StaticAssets {
  const slots = createSlots(limits)
  const encodeInTurn = createEncoder()
  const nextTurn = createTurns()

  const ready = new Map<Asset, ReadyAsset>()

  async function answer(
    request: FastifyRequest,
    reply: FastifyReply,
    asset: ReadyAsset,
    cacheControl: string,
  ): Promise<FastifyReply> {
    const isUnchanged = matchesTag(request.headers['if-none-match'], asset.tag)
    if (!isUnchanged && !slots.take(reply)) {
      load.warn('assets')
      throw unavailable()
    }
    const isCoded = isWorthCoding(asset.body)
    const coding = isCoded ? chooseCoding(request.headers['accept-encoding']) : 'identity'
    const body = isUnchanged ? undefined : await asset.inCoding(coding)
    await nextTurn()
    if (isCoded) varyByCoding(reply)
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

/** Makes an `encode` that works on one body at a time: listings need the other threads. */
function createEncoder(): Encode {
  let last: Promise<unknown> = Promise.resolve()
  return (body, coding, levels) => {
    if (coding === 'identity') return Promise.resolve(body)
    const made = last.then(() => encode(body, coding, levels))
    last = made.catch(() => undefined)
    return made
  }
}

/** Gives one caller after another a turn of the event loop, so that other requests come between. */
function createTurns(): () => Promise<void> {
  let last: Promise<void> = Promise.resolve()
  return () => (last = last.then(() => new Promise((resolve) => setImmediate(resolve))))
}

/** Bounds how many answers are under way, and for how long each. */
function createSlots({ assetsMax, assetMs }: AssetLimits) {
  let taken = 0
  return {
    /** Takes a slot until the answer is out or its connection is gone; false if none is free. */
    take({ raw }: FastifyReply): boolean {
      if (taken >= assetsMax) return false
      taken += 1
      // A client that reads a little now and then never stands still.
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
