// Whose request it is: from an Authorization field to a key in the store (contract section 2).

import { LRUCache } from 'lru-cache'
import type { Awaitable } from '../store/awaitable.ts'
import type { KeyRecord } from '../store/keys.ts'
import type { StoreReader } from '../store/reading.ts'
import { hashKey, isWellFormedKey } from './key.ts'

/** Who asks; a connection that has just gone has no address. */
export interface Client {
  readonly ip: string | undefined
}

/** Counts failed attempts by address; times are in seconds. */
interface Throttle {
  /** How long an address has to wait before a key is looked up for it; undefined where it may. */
  waitOf(address: string | undefined, keyHash: string): Awaitable<number | undefined>
  /** Counts a failed attempt; gives how long the address has to wait, if that was one too many. */
  fail(address: string | undefined, keyHash?: string): Awaitable<number | undefined>
  /** Remembers a valid key. */
  noteGood(keyHash: string): void
}

/** Too many attempts have failed: nothing is looked at for so many seconds. */
interface Wait {
  readonly waitSeconds: number
}

/**
 * Gives the valid key that an Authorization field holds; undefined for any other field.
 *
 * @param client is asked for its address only where that matters.
 */
type Authenticate = (
  authorization: string | undefined,
  client: Client,
) => Awaitable<KeyRecord | Wait | undefined>

/** How long a key is cached before the store is asked again: half of what contract 2 allows. */
const cachedMs = 500
const cachedKeysMax = 10_000

const bearer = /^bearer (\S+)$/i

/**
 * @param now gives milliseconds since 1970.
 * @param throttle counts failed attempts; without one they are not counted.
 */
export function createAuthenticate(
  store: StoreReader,
  now: () => number,
  throttle?: Throttle,
): Authenticate {
  const cached = new LRUCache<string, { key: KeyRecord; until: number }>({ max: cachedKeysMax })

  function remember(id: string, key: KeyRecord | undefined): KeyRecord | undefined {
    // One that is over is looked up each time, as one that never was: neither what is said nor how
    // long it takes tells the two apart, and neither goes on where an address has to wait.
    if (key === undefined || !isInForce(key, now())) {
      cached.delete(id)
      return undefined
    }
    cached.set(id, { key, until: now() + cachedMs })
    return key
  }

  /** What a client gets whose attempt has failed; `id` is that of a key that was looked up. */
  function refuse({ ip }: Client, id?: string): Awaitable<Wait | undefined> {
    const seconds = throttle?.fail(ip, id)
    return seconds instanceof Promise ? seconds.then(waitFor) : waitFor(seconds)
  }

  function lookUp(id: string, client: Client): Awaitable<KeyRecord | Wait | undefined> {
    const isNew = !cached.has(id)
    const judge = (found: KeyRecord | undefined) => {
      const key = remember(id, found)
      if (key !== undefined && isNew) throttle?.noteGood(id)
      return key ?? refuse(client, id)
    }
    const found = store.findKey(Buffer.from(id, 'latin1'))
    return found instanceof Promise ? found.then(judge) : judge(found)
  }

  return (authorization, client) => {
    // Who shows no key at all tries none.
    if (authorization === undefined) return undefined
    const token = bearer.exec(authorization)?.[1]
    if (token === undefined) return refuse(client)
    const id = hashKey(token)
    const known = cached.get(id)
    if (known !== undefined && Math.abs(known.until - now()) <= cachedMs && known.until > now()) {
      return isInForce(known.key, now()) ? known.key : refuse(client, id)
    }
    // A key that cannot be one is refused without a look-up (contract 2.4).
    if (!isWellFormedKey(token)) return refuse(client)
    // Nor is one looked up for an address that has failed too often; but a client whose key has
    // been good goes on, so that none is locked out by another one of the same address.
    const seconds = known === undefined ? throttle?.waitOf(client.ip, id) : undefined
    return seconds instanceof Promise
      ? seconds.then((found) => waitFor(found) ?? lookUp(id, client))
      : (waitFor(seconds) ?? lookUp(id, client))
  }
}

function waitFor(waitSeconds: number | undefined): Wait | undefined {
  return waitSeconds === undefined ? undefined : { waitSeconds }
}

function isInForce(key: KeyRecord, now: number): boolean {
  return key.revokedAt === undefined && (key.expiresAt === undefined || key.expiresAt > now)
}
