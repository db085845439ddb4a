// The former heads of a resource's listings: the state that each listing had in earlier versions.
//
// A head is kept when an import replaces it, as records are: a listing's total, meta and version at
// version 7 are those of the row with `version <= 7 and until > 7`, or of the head itself.

import type { Resource } from '../../resources/resource.ts'
import type { Dialect } from './dialect.ts'
import { type ColumnTypes, recordsOf } from './pieces.ts'
import { metaOfCounts } from './type-counts.ts'

export const pastHeadsOf = (name: string) => `${name}_heads_past`

/** Columns of former heads; the versions between which they were current. */
export function pastHeadColumns({ id, text }: ColumnTypes): string {
  return `
      company_id ${id} not null,
      until integer not null,
      version integer not null,
      total integer not null,
      meta ${text},
      primary key (company_id, until)`
}

/** Keeps the heads of the listings in a table with `company_id`; `$version` replaces them. */
export const keepHeads = (name: string, listings: string) => `
  insert into ${pastHeadsOf(name)} (company_id, until, version, total, meta)
    select h.company_id, $version, h.version, h.total, h.meta
    from ${listings} t
    join heads h on h.company_id = t.company_id and h.resource = '${name}'
    where h.version < $version
    order by h.company_id`

/**
 * Fills the table of a store of an earlier format from the records and their past states. What was
 * pruned is not missed: no version before the earliest one can be asked for.
 */
export function findPastHeads(d: Dialect, { name, metaOf }: Resource): readonly string[] {
  const fill = `
    insert into ${pastHeadsOf(name)} (company_id, until, version, total, meta)
      select company_id, until, version, total, null from (${formerStates(name)}) found
      order by company_id, until`
  return metaOf === undefined ? [fill] : [fill, countMeta(d, name, metaOf)]
}

/** The former states of listings, counted over records and their past states. */
const formerStates = (name: string) => `
    select company_id, version, until, total from (
      select company_id, version,
        lead(version) over listing as until,
        sum(n) over (partition by company_id order by version) as total
      from (
        select company_id, version, sum(n) as n from (
          select company_id, version, 1 as n from ${name}
          union all
          select company_id, version, 1 from ${name}_past
          union all
          select company_id, until, -1 from ${name}_past
        ) change group by company_id, version
      ) changed
      window listing as (partition by company_id order by version)
    ) state
    where until > (select past_from from store)`

/**
 * Former heads that do not match the records, as `company_id` and `until`. A company that was
 * forgotten and is known again had no head in between, the head of an empty listing ends with its
 * company, and a head's version may have been pruned.
 */
export const pastHeadFaults = (d: Dialect, { name, metaOf }: Resource) => `
  select coalesce(f.company_id, h.company_id) as company_id, coalesce(f.until, h.until) as until
  from (${formerStates(name)}) f
  full join ${pastHeadsOf(name)} h on h.company_id = f.company_id and h.until = f.until
  where coalesce(f.total, -1) <> coalesce(h.total, case when f.total = 0 then 0 else -2 end)
      and not (f.company_id is null and h.total = 0 and exists (
        select 1 from companies_past c where c.company_id = h.company_id and c.until = h.until
      ))
    or h.version > f.version and h.version > (select past_from from store)
    or h.version < f.version
    ${
      metaOf === undefined
        ? ''
        : `or h.total <> coalesce((
            select sum(cast(e.value ->> 'count' as bigint)) from ${d.jsonElements('h.meta', 'e')}
          ), 0)`
    }`

const countMeta = (d: Dialect, name: string, metaOf: string) => `
  update ${pastHeadsOf(name)} set meta = coalesce((
    select meta from (${metaOfCounts(
      d,
      `select company_id, type, count(*) as n from (
        select r.company_id, ${d.jsonMember('r.record', metaOf)} as type
        from ${recordsOf(name)} r
        where r.company_id = ${pastHeadsOf(name)}.company_id
          and r.version <= ${pastHeadsOf(name)}.version
        union all
        select r.company_id, ${d.jsonMember('r.record', metaOf)}
        from ${name}_past r
        where r.company_id = ${pastHeadsOf(name)}.company_id
          and r.version <= ${pastHeadsOf(name)}.version
          and r.until > ${pastHeadsOf(name)}.version
      ) counted group by company_id, type`,
    )}) listing
  ), '[]')`
