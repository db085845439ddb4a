// The statements of a merge that are the same in every store, word for word. Where a store's own
// words are needed, they stand in its folder; the steps as a whole, too.

import { largeRecordBytes } from './page-size.ts'

/** The statements that differ between records and companies, in the order in which they run. */
export interface MergeSteps {
  readonly place: readonly string[]
  readonly refuse: readonly string[]
  readonly findChanges: readonly string[]
  readonly apply: readonly string[]
}

/** The places of what no longer stands as it was: removed, or to be replaced. */
export const gone = `(
      select company_id, position from removal
      union all
      select company_id, position from change where position is not null
    )`

/** What no longer stands moves to the past, in the transaction that replaces it. */
export const keepPast = (name: string) => `
  insert into ${name}_past
    (company_id, until, id, version, source_id, sort, digest, record)
    select r.company_id, $version, r.id, r.version, r.source_id, r.sort, r.digest, r.record
    from ${gone} gone
    join ${name} r on r.company_id = gone.company_id and r.position = gone.position
    order by r.company_id, r.id`

/**
 * The ids that come more than once. Hardly any do: what contradicts or repeats another row is
 * looked for among these alone.
 */
export const findRepeated = `
  create temp table repeated as
    select id from placed where digest is not null group by id having count(*) > 1`

export const createTouched = `
  create temp table touched as
    select company_id from change union select company_id from removal`

/**
 * The largest of each listing's records that come, where it is large (`page-size.ts`).
 *
 * @param recordText as that of `updateInPlace`.
 */
export const findLarge = (recordText: string) => `
  create temp table large as
    select c.company_id, max(octet_length(${recordText})) as bytes
    from change c join stage s on s.seq = c.seq
    where octet_length(s.content) > ${largeRecordBytes - idBytesMax}
    group by c.company_id`

/** What a record's id adds to its content: `"id":`, a number and a comma. */
const idBytesMax = 22

/**
 * A record whose place in the order stays is replaced where it stands.
 *
 * @param recordText is the text of a record, of `change c` and `stage s`, in the store's words.
 */
export const updateInPlace = (name: string, recordText: string) => `
  update ${name} set version = $version, digest = new.digest, record = new.record
  from (
    select c.company_id, c.position, c.sort, c.digest, ${recordText} as record
    from change c join stage s on s.seq = c.seq
    where c.position is not null
  ) new
  where ${name}.company_id = new.company_id and ${name}.position = new.position
    and ${name}.sort = new.sort`

/** A record whose place in the order moves leaves the old one, and comes anew. */
export const settleMoves = (name: string) => `
  insert into removal
    select c.company_id, c.position
    from change c
    join ${name} r on r.company_id = c.company_id and r.position = c.position
    where c.sort <> r.sort`

export const dropUpdated = (name: string) => `
  delete from change where position is not null and exists (
    select 1 from ${name} r
    where r.company_id = change.company_id and r.position = change.position
      and r.sort = change.sort
  )`

/** The first of each listing's insertions, where its order is that of ids. */
export const firstById = `
  select company_id, '' as sort, min(id) as id from change group by company_id`

/** @param recordText as that of `updateInPlace`. */
export const append = (name: string, recordText: string) => `
  insert into ${name} (company_id, position, id, sort, source_id, version, digest, record)
    select n.company_id,
      e.position - 1 + row_number() over (partition by n.company_id order by n.sort, n.id),
      n.id, n.sort, n.source_id, n.version, n.digest, n.record
    from (
      select company_id, id, sort, source_id, version, digest, record from pending
      union all
      select c.company_id, c.id, c.sort, $source, $version, c.digest, ${recordText}
      from change c join stage s on s.seq = c.seq
    ) n
    join edit e on e.company_id = n.company_id`

/** What no longer holds moves to the past, in the transaction that replaces it. */
export const keepAttributes = `
  insert into company_attributes_past
    (company_id, until, source_id, version, digest, attributes, as_of)
    select company_id, $version, source_id, version, digest, attributes, as_of
    from company_attributes
    where source_id = $source and is_present and company_id in (
      select company_id from removal union select company_id from change
    )
    order by company_id`

/** The rows that say something else of a company than its source did, or that it is there again. */
export const findDiffering = `
  create temp table differing as
    select p.seq, p.company_id, p.digest, a.digest as known, a.is_present, a.as_of
    from placed p
    left join company_attributes a on a.company_id = p.company_id and a.source_id = $source
    where p.digest is not null
      and (a.digest is null or a.digest <> p.digest or not a.is_present)`

/** Those that were not refused; a company that comes back is as new as one that comes first. */
export const changeDiffering = `
  create temp table change as
    select d.seq, d.company_id, d.digest, case when d.is_present then d.known end as position,
      true as is_staged
    from differing d
    where exists (select 1 from placed p where p.seq = d.seq and p.digest is not null)`

/** The companies that change and of which the source has spoken before. */
export const changedAttributes = `
  from change c
  join stage s on s.seq = c.seq
  join company_attributes a on a.company_id = c.company_id and a.source_id = $source`

/**
 * The touched companies in which the source has had records before. The first state of a company
 * is no change. Where its last record has gone, the past tells that it had some, and so does what
 * was recorded of it, which outlasts the past when that is pruned.
 */
export const findSighted = (name: string, history: string) => `
  create temp table sighted as
    select t.company_id from (
      select company_id from change union select company_id from removal
    ) t
    where exists (
      select 1 from ${name} r where r.company_id = t.company_id and r.source_id = $source
    ) or exists (
      select 1 from ${name}_past p where p.company_id = t.company_id and p.source_id = $source
    ) or exists (
      select 1 from ${history} h
      where h.company_id = t.company_id and h.source_id = $recordingSource
    )`
