// What an import loads, as a value: a resource's records and companies are two of them. How a store
// merges it is the part that src/store/load-target.ts describes.

import type { RefusedRow, StagedRow, ListingState } from '../store/importing.ts'
import type { LoadTarget } from '../store/load-target.ts'
import type { CheckRow, SourceRow } from './check-record.ts'

export interface ImportTarget extends LoadTarget {
  /** The columns that a row may have; undefined where every other one is an attribute. */
  readonly sourceColumns: readonly string[] | undefined
  /** The columns that a source must have, told before the first row. */
  readonly requiredColumns: readonly string[]
  readonly check: CheckRow
  /** What a row that was refused stands for; undefined where it does not say. */
  identify(row: SourceRow): RefusedRow | undefined
  /** A row as it was checked, in the columns of a source. */
  rowOf(staged: StagedRow): SourceRow
  /** How its changes are told; undefined where it has no history. */
  readonly history: ImportHistory | undefined
}

/** How what an import changes of a company is told. */
export interface ImportHistory {
  /** Changes are recorded where that is asked for; else always, where there is a day. */
  readonly isOptional: boolean
  changesOf(before: ListingState, after: ListingState): Change[]
}

/** A change of one attribute; null where there was, or is, no value. */
export interface Change {
  readonly attr: string
  readonly before: string | null
  readonly after: string | null
}
