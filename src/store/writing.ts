// The interface for commands that change a store, independent of the database.

import type { Awaitable } from './awaitable.ts'
import type { ImportStore } from './importing.ts'
import type { KeyStore } from './keys.ts'
import type { LockWait } from './lock-wait.ts'
import type { WorkWatch } from './work-watch.ts'
import type { RevertPlan, RevertReport } from './reverting.ts'

/** The result of pruning. */
export interface Pruned {
  /** The earliest version whose state is still completely known. */
  readonly earliestVersion: number
  /** The number of deleted past states, by kind. */
  readonly forgotten: Readonly<Record<string, number>>
}

/** The result of compacting: sizes in bytes, of all that the store takes. */
export interface Compacted {
  readonly bytesBefore: number
  readonly bytesAfter: number
  /** What is still to be freed, or was not tried: a sentence each. */
  readonly notes: readonly string[]
}

/** What the commands that change a store may do with it. */
export interface StoreWriter extends ImportStore, KeyStore {
  /** The store's random id (`StoreReader.storeId`). */
  readStoreId(): Awaitable<string>
  /**
   * Deletes past states that were replaced before `before`, in milliseconds since 1970.
   *
   * @param isDryRun only reports what it would delete.
   */
  prune(before: number, watch: WorkWatch, isDryRun?: boolean): Promise<Pruned>
  /**
   * Gives the room of deleted rows back, and leaves nothing of them in the store's files as far as
   * the database can do that beside readers.
   */
  compact(wait: LockWait): Promise<Compacted>
  /**
   * Takes versions back: for each source and target, a new version with the state before them.
   *
   * @throws OperatorError that says what to do, if they cannot be taken back.
   */
  revert(plan: RevertPlan): Promise<RevertReport>
  close(): Awaitable<void>
}
