// The merge of an import's staged rows into the registry, as statements over sets: the steps of
// the embedded store, in PostgreSQL's words.
//
// stage     the rows as they were checked, in the order read
// placed    the same, small: company and id found or assigned, repetitions gone
// refused   those that only the registry could find fault with
// change    those that are new, or differ from what stands in their listing
// removal   what a snapshot lacks
// edit      where each listing changes: the first position that cannot stay
// pending   what stands from there on, cut off, to be appended again in order with what is new
//
// `$source`, `$version` and the like are the import's own numbers and words (never a source's, let
// alone a request's): `runSteps` in import.ts writes them in, since a table cannot be made of a
// statement with parameters. Temporary tables are analysed as they are made, as nothing else does
// it: without that, a plan that is good for a few rows would be taken for millions.

import type { Resource } from '../../resources/resource.ts'
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
import { placedCompany, placing } from './named-companies.ts'

const text = 'text collate "C"'

/** Temporary tables are the session's own, and gone with it. */
export const createStage = `
  create temp table stage (
    seq bigint not null,
    file integer not null, number bigint not null,
    company_id bigint, company_jurisdiction ${text}, company_identifier ${text},
    id bigint, key ${text}, sort ${text}, digest ${text},
    content ${text}, -- null for a row that was refused: it stands for its record, no more
    as_of ${text}
  );
  create temp table placed (
    seq bigint not null, company_id bigint, id bigint, sort ${text},
    digest ${text} -- null as content above
  );
  create temp table refused (seq bigint primary key, field text, value jsonb, reason text);
  create temp table newcomer (
    id bigint primary key, jurisdiction ${text}, identifier ${text},
    unique (jurisdiction, identifier)
  );`

/** Rows go into the stage in this form; see `copyLine`. */
export const copyStage = 'copy stage from stdin'

export const indexStage = ['create index on stage (seq)', 'analyze stage'] as const

// --- What every import does with its rows ----------------------------------------------------

export const indexPlaced = 'analyze placed'

/**
 * One identity has one content: the first row that brings it stands. Tables of their own tell the
 * planner how few they are, which it could not know of a subquery.
 */
export const refuseContradictions: readonly string[] = [
  findRepeated,
  'analyze repeated',
  `create temp table contradiction as
    select p.id, min(p.seq) as seq from repeated r join placed p on p.id = r.id
    where p.digest is not null
    group by p.id having min(p.digest) <> max(p.digest)`,
  'analyze contradiction',
  `
  insert into refused
    select p.seq,
      coalesce($contradictionField, case when s.key is null then 'id' else 'key' end),
      coalesce(to_jsonb(substr(s.key, 2)), to_jsonb(s.company_identifier), to_jsonb(p.id)),
      'was given before with other content, in $unit ' || first.number
    from contradiction double
    join placed p on p.id = double.id and p.digest is not null
    join placed kept on kept.seq = double.seq
    join stage first on first.seq = double.seq
    join stage s on s.seq = p.seq
    where p.digest <> kept.digest
  on conflict do nothing`,
]

export const dropRefused: readonly string[] = [
  'update placed p set digest = null from refused r where r.seq = p.seq',
  'analyze placed',
]

/** Rows that say the same of the same listing stand for one. */
export const dropRepetitions: readonly string[] = [
  `create temp table repetition as
    select p.seq, p.id
    from (
      select q.id, q.company_id, min(q.seq) as seq from repeated r join placed q on q.id = r.id
      where q.digest is not null
      group by q.id, q.company_id having count(*) > 1
    ) kept
    join placed p on p.id = kept.id and p.company_id = kept.company_id and p.digest is not null
      and p.seq > kept.seq`,
  'analyze repetition',
  'delete from placed p using repetition r where p.seq = r.seq',
]

/** Refuses the records in `beyond` (../types-limit.ts), with all rows that bring them. */
export const refuseBeyond: readonly string[] = [
  'analyze beyond',
  `insert into refused
    select p.seq, b.field, to_jsonb(b.value), b.reason
    from beyond b
    join (
      select seq, id from placed where digest is not null
      union all
      select seq, id from repetition
    ) p on p.id = b.id
  on conflict do nothing`,
  ...dropRefused,
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
      'analyze change',
      findCarriedChanges(name),
      findRemovals(name),
      'analyze removal',
      ...countTypes(resource),
    ],
    apply: applySteps(resource),
  }
}

/**
 * A record's text: its id, which may be the store's own, before the rest. `substr` would count the
 * characters of the whole.
 */
export const recordText = `'{"id":' || c.id || ',' || right(s.content, -1)`

/** The greatest id that is taken, or given away as if it were. */
const lastId = (name: string) => `greatest(
        $assignedIdMin - 1,
        $stagedId,
        (select max(id) from ${name}_ids),
        (select max(id) from ${name} where id < $assignedIdEnd)
      )`

/** Assigns an id to each natural key that this source has not brought before, for good. */
const assignIds = (name: string) => `
  insert into ${name}_ids (id, source_id, key)
    select ${lastId(name)} + row_number() over (order by min(s.seq)),
      $source, s.key
    from stage s
    where s.key is not null and s.content is not null
      and not exists (
        select from ${name}_ids i where i.source_id = $source and i.key = s.key
      )
    group by s.key`

const placeRecords = (name: string) => `
  insert into placed
    select s.seq, ${placedCompany}, coalesce(s.id, i.id), s.sort, s.digest
    from stage s ${placing}
    left join ${name}_ids i on i.source_id = $source and i.key = s.key`

/** An id belongs to the source that brought it first; where there is one source, nobody's else. */
const refuseForeignIds = (name: string) => `
  insert into refused
    select p.seq, 'id', to_jsonb(p.id), 'belongs to a record of the source ' || o.name
    from placed p
    join (
      select id, source_id from ${name}
      union all
      select id, source_id from ${name}_ids
    ) r on r.id = p.id
    join sources o on o.id = r.source_id
    where r.source_id <> $source and p.digest is not null
      and exists (select from sources where id <> $source)
  on conflict do nothing`

const findOwnChanges = (name: string) => `
  create temp table change as
    select p.seq, p.company_id, p.id, p.sort, p.digest, r.position, true as is_staged
    from placed p
    left join ${name} r on r.id = p.id and r.company_id = p.company_id
    where p.digest is not null and (r.digest is null or r.digest <> p.digest)`

/**
 * A changed record changes in all its listings, also in those that this import does not name. A
 * snapshot removes it from those, unless a refused row stands for it.
 */
const findCarriedChanges = (name: string) => `
  insert into change
    select distinct on (r.company_id, c.id)
      c.seq, r.company_id, c.id, c.sort, c.digest, r.position, false
    from change c
    join ${name} r on r.id = c.id
    where r.digest <> c.digest and not exists (
      select from placed p
      where p.id = c.id and p.company_id = r.company_id and p.digest is not null
    ) and (not $isSnapshot or exists (
      select from placed p where p.id = c.id and p.digest is null
    ))
    order by r.company_id, c.id, c.seq`

/** A refused row is not an absent one: the record that it stands for stays as it was. */
const findRemovals = (name: string) => `
  create temp table removal as
    select r.company_id, r.position
    from ${name} r
    where $isSnapshot and r.source_id = $source
      and not exists (
        select from placed p
        where p.id = r.id and (p.company_id = r.company_id or p.digest is null)
      )`

function applySteps(resource: Resource): readonly string[] {
  const { name, metaOf, order } = resource
  return [
    keepPast(name),
    createTouched,
    'analyze touched',
    findLarge(recordText),
    'analyze large',
    updateInPlace(name, recordText),
    settleMoves(name),
    dropUpdated(name),
    'analyze change',
    'analyze removal',
    findEdits(name, order.by === 'id' ? firstById : firstInOrder),
    'analyze edit',
    cutOff(name),
    deleteCutOff(name),
    append(name, recordText),
    ...(metaOf === undefined ? [] : [sumTypes(name), 'analyze new_meta']),
    writeHeads(name, metaOf),
  ]
}

function countTypes({ name, metaOf }: Resource): readonly string[] {
  return metaOf === undefined ? [] : [countTypesGone(name, metaOf), countTypesCome(metaOf)]
}

/** `meta` is kept by what comes and goes, never counted over a whole listing. */
const countTypesGone = (name: string, metaOf: string) => `
  create temp table type_change as
    select r.company_id, (r.record::json -> '${metaOf}')::${text} as type, -count(*) as n
    from ${gone} gone
    join ${name} r on r.company_id = gone.company_id and r.position = gone.position
    group by 1, 2`

const countTypesCome = (metaOf: string) => `
  insert into type_change
    select c.company_id, (s.content::json -> '${metaOf}')::${text}, count(*)
    from change c join stage s on s.seq = c.seq
    group by 1, 2`

// The same in any other order.
const firstInOrder = `
  select distinct on (company_id) company_id, sort, id
  from change order by company_id, sort, id`

/**
 * Looking for the place of a listing's first insertion goes backwards from its end: it costs what
 * has to be written again anyway, and one look where everything is appended.
 */
const findEdits = (name: string, firstOfCompany: string) => `
  create temp table edit as
    select company_id, min(position) as position from (
      select company_id, position from removal
      union all
      select first.company_id, coalesce((
        select r.position + 1 from ${name} r
        where r.company_id = first.company_id and (r.sort, r.id) < (first.sort, first.id)
        order by r.position desc limit 1
      ), 0)
      from (${firstOfCompany}) first
    ) place group by company_id`

const cutOff = (name: string) => `
  create temp table pending as
    select r.company_id, r.id, r.sort, r.source_id, r.version, r.digest, r.record
    from edit e
    join ${name} r on r.company_id = e.company_id and r.position >= e.position
    where not exists (
      select from removal g where g.company_id = r.company_id and g.position = r.position
    )`

const deleteCutOff = (name: string) => `
  delete from ${name} r using edit e
  where r.company_id = e.company_id and r.position >= e.position`

/** The types in the order of contract 3.7; `type` holds JSON text, quotes and all. */
const sumTypes = (name: string) => `
  create temp table new_meta as
    select company_id, '[' || string_agg(
        '{"type":' || type || ',"count":' || n || '}',
        ',' order by n desc, (type::json #>> '{}') collate "C"
      ) || ']' as meta
    from (
      select company_id, type, sum(n)::bigint as n from (
        select company_id, type, n from type_change
        union all
        select h.company_id, (e.value -> 'type')::${text}, (e.value ->> 'count')::bigint
        from touched t
        join heads h on h.company_id = t.company_id and h.resource = '${name}'
        cross join json_array_elements(h.meta::json) e
      ) counted group by company_id, type having sum(n) > 0
    ) summed group by company_id`

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
    order by t.company_id
  on conflict (company_id, resource) do update
    set total = excluded.total, version = excluded.version, meta = excluded.meta,
      largest = greatest(heads.largest, excluded.largest)`

/**
 * The statements that append records which the store has made itself, in `stage` after `$after`:
 * they are new, so that nothing has to be looked for.
 */
export function appendRecords(resource: Resource): readonly string[] {
  return [
    `create temp table change as
      select seq, company_id, ${lastId(resource.name)} + row_number() over (order by seq) as id,
        sort, digest, null::integer as position, true as is_staged
      from stage where seq > $after`,
    'analyze change',
    'create temp table removal (company_id bigint, position integer)',
    ...countTypes(resource),
    ...applySteps(resource),
  ]
}
