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

/** An id must have one content: the first row with an id is kept. */
export const refuseContradictions = (d: Dialect): readonly string[] => [
  // The ids that occur more than once. They are few, so contradictions and repetitions are searched
  // for among these only.
  `create temp table repeated as
    select id from placed where digest is not null group by id having count(*) > 1`,
  ...d.filled('repeated'),
  // A separate table shows the planner how few rows these are, unlike a subquery.
  `create temp table contradiction as
    select p.id, min(p.seq) as seq from repeated r join placed p on p.id = r.id
    where p.digest is not null
    group by p.id having min(p.digest) <> max(p.digest)`,
  ...d.filled('contradiction'),
  `insert into refused
    select p.seq, coalesce($contradictionField, case when s.key is null then 'id' else 'key' end),
      coalesce(
        ${d.anyValueOf('substr(s.key, 2)')},
        ${d.anyValueOf('s.company_identifier')},
        ${d.anyValueOf('p.id')}
      ),
      'was given before with other content, in ' || $unit || ' ' || first.number
    from contradiction double
    join placed p on p.id = double.id and p.digest is not null
    join placed kept on kept.seq = double.seq
    join stage first on first.seq = double.seq
    join stage s on s.seq = p.seq
    where p.digest <> kept.digest
    on conflict do nothing`,
]

export const dropRefused = (d: Dialect): readonly string[] => [
  'update placed set digest = null where seq in (select seq from refused)',
  ...d.filled('placed'),
]

/** Drops rows that repeat another row of the same listing. */
export const dropRepetitions = (d: Dialect): readonly string[] => [
  `create temp table repetition as
    select p.seq, p.id
    from (
      select q.id, q.company_id, min(q.seq) as seq from repeated r join placed q on q.id = r.id
      where q.digest is not null
      group by q.id, q.company_id having count(*) > 1
    ) kept
    join placed p on p.id = kept.id and p.company_id = kept.company_id and p.digest is not null
      and p.seq > kept.seq`,
  ...d.filled('repetition'),
  'delete from placed where seq in (select seq from repetition)',
]

/** Refuses the records in `beyond` (types-limit.ts), with all their rows. */
export const refuseBeyond = (d: Dialect): readonly string[] => [
  ...d.filled('beyond'),
  `insert into refused
    select p.seq, b.field, ${d.anyValueOf('b.value')}, b.reason
    from beyond b
    join (
      select seq, id from placed where digest is not null
      union all
      select seq, id from repetition
    ) p on p.id = b.id
    where true
    on conflict do nothing`,
  ...dropRefused(d),
]
