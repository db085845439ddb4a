// Reads that all see one state of a store, for answers that one statement cannot give.

import type { Awaitable } from '../awaitable.ts'
import type { ListingLookups, ListingReads } from '../listing/tables.ts'
import type { ServingReads } from '../serving/reads.ts'
import type { Dialect } from './dialect.ts'

/** A value of a parameter, or a list for `isOneOf` of the dialect. */
export type Parameter = string | number | readonly string[] | readonly number[]

export interface Snapshot
  extends Pick<ListingReads, 'texts' | 'entries'>, Pick<ServingReads, 'change'> {
  readonly dialect: Dialect
  /** Looks up listings, companies and changes by their keys. */
  readonly tables: ListingLookups
  /**
   * The rows of a query, as arrays of their columns. The statement is prepared once.
   *
   * @param sql has its parameters as `$1`, `$2` …
   */
  rows<Row extends readonly unknown[]>(
    sql: string,
    ...parameters: readonly Parameter[]
  ): Awaitable<readonly Row[]>
}

/** Runs `work`, whose reads see one state; it may run again if the state changes meanwhile. */
export type InSnapshot = <T>(work: (snapshot: Snapshot) => Promise<T>) => Promise<T>
