// What is asked of a store about keys, whichever database is behind it.

import type { Awaitable } from './awaitable.ts'
import type { LockWait } from './lock-wait.ts'

/** A key as the store knows it: everything but the key itself. */
export interface KeyRecord {
  readonly id: number
  readonly name: string
  /** The first and last characters of the key, by which its owner recognises it. */
  readonly hint: string
  /** Names of resources; undefined means all of them. */
  readonly scopes: readonly string[] | undefined
  readonly createdAt: number
  /** Milliseconds since 1970; undefined means never. */
  readonly expiresAt: number | undefined
  readonly revokedAt: number | undefined
  /** How often it may ask, such as 600/300s, or `none`; undefined means as often as any key. */
  readonly rate: string | undefined
}

/** A key to be stored. */
export interface NewKey extends Omit<KeyRecord, 'id' | 'revokedAt'> {
  readonly hash: Uint8Array
}

/** A key that takes the place of another one of its name. */
export interface Rotation {
  /** Scopes and rate are those of the key that is replaced. */
  readonly key: Omit<NewKey, 'scopes' | 'rate'>
  /** When every other key of the name ends at the latest, in milliseconds since 1970. */
  readonly othersEndAt: number
}

/** What has to succeed before a change is committed. */
export type BeforeCommit = () => Awaitable<void>

/** What the commands about keys may do with a store. */
export interface KeyStore {
  /**
   * @param beforeCommit runs when all is ready to be committed; a throw in it changes nothing.
   * @throws OperatorError where a key of that name is in use.
   */
  addKey(key: NewKey, wait: LockWait, beforeCommit?: BeforeCommit): Promise<void>
  listKeys(): Awaitable<readonly KeyRecord[]>
  /**
   * Adds a key beside the one of its name that is in use, and gives that one an end.
   *
   * @param rotate is given the youngest key of the name that is in use.
   * @param beforeCommit as for `addKey`.
   * @returns false where there is none.
   */
  rotateKey(
    name: string,
    now: number,
    rotate: (replaced: KeyRecord) => Rotation,
    wait: LockWait,
    beforeCommit?: BeforeCommit,
  ): Promise<boolean>
  /** Revokes every key of that name; false where there is none in use. */
  revokeKey(name: string, now: number, wait: LockWait): Promise<boolean>
}
