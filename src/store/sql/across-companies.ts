// The steps of a merge that compare rows of several companies: a natural key has one id, and an id
// one content, in whatever listings a record is. merge.ts describes their tables.

import type { Dialect } from './dialect.ts'
import { placedCompany, placing } from './named-companies.ts'

/** Statements on rows of several companies; `name` is that of a resource. */
export interface AcrossCompanies {
  /**
   * Assigns an id to each natural key that is new from this source, and fills `placed`.
   *
   * @param lastId SQL for the greatest id staged, used or assigned.
   */
  placeRecords(d: Dialect, name: string, lastId: string): readonly string[]
  /** Refuses ids that another source was the first to use. */
  refuseForeignIds(d: Dialect, name: string): readonly string[]
  /** Refuses what contradicts an earlier row with its id. */
  refuseContradictions(d: Dialect): readonly string[]
  /** Drops rows that repeat another row of the same listing, and keeps them in `repetition`. */
  dropRepetitions(d: Dialect): readonly string[]
  /** Adds to `change` the other listings in which a changed record is. */
  findCarriedChanges(d: Dialect, name: string): readonly string[]
  /** Makes `removal`: what a snapshot lacks. */
  findRemovals(d: Dialect, name: string): readonly string[]
  /** Refuses all rows of the records in `beyond`. */
  refuseBeyond(d: Dialect): readonly string[]
}

/** Those of a store that has all its tables in one database. */
export const acrossCompanies: AcrossCompanies = {
  placeRecords: (d, name, lastId) => [assignIds(name, lastId), placeRecords(d, name)],
  refuseForeignIds: (d, name) => [refuseForeignIds(d, name)],
  refuseContradictions,
  dropRepetitions,
  findCarriedChanges: (d, name) => [findCarriedChanges(d, name)],
  findRemovals: (d, name) => [findRemovals(d, name)],
  refuseBeyond: (d) => [refuseBeyond(d)],
}

/** Permanently assigns an id to each natural key that is new from this source. */
const assignIds = (name: string, lastId: string) => `
  insert into ${name}_ids (id, source_id, key)
    select ${lastId} + row_number() over (order by min(s.seq)),
      $source, s.key
    from stage s
    where s.key is not null and s.content is not null
      and not exists (select 1 from ${name}_ids i where i.source_id = $source and i.key = s.key)
    group by s.key`

const placeRecords = (d: Dialect, name: string) => `
  insert into placed (seq, company_id, id, sort, bytes, digest)
    select s.seq, ${placedCompany(d)}, coalesce(s.id, i.id), s.sort, octet_length(s.content),
      s.digest
    from stage s ${placing(d)}
    left join ${name}_ids i on i.source_id = $source and i.key = s.key`

/** Refuses ids that another source was the first to use; with a single source there are none. */
const refuseForeignIds = (d: Dialect, name: string) => `
  insert into refused
    select p.seq, 'id', ${d.anyValueOf('p.id')}, 'belongs to a record of the source ' || o.name
    from placed p
    join (
      select id, source_id from ${d.byId(name)}
      union all
      select id, source_id from ${name}_ids
    ) r on r.id = p.id
    join sources o on o.id = r.source_id
    where r.source_id <> $source and p.digest is not null
      and exists (select 1 from sources where id <> $source)
    on conflict do nothing`

/**
 * A changed record changes in all its listings, including those that this import does not mention.
 * A snapshot removes it from those, unless the record has a refused row. (By now, rows of one id
 * have the same content, and a listing contains a record once: `min` picks the only value of a
 * group.)
 */
const findCarriedChanges = (d: Dialect, name: string) => `
  insert into change
    select min(c.seq), r.company_id, c.id, min(c.sort), min(c.digest), min(c.bytes),
      min(r.position), false
    from change c
    join ${d.byId(name, 'r')} on r.id = c.id
    where r.digest <> c.digest and not exists (
      select 1 from placed p
      where p.id = c.id and p.company_id = r.company_id and p.digest is not null
    ) and (not $isSnapshot or exists (
      select 1 from placed p where p.id = c.id and p.digest is null
    ))
    group by r.company_id, c.id`

/** A refused row does not make its record absent: the record is kept unchanged. */
const findRemovals = (d: Dialect, name: string) => `
  create temp table removal as
    select r.company_id, r.position
    from ${d.byId(name, 'r')}
    where $isSnapshot and r.source_id = $source
      and not exists (
        select 1 from placed p
        where p.id = r.id and (p.company_id = r.company_id or p.digest is null)
      )`

/** An id must have one content: the first row with an id is kept. */
function refuseContradictions(d: Dialect): readonly string[] {
  return [
    // The ids that occur more than once. They are few, so contradictions and repetitions are
    // searched for among these only.
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
}

/** Drops rows that repeat another row of the same listing. */
function dropRepetitions(d: Dialect): readonly string[] {
  return [
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
}

const refuseBeyond = (d: Dialect) => `
  insert into refused
    select p.seq, b.field, ${d.anyValueOf('b.value')}, b.reason
    from beyond b
    join (
      select seq, id from placed where digest is not null
      union all
      select seq, id from repetition
    ) p on p.id = b.id
    where true
    on conflict do nothing`
