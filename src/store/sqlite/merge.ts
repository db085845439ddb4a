// The merge of an import's staged rows into the registry, as statements over sets.
//
// stage     the rows as they were checked, in the order read
// placed    the same, small: company and id found or assigned, repetitions gone
// refused   those that only the registry could find fault with
// change    those that are new, or differ from what stands in their listing
// removal   what a snapshot lacks
// edit      where each listing changes: the first position that cannot stay
// pending   what stands from there on, cut off, to be appended again in order with what is new
//
// So there is one way to write records, appending; news at a listing's end cut nothing off.

import type { Resource } from '../../resources/resource.ts'
import { createIdIndex, dropIdIndex } from './schema.ts'
import {
  append,
  createTouched,
  dropUpdated,
  findLarge,
  findRepeated,
  firstById,
  gone,
  keepPast,
  type MergeSteps,
  settleMoves,
  updateInPlace,
} from '../merge-steps.ts'
import { greatestId, namedCompany, placedCompany } from './named-companies.ts'

/** Temporary tables live in a database of SQLite's own that is gone with the process. */
export const createStage = `
  create temp table stage (
    seq integer primary key,
    file integer not null, number integer not null,
    company_id integer, company_jurisdiction text, company_identifier text,
    id integer, key text, sort text, digest text,
    content text, -- null for a row that was refused: it stands for its record, no more
    as_of text
  );
  create temp table placed (
    seq integer primary key, company_id integer, id integer, sort text,
    digest text -- null as content above
  );
  create temp table refused (seq integer primary key, field text, value, reason text);`

// --- What every import does with its rows ----------------------------------------------------

export const indexPlaced = 'create index temp.placed_by_id on placed (id, company_id, digest)'

/** One identity has one content: the first row that brings it stands. */
export const refuseContradictions: readonly string[] = [
  findRepeated,
  `insert or ignore into refused
    select p.seq, coalesce($contradictionField, iif(s.key is null, 'id', 'key')),
      coalesce(substr(s.key, 2), s.company_identifier, p.id),
      'was given before with other content, in ' || $unit || ' ' || first.number
    from (
      select p.id, min(p.seq) as seq from repeated r join placed p on p.id = r.id
      where p.digest is not null
      group by p.id having min(p.digest) <> max(p.digest)
    ) double
    join placed p on p.id = double.id and p.digest is not null
    join placed kept on kept.seq = double.seq
    join stage first on first.seq = double.seq
    join stage s on s.seq = p.seq
    where p.digest <> kept.digest`,
]

export const dropRefused = 'update placed set digest = null where seq in (select seq from refused)'

/** Rows that say the same of the same listing stand for one. */
export const dropRepetitions: readonly string[] = [
  `create temp table repetition as
    select seq, id from placed
    where id in (select id from repeated) and digest is not null and seq not in (
      select min(p.seq) from repeated r join placed p on p.id = r.id
      where p.digest is not null group by p.id, p.company_id
    )`,
  'delete from placed where seq in (select seq from repetition)',
]

/** Refuses the records in `beyond` (../types-limit.ts), with all rows that bring them. */
export const refuseBeyond: readonly string[] = [
  `insert or ignore into refused
    select p.seq, b.field, b.value, b.reason
    from beyond b
    join (
      select seq, id from placed where digest is not null
      union all
      select seq, id from repetition
    ) p on p.id = b.id`,
  dropRefused,
]

// --- A resource's records --------------------------------------------------------------------

/** The statements that merge records of one resource, in the order in which they run. */
export function mergeRecords(resource: Resource): MergeSteps {
  const { name } = resource
  return {
    place: [assignIds(name), placeRecords(name)],
    refuse: [refuseForeignIds(name)],
    findChanges: [
      findOwnChanges(name),
      findCarriedChanges(name),
      findRemovals(name),
      ...countTypes(resource),
    ],
    apply: applySteps(resource),
  }
}

/** A record's text: its id, which may be the store's own, before the rest. */
export const recordText = `'{"id":' || c.id || ',' || substr(s.content, 2)`

/** The greatest id that is taken, or given away as if it were; a bound number is no integer. */
const lastId = (name: string) => `cast(max(
        $assignedIdMin - 1,
        $stagedId,
        coalesce((select max(id) from ${name}_ids), 0),
        ${greatestId(name)}
      ) as integer)`

/** Assigns an id to each natural key that this source has not brought before, for good. */
const assignIds = (name: string) => `
  insert into ${name}_ids (id, source_id, key)
    select ${lastId(name)} + row_number() over (order by min(s.seq)),
      $source, s.key
    from stage s
    where s.key is not null and s.content is not null
      and not exists (select 1 from ${name}_ids i where i.source_id = $source and i.key = s.key)
    group by s.key`

const placeRecords = (name: string) => `
  insert into placed
    select s.seq, ${placedCompany}, coalesce(s.id, i.id), s.sort, s.digest
    from stage s ${namedCompany}
    left join ${name}_ids i on i.source_id = $source and i.key = s.key
    order by s.seq`

/** An id belongs to the source that brought it first. */
const refuseForeignIds = (name: string) => `
  insert or ignore into refused
    select p.seq, 'id', p.id, 'belongs to a record of the source ' || o.name
    from placed p
    join (
      select id, source_id from ${name} indexed by ${name}_by_id
      union all
      select id, source_id from ${name}_ids
    ) r on r.id = p.id
    join sources o on o.id = r.source_id
    where r.source_id <> $source and p.digest is not null`

const findOwnChanges = (name: string) => `
  create temp table change as
    select p.seq, p.company_id, p.id, p.sort, p.digest, r.position, 1 as is_staged
    from placed p
    left join ${name} r indexed by ${name}_by_id on r.id = p.id and r.company_id = p.company_id
    where p.digest is not null and (r.digest is null or r.digest <> p.digest)`

/**
 * A changed record changes in all its listings, also in those that this import does not name. A
 * snapshot removes it from those, unless a refused row stands for it.
 */
const findCarriedChanges = (name: string) => `
  insert into change
    select min(c.seq), r.company_id, c.id, c.sort, c.digest, r.position, 0
    from change c
    join ${name} r indexed by ${name}_by_id on r.id = c.id
    where r.digest <> c.digest and not exists (
      select 1 from placed p
      where p.id = c.id and p.company_id = r.company_id and p.digest is not null
    ) and (not $isSnapshot or exists (
      select 1 from placed p where p.id = c.id and p.digest is null
    ))
    group by r.company_id, c.id`

/** A refused row is not an absent one: the record that it stands for stays as it was. */
const findRemovals = (name: string) => `
  create temp table removal as
    select r.company_id, r.position
    from ${name} r indexed by ${name}_by_id
    where $isSnapshot and r.source_id = $source
      and not exists (
        select 1 from placed p
        where p.id = r.id and (p.company_id = r.company_id or p.digest is null)
      )`

function applySteps(resource: Resource): readonly string[] {
  const { name, metaOf, order } = resource
  return [
    keepPast(name),
    createTouched,
    findLarge(recordText),
    updateInPlace(name, recordText),
    settleMoves(name),
    dropUpdated(name),
    'create index temp.removal_by_position on removal (company_id, position)',
    'create temp table edit (company_id integer primary key, position integer)',
    findEdits(name, order.by === 'id' ? firstById : firstInOrder),
    cutOff(name),
    deleteCutOff(name),
    append(name, recordText),
    ...(metaOf === undefined ? [] : [sumTypes(name)]),
    writeHeads(name, metaOf),
  ]
}

function countTypes({ name, metaOf }: Resource): readonly string[] {
  return metaOf === undefined ? [] : [countTypesGone(name, metaOf), countTypesCome(metaOf)]
}

/** `meta` is kept by what comes and goes, never counted over a whole listing. */
const countTypesGone = (name: string, metaOf: string) => `
  create temp table type_change as
    select r.company_id, r.record -> '${metaOf}' as type, -count(*) as n
    from ${gone} gone
    join ${name} r on r.company_id = gone.company_id and r.position = gone.position
    group by 1, 2`

const countTypesCome = (metaOf: string) => `
  insert into type_change
    select c.company_id, s.content -> '${metaOf}', count(*)
    from change c join stage s on s.seq = c.seq
    group by 1, 2`

// The same in any other order.
const firstInOrder = `
  select company_id, sort, id from (
    select company_id, sort, id,
      row_number() over (partition by company_id order by sort, id) as n
    from change
  ) where n = 1`

/**
 * Looking for the place of a listing's first insertion goes backwards from its end: it costs what
 * has to be written again anyway, and one look where everything is appended.
 */
const findEdits = (name: string, firstOfCompany: string) => `
  insert into edit
    select company_id, min(position) as position from (
      select company_id, position from removal
      union all
      select company_id, coalesce((
        select r.position + 1 from ${name} r
        where r.company_id = first.company_id and (r.sort, r.id) < (first.sort, first.id)
        order by r.position desc limit 1
      ), 0)
      from (${firstOfCompany}) first
    ) group by company_id order by company_id`

const cutOff = (name: string) => `
  create temp table pending as
    select r.company_id, r.id, r.sort, r.source_id, r.version, r.digest, r.record
    from edit e
    cross join ${name} r on r.company_id = e.company_id and r.position >= e.position
    where not exists (
      select 1 from removal g where g.company_id = r.company_id and g.position = r.position
    )`

const deleteCutOff = (name: string) => `
  delete from ${name} where (company_id, position) in (
    select r.company_id, r.position
    from edit e cross join ${name} r on r.company_id = e.company_id and r.position >= e.position
  )`

/** The types in the order of contract 3.7; `type` holds JSON text, quotes and all. */
const sumTypes = (name: string) => `
  create temp table new_meta as
    select company_id, '[' || group_concat(
        '{"type":' || type || ',"count":' || n || '}', ',' order by n desc, type ->> '$'
      ) || ']' as meta
    from (
      select company_id, type, sum(n) as n from (
        select company_id, type, n from type_change
        union all
        select h.company_id, e.value -> 'type', e.value ->> 'count'
        from touched t
        join heads h on h.company_id = t.company_id and h.resource = '${name}'
        join json_each(h.meta) e
      ) group by company_id, type having sum(n) > 0
    ) group by company_id`

const writeHeads = (name: string, metaOf: string | undefined) => `
  insert into heads (company_id, resource, total, version, meta, largest)
    select t.company_id, '${name}',
      coalesce((
        select r.position + 1 from ${name} r where r.company_id = t.company_id
        order by r.position desc limit 1
      ), 0),
      $version, ${metaOf === undefined ? 'null' : "coalesce(m.meta, '[]')"}, l.bytes
    from touched t
    ${metaOf === undefined ? '' : 'left join new_meta m on m.company_id = t.company_id'}
    left join large l on l.company_id = t.company_id
    where true order by t.company_id
  on conflict do update
    set total = excluded.total, version = excluded.version, meta = excluded.meta,
      largest = max(coalesce(largest, excluded.largest), coalesce(excluded.largest, largest))`

/**
 * The statements that append records which the store has made itself, in `stage` after `$after`:
 * they are new, so that nothing has to be looked for.
 */
export function appendRecords(resource: Resource): readonly string[] {
  const { name } = resource
  return [
    `create temp table change as
      select seq, company_id, ${lastId(name)} + row_number() over (order by seq) as id,
        sort, digest, null as position, 1 as is_staged
      from stage where seq > $after`,
    'create temp table removal (company_id integer, position integer)',
    ...countTypes(resource),
    ...applySteps(resource),
  ]
}

/** A first load builds the index once, sorted, rather than row by row. */
export function withoutIdIndex(resource: Resource, steps: readonly string[]): readonly string[] {
  return [dropIdIndex(resource), ...steps, createIdIndex(resource)]
}
