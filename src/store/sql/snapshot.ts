// Reads that all see one state of a store, for answers that one statement cannot give.

import type { ListingLookups, ListingReads } from '../listing/tables.ts'
import type { ServingReads } from '../serving/reads.ts'
import type { RowReader } from './tables.ts'

export interface Snapshot
  extends RowReader, Pick<ListingReads, 'texts' | 'entries'>, Pick<ServingReads, 'change'> {
  /** Looks up listings, companies and changes by their keys. */
  readonly tables: ListingLookups
}

/** Runs `work`, whose reads see one state; it may run again if the state changes meanwhile. */
export type InSnapshot = <T>(work: (snapshot: Snapshot) => Promise<T>) => Promise<T>
