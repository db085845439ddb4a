// Whose request it is: from an Authorization field to a key in the store (contract section 2).

import { LRUCache } from 'lru-cache'
import type { Awaitable, KeyRecord, StoreReader } from '../store/store.ts'
import { hashKey, isWellFormedKey } from './key.ts'

/** Gives the valid key that an Authorization field holds; undefined for any other field. */
export type Authenticate = (authorization: string | undefined) => Awaitable<KeyRecord | undefined>

/** How long a key is believed before the store is asked again: half of what contract 2 allows. */
const believedMs = 500
const believedKeysMax = 10_000

const bearer = /^bearer (\S+)$/i

/** @param now gives milliseconds since 1970. */
export function createAuthenticate(store: StoreReader, now: () => number): Authenticate {
  const believed = new LRUCache<string, { key: KeyRecord; until: number }>({ max: believedKeysMax })

  function believe(id: string, key: KeyRecord | undefined): KeyRecord | undefined {
    if (key === undefined) return undefined
    believed.set(id, { key, until: now() + believedMs })
    return isInForce(key, now()) ? key : undefined
  }

  return (authorization) => {
    const token = bearer.exec(authorization ?? '')?.[1]
    if (token === undefined) return undefined
    const id = hashKey(token)
    const known = believed.get(id)
    if (known !== undefined && Math.abs(known.until - now()) <= believedMs && known.until > now()) {
      return isInForce(known.key, now()) ? known.key : undefined
    }
    // A key that cannot be one is refused without a look-up (contract 2.4).
    if (!isWellFormedKey(token)) return undefined
    const found = store.findKey(Buffer.from(id, 'latin1'))
    return found instanceof Promise ? found.then((key) => believe(id, key)) : believe(id, found)
  }
}

function isInForce(key: KeyRecord, now: number): boolean {
  return key.revokedAt === undefined && (key.expiresAt === undefined || key.expiresAt > now)
}
