// What an import loads, as a store sees it. (What an import makes of rows before they come here is
// in src/import/import-target.ts.)

import type { Resource } from '../resources/resource.ts'
import type { Dialect } from './sql/dialect.ts'
import type { MergeSteps } from './sql/merge.ts'

export interface LoadTarget {
  /** What the command line and the log of imports call it. */
  readonly name: string
  /** The columns of a source that name a row's company, for messages. */
  readonly columns: { readonly companyId: string; readonly companyIdentifier: string }
  /** The field of which contradictory rows are told; null for `id` or `key`, as the row has it. */
  readonly contradictionField: string | null
  /** Whether rows may say of which day they are (`asOf`). */
  readonly hasRowDays: boolean
  /** Whether a company that a row names by its id alone is made where it is not known. */
  readonly isMadeById: boolean
  /** The tables that it is written to; the first holds what was loaded. */
  readonly tables: readonly string[]
  /** The statements that merge it; `merge.ts` says what they are given and what they leave. */
  merge(dialect: Dialect): MergeSteps
  /**
   * What an import is about to change of companies of which its source has spoken before: rows of
   * `DifferenceRow` in the order of companies, after the statements that they need.
   */
  differences(dialect: Dialect, history: Resource): Differences
}

export interface Differences {
  readonly prepare: readonly string[]
  readonly query: string
}
