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
  /** The field whose values `meta` counts (contract 3.7); undefined where there is no `meta`. */
  readonly metaOf: string | undefined
  /** Whether rows may say of which day they are (`asOf`). */
  readonly hasRowDays: boolean
  /** Whether a company that a row names by its id alone is made where it is not known. */
  readonly isMadeById: boolean
  /** The tables that it is written to; the first holds what was loaded. */
  readonly tables: readonly string[]
  /** The statements that merge it; `merge.ts` says what they are given and what they leave. */
  merge(dialect: Dialect): MergeSteps
  /**
   * How to ask, once `change` and `removal` are there, what the import changes of companies of
   * which its source has spoken before: what the source says of each, before and after.
   *
   * @param history the resource in which changes are recorded.
   */
  differences(dialect: Dialect, history: Resource): Differences
}

export interface Differences {
  /** Statements that the query needs. */
  readonly prepare: readonly string[]
  /**
   * Rows in the order of companies: `id`, `jurisdiction`, `identifier`, `as_of` (the day of the
   * change), `was_present`, `is_present`, `text`, and whether that `is_before` and `is_after`.
   */
  readonly query: string
}
