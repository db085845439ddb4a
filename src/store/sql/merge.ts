// The merge of an import's staged rows into the registry, as statements on sets.
//
// stage     the checked rows, in the order read
// placed    the same, reduced: company and id found or assigned, repetitions removed
// refused   the rows that only a comparison with others or the registry could refuse
// change    the rows that are new, or differ from what is stored
// removal   what a snapshot lacks
//
// `$source`, `$version` etc. are the import's own values (never from a source's rows, let alone a
// request): see `prepareMerge` in import.ts. This file has the steps that all imports share; those
// specific to a target are in merge-records.ts, write-records.ts and merge-companies.ts.

import type { Dialect } from './dialect.ts'

/** The statements that differ between targets, in the order in which they run. */
export interface MergeSteps {
  readonly place: readonly string[]
  readonly refuse: readonly string[]
  readonly findChanges: readonly string[]
  /** @param isFirst whether the target's first table is still empty. */
  apply(isFirst: boolean): readonly string[]
  /** Make `spoken`, for `keepNames`; undefined if names do not depend on the target. */
  readonly spoken?: readonly string[]
}

/** The positions of records that are removed or replaced. */
export const gone = `(
      select company_id, position from removal
      union all
      select company_id, position from change where position is not null
    )`

/** Drops temporary tables that an earlier part of the same work may have made. */
export const dropTemporary = (d: Dialect, ...names: readonly string[]): readonly string[] =>
  names.map((name) => `drop table if exists ${d.temporary}.${name}`)

/** Creates the tables of every merge, except `stage`, which the connection creates. */
export const createTables = (d: Dialect): readonly string[] => [
  `create temp table placed (
    seq ${d.rowKey}, company_id bigint, id bigint, sort ${d.text},
    bytes integer, -- of the content
    digest ${d.text} -- null for a refused row, which only identifies its record
  )`,
  `create temp table refused (
    seq ${d.integer} primary key, field text, value ${d.anyValue}, reason text
  )`,
]

export const dropRefused = (d: Dialect): readonly string[] => [
  'update placed set digest = null where seq in (select seq from refused)',
  ...d.filled('placed'),
]

/** Refuses the records in `beyond` (types-limit.ts), with all their rows. */
export const refuseBeyond = (d: Dialect): readonly string[] => [
  ...d.filled('beyond'),
  ...d.across.refuseBeyond(d),
  ...dropRefused(d),
]
