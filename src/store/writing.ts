// The interface for commands that change a store, by reverting versions and otherwise, independent
// of the database.

import type { Awaitable } from './awaitable.ts'
import type { Closable } from './closing.ts'
import type { ImportStore } from './importing.ts'
import type { KeyStore } from './keys.ts'
import type { LockWait, WorkWatch } from './work-watch.ts'
import type { Entry } from './withholding/list.ts'
import type {
  AdoptRequest,
  LiftRequest,
  Withheld,
  WithholdRequest,
} from './withholding/withhold.ts'

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
export interface StoreWriter extends ImportStore, KeyStore, Closable {
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
  /** How many entries of the list of what is withheld the store lacked when it was opened. */
  readonly caughtUp: number
  /**
   * Withholds something, now and in every past version.
   *
   * @throws OperatorError that says what to do, if it is not there.
   */
  withhold(request: WithholdRequest): Promise<Withheld>
  /** Ends an order. @throws OperatorError if there is none that holds. */
  lift(request: LiftRequest): Promise<void>
  /**
   * Makes the list of another registry that of this one, and withholds what it says; see
   * `openStoreToAdopt`.
   */
  adopt(request: AdoptRequest): Promise<Withheld>
  /** The last version that has withheld something; 0 if there is none. */
  lastWithheld(): Promise<number>
  /** The list of what is withheld: orders, and what has ended some. */
  readWithheld(): Promise<readonly Entry[]>
}

/** What to take back. */
export type RevertRange =
  /** A version; with those of its source and target that followed, if so asked. */
  | { readonly version: number; readonly isWithLater: boolean }
  /** Every version after this one. */
  | { readonly to: number }

export interface RevertPlan extends WorkWatch {
  readonly range: RevertRange
  readonly isDryRun: boolean
  /** In milliseconds since 1970. */
  readonly startedAt: number
}

/** What was taken back of one source and target, as a version of its own. */
export interface Reverted {
  /** The version that does it; undefined in a dry run. */
  readonly version: number | undefined
  readonly target: string
  readonly source: string
  /** The versions taken back, those included that were reverted before. */
  readonly reverts: readonly number[]
  /** Records or companies that came back, have their former content again, and are gone. */
  readonly restored: number
  readonly updated: number
  readonly removed: number
  /** The records that described the changes, by resource: how many came back, and are gone. */
  readonly recorded: Readonly<Record<string, { restored: number; removed: number }>>
}

/** The result of a revert: one entry per source and target, in the order of their versions. */
export interface RevertReport {
  readonly reverted: readonly Reverted[]
  /** The number of companies that are unknown again, and of those that are known again. */
  readonly companiesForgotten: number
  readonly companiesRevived: number
}
