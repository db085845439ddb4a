// The interface for counting the use of keys. The counts are in a file of their own, which gives no
// access to the registry, so that serving has no write path to that.

import type { Awaitable } from './awaitable.ts'

/** The use of a key within one hour, or a part of it. */
export interface KeyUse {
  readonly keyId: number
  /** Hours since 1970. */
  readonly hour: number
  readonly requests: number
  /** Milliseconds since 1970. */
  readonly lastUsedAt: number
}

/** The recorded use of a key. */
export interface KeyUsage {
  readonly keyId: number
  /** Milliseconds since 1970. */
  readonly lastUsedAt: number
  /** Requests of this hour and the 23 before it. */
  readonly requestsLastDay: number
  /** Requests of this hour and the 719 before it. */
  readonly requestsLast30Days: number
}

/** What the serving process may do with these counts: add to them. */
export interface UsageWriter {
  /**
   * Adds uses, all or none, and deletes those older than 31 days.
   *
   * @param waitMs how long to wait for another process that writes.
   * @throws if they cannot be written: an OperatorError if there is advice, else the error.
   */
  add(uses: readonly KeyUse[], now: number, waitMs: number): Awaitable<void>
  close(): Awaitable<void>
}
