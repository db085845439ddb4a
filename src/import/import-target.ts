// What an import loads, as a value: companies, or a resource's records.

import type { ColumnRules } from '../files/check-columns.ts'
import type { ListingState, LoadTarget, RefusedRow, StagedRow } from '../store/importing.ts'
import type { CheckRow } from './rows/check-record.ts'
import type { SourceRow } from '../files/refusal.ts'

export interface ImportTarget extends LoadTarget, ColumnRules {
  readonly check: CheckRow
  /** The identity of a refused row; undefined if it has none. */
  identify(row: SourceRow): RefusedRow | undefined
  /** A checked row, in the columns of a source. */
  rowOf(staged: StagedRow): SourceRow
  /** How its changes are recorded; undefined if it has no history. */
  readonly history: ImportHistory | undefined
}

/** How an import's changes to a company become events. */
interface ImportHistory {
  /** Whether changes are recorded only on request; otherwise they are whenever a day is known. */
  readonly isOptional: boolean
  changesOf(before: ListingState, after: ListingState): Change[]
}

/** A change of one attribute; null for no value. */
export interface Change {
  readonly attr: string
  readonly before: string | null
  readonly after: string | null
}
