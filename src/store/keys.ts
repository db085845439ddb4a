// The interface for keys, independent of the database.

import type { Awaitable } from './awaitable.ts'
import type { LockWait } from './lock-wait.ts'

/** A stored key: everything but the key itself. */
export interface KeyRecord {
  readonly id: number
  readonly name: string
  /** The first and last characters of the key, for recognising it. */
  readonly hint: string
  /** What it may read (`scopes.ts`); undefined for what keys may read that have no list. */
  readonly scopes: readonly string[] | undefined
  readonly createdAt: number
  /** Milliseconds since 1970; undefined for never. */
  readonly expiresAt: number | undefined
  readonly revokedAt: number | undefined
  /** The key's rate limit, such as 600/300s, or `none`; undefined for the server's default. */
  readonly rate: string | undefined
}

/** A key to be stored. */
export interface NewKey extends Omit<KeyRecord, 'id' | 'revokedAt'> {
  readonly hash: Uint8Array
}

/** A key that replaces others of the same name. */
export interface Rotation {
  /** Scopes and rate are copied from the replaced key. */
  readonly key: Omit<NewKey, 'scopes' | 'rate'>
  /** When all other keys of the name expire at the latest, in milliseconds since 1970. */
  readonly othersEndAt: number
}

/** Hands a stored key to who asked for it; if it throws, the key is removed again. */
export type HandOver = () => Awaitable<void>

/** Changes and lists the keys of a store. */
export interface KeyStore {
  /**
   * @param handOver runs once the key is stored.
   * @throws OperatorError if a key of that name is in use.
   */
  addKey(key: NewKey, wait: LockWait, handOver?: HandOver): Promise<void>
  listKeys(): Awaitable<readonly KeyRecord[]>
  /**
   * Adds a key beside those in use that have its name, and lets those expire.
   *
   * @param rotate receives the newest key in use of that name.
   * @param handOver as for `addKey`; only then do the others expire.
   * @returns false if no key of that name is in use.
   */
  rotateKey(
    name: string,
    now: number,
    rotate: (replaced: KeyRecord) => Rotation,
    wait: LockWait,
    handOver?: HandOver,
  ): Promise<boolean>
  /** Revokes every key of that name; returns false if all are revoked, or there is none. */
  revokeKey(name: string, now: number, wait: LockWait): Promise<boolean>
}
