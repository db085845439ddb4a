// What an import loads, as a store sees it. (The checks that its rows pass before are in
// src/import/import-target.ts.)

import type { Resource } from '../resources/resource.ts'
import type { Dialect } from './sql/dialect.ts'
import type { MergeSteps } from './sql/merge.ts'

export interface LoadTarget {
  /** Its name on the command line and in the log of imports. */
  readonly name: string
  /** The source's columns that name a row's company, for messages. */
  readonly columns: { readonly companyId: string; readonly companyIdentifier: string }
  /** The field named in messages about contradictory rows; null for the row's `id` or `key`. */
  readonly contradictionField: string | null
  /** The field whose values `meta` counts (contract 3.7); undefined if there is no `meta`. */
  readonly metaOf: string | undefined
  /** The number of filter values in each of its rows. */
  readonly filterCount: number
  /** Whether rows may state their own day (`asOf`). */
  readonly hasRowDays: boolean
  /** Whether an unknown company that a row names only by id is created. */
  readonly isMadeById: boolean
  /** The tables that the merge writes; the first one holds the loaded data. */
  readonly tables: readonly string[]
  /**
   * A query of which sources have each company in `sample` (`company_id`): `company_id` and
   * `source_id`, each pair once. Of a long listing, it may look at the first records only.
   */
  readonly companySources: string
  /** The statements that merge it; `merge.ts` describes their input and results. */
  merge(dialect: Dialect): MergeSteps
  /**
   * How to query what the import changes in companies that its source had mentioned before: the
   * source's statement about each, before and after. Needs the tables `change` and `removal`.
   *
   * @param history the resource in which changes are recorded.
   */
  differences(dialect: Dialect, history: Resource): Differences
  /**
   * The statements that take back what versions have changed: those in the table `reverted`, of
   * which `$first` is the earliest, and which are all later ones of their source and target.
   */
  revert(dialect: Dialect): RevertSteps
}

export interface RevertSteps {
  /** Fill `change` with what comes back, and `removal` with what goes, as those of a merge do. */
  readonly find: readonly string[]
  readonly apply: readonly string[]
  /** As those of a merge; run before `apply`. */
  readonly spoken?: readonly string[]
}

export interface Differences {
  /** Statements that the query needs. */
  readonly prepare: readonly string[]
  /**
   * Rows in the order of companies: `id`, `jurisdiction`, `identifier`, `as_of` (the day of the
   * change), `was_present`, `is_present`, `text`, and whether the text `is_before` and `is_after`.
   */
  readonly query: string
}
