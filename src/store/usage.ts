// The second seam: where the uses of keys are kept. It is another file than the registry's, and
// nothing of the registry can be reached by it, so that serving has no write path to that.

import type { Awaitable } from './awaitable.ts'

/** What a key was used within one hour, or a part of it. */
export interface KeyUse {
  readonly keyId: number
  /** Hours since 1970. */
  readonly hour: number
  readonly requests: number
  /** Milliseconds since 1970. */
  readonly lastUsedAt: number
}

/** What is known of the use of a key. */
export interface KeyUsage {
  readonly keyId: number
  /** Milliseconds since 1970. */
  readonly lastUsedAt: number
  /** Requests of this hour and the 23 before it. */
  readonly requestsLastDay: number
  /** Requests of this hour and the 719 before it. */
  readonly requestsLast30Days: number
}

/** What the serving process may do with the uses of keys: add to them. */
export interface UsageWriter {
  /**
   * Adds uses, all or none, and forgets what is older than 31 days.
   *
   * @param patienceMs is how long another process that writes is waited for.
   * @throws an error with a reason for the operator where they cannot be written.
   */
  add(uses: readonly KeyUse[], now: number, patienceMs: number): Awaitable<void>
  close(): Awaitable<void>
}
