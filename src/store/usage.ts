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

/** The hour since 1970 with which the day of an hour began, in UTC. */
export function midnightOf(hour: number): number {
  return hour - (hour % 24)
}

/** How often a key was used. */
export interface KeyUses {
  /** Requests since midnight UTC. */
  readonly today: number
  /** Requests of this hour and the 719 before it. */
  readonly last30Days: number
}

/** Reads the recorded uses of keys. */
export interface UsageReader {
  /**
   * @param now in milliseconds since 1970.
   * @throws OperatorError if the file cannot be read.
   */
  readUses(keyId: number, now: number): KeyUses
  close(): void
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
