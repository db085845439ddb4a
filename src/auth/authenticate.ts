// Authenticates a request: from its Authorization field to a key in the store (contract section 2).

import type { Awaitable } from '../store/awaitable.ts'
import { createLru } from '../store/caching.ts'
import type { KeyRecord } from '../store/keys.ts'
import type { StoreReader } from '../store/serving/store-reader.ts'
import { hashKey, isWellFormedKey } from './key.ts'
import type { Throttle } from './throttle.ts'

/** The client of a request; a connection that has just closed has no address. */
interface Client {
  readonly ip: string | undefined
  readonly socket: object
}

/** Too many attempts have failed; the client has to wait. */
interface Wait {
  readonly waitSeconds: number
}

/** A client's key, or how long the client has to wait; undefined if it has no valid key. */
export type Authenticated = KeyRecord | Wait | undefined

export type Authenticate = ReturnType<typeof createAuthenticate>

/** How long a key is cached before it is read again: half of what contract 2 allows. */
const cachedMs = 500
const cachedKeysMax = 10_000

/** RFC 9110 section 11.4: `auth-scheme 1*SP token68`. */
const bearer = /^bearer +(\S+)$/i

/**
 * @param now returns milliseconds since 1970.
 * @param throttle counts failed attempts; undefined if they are not limited.
 */
export function createAuthenticate(store: StoreReader, now: () => number, throttle?: Throttle) {
  const cached = createLru<string, { key: KeyRecord; until: number }>(cachedKeysMax)

  /** Counts a failed attempt; `id` is the hash of a key that was looked up. */
  async function refuse({ ip }: Client, id?: string): Promise<Wait | undefined> {
    return waitFor(await throttle?.fail(ip, id))
  }

  /**
   * No key is looked up for an address that has failed too often. Keys that were valid before are
   * exempt, so that no client locks out another one at the same address.
   */
  async function lookUp(id: string, client: Client): Promise<Authenticated> {
    const isNew = !cached.has(id)
    const seconds = isNew ? await throttle?.waitOf(client.ip, id) : undefined
    if (seconds !== undefined) return waitFor(seconds)
    // The answer may come late, and say what was true then.
    const until = now() + cachedMs
    const key = await store.findKey(Buffer.from(id, 'latin1'))
    // An expired or revoked key is looked up each time, like an unknown one: neither the response
    // nor its timing reveals the difference, and both are refused while the address has to wait.
    if (key === undefined || !isValid(key, now())) {
      cached.delete(id)
      return refuse(client, id)
    }
    cached.set(id, { key, until })
    if (isNew) throttle?.noteGood(id)
    return key
  }

  // Hashing takes 3 % of the time of a cached page, and a client sends the same key again and
  // again. Only a field with a valid key is remembered, no longer than its connection lasts.
  const lastOf = new WeakMap<object, Presented>()

  /** @param client is asked for its address only if that is needed. */
  return (authorization: string | undefined, client: Client): Awaitable<Authenticated> => {
    // A request without a key is not an attempt.
    if (authorization === undefined) return undefined
    const last = lastOf.get(client.socket)
    const given = last?.authorization === authorization ? last : readKey(authorization)
    if (given === undefined) return refuse(client)
    const { id, token } = given
    const known = cached.get(id)
    if (known !== undefined && Math.abs(known.until - now()) <= cachedMs && known.until > now()) {
      if (!isValid(known.key, now())) return refuse(client, id)
      if (given !== last) lastOf.set(client.socket, given)
      return known.key
    }
    // A malformed key is refused without a look-up (contract 2.4).
    return isWellFormedKey(token) ? lookUp(id, client) : refuse(client)
  }
}

type Presented = NonNullable<ReturnType<typeof readKey>>

/** An Authorization field, the key in it, and the key's hash; undefined without a key. */
function readKey(authorization: string) {
  const token = bearer.exec(authorization)?.[1]
  return token === undefined ? undefined : { authorization, token, id: hashKey(token) }
}

function waitFor(waitSeconds: number | undefined): Wait | undefined {
  return waitSeconds === undefined ? undefined : { waitSeconds }
}

export function isValid(key: KeyRecord, now: number): boolean {
  return key.revokedAt === undefined && (key.expiresAt === undefined || key.expiresAt > now)
}
