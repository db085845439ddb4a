// The interface for taking versions back, independent of the database.

import type { WorkWatch } from './work-watch.ts'

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
