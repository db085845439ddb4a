// The merge of a resource's records. Uses these tables besides those of merge.ts:
//
// edit      where each listing changes: the first position that cannot stay, and the start of its
//           piece (pieces.ts)
// cut       the positions that are written again: in each listing the pieces from there on, and
//           those in which a record is replaced
// pending   the records that stay of them
// laid      those and the new ones, in order
//
// So records are written in one way only, in whole pieces; if all new ones come last, only the last
// piece of each listing is written again.

import { filterColumns } from '../../resources/filters.ts'
import { companyColumns, type Resource } from '../../resources/resource.ts'
import type { Differences, LoadTarget } from '../load-target.ts'
import type { Dialect } from './dialect.ts'
import { largeRecordBytes } from '../page-size.ts'
import { gone, type MergeSteps } from './merge.ts'
import { placedCompany, placing } from './named-companies.ts'
import { createLaid, lay, piecesOf, recordsOf, writeLaid } from './pieces.ts'
import { countTypes, sumTypes } from './type-counts.ts'

/** The records of one resource. */
export function recordsTarget(resource: Resource): LoadTarget {
  const { name } = resource
  const [companyId, , companyIdentifier] = companyColumns
  return {
    name,
    columns: { companyId, companyIdentifier },
    contradictionField: null,
    metaOf: resource.metaOf,
    hasRowDays: false,
    isMadeById: true,
    filterCount: filterColumns(resource).length,
    tables: [name, piecesOf(name), `${name}_ids`, 'heads'],
    merge: (d) => mergeRecords(d, resource),
    differences: (d, history) => listingDifferences(d, name, history.name),
  }
}

function mergeRecords(d: Dialect, resource: Resource): MergeSteps {
  const { name } = resource
  return {
    place: [assignIds(d, name), placeRecords(d, name)],
    refuse: [refuseForeignIds(d, name)],
    findChanges: [
      findOwnChanges(d, name),
      ...d.filled('change'),
      findCarriedChanges(d, name),
      findRemovals(d, name),
      ...d.filled('removal'),
      ...typeCounts(d, resource),
    ],
    apply: (isFirst) => applySteps(d, resource, isFirst),
  }
}

function typeCounts(d: Dialect, { name, metaOf }: Resource): readonly string[] {
  return metaOf === undefined ? [] : countTypes(d, name, metaOf)
}

/** A record's text: its id, which the store may have assigned, and its content in `stage s`. */
const recordText = (d: Dialect, id: string) =>
  `'{"id":' || ${id} || ',' || ${d.withoutFirst('s.content')}`

/** The length of that text, given the length of the content. */
const recordBytes = (id: string, contentBytes: string) =>
  `${contentBytes} + length(cast(${id} as text)) + ${'"id":,'.length}`

/** The greatest id staged, used or assigned; cast, because numbers may be bound as floats. */
const lastId = ({ greatest }: Dialect, name: string) => `cast(${greatest}(
        $assignedIdMin - 1,
        $stagedId,
        coalesce((select max(id) from ${name}_ids), 0),
        coalesce((select max(id) from ${name} where id < $assignedIdEnd), 0)
      ) as bigint)`

/** Permanently assigns an id to each natural key that is new from this source. */
const assignIds = (d: Dialect, name: string) => `
  insert into ${name}_ids (id, source_id, key)
    select ${lastId(d, name)} + row_number() over (order by min(s.seq)),
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

const findOwnChanges = (d: Dialect, name: string) => `
  create temp table change as
    select p.seq, p.company_id, p.id, p.sort, p.digest, ${recordBytes('p.id', 'p.bytes')} as bytes,
      r.position, true as is_staged
    from placed p
    left join ${d.byId(name, 'r')} on r.id = p.id and r.company_id = p.company_id
    where p.digest is not null and (r.digest is null or r.digest <> p.digest)`

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

function applySteps(d: Dialect, resource: Resource, isFirst: boolean): readonly string[] {
  const { name, metaOf, order } = resource
  const { before, after } = isFirst ? d.firstLoad(resource) : { before: [], after: [] }
  return [
    ...before,
    keepPast(name),
    `create temp table touched as
      select company_id from change union select company_id from removal`,
    ...d.filled('touched'),
    ...d.filled('removal', 'company_id, position'),
    removeMoved(name),
    insertRemoved,
    `create temp table edit (company_id ${d.rowKey}, position integer, start integer)`,
    findEdits(name, order.by === 'id' ? firstById : firstInOrder),
    ...d.filled('edit'),
    removeFollowing,
    insertRemoved,
    ...d.filled('change'),
    'create temp table cut (company_id bigint, first integer, last integer)',
    findCut(d, name),
    ...d.filled('cut'),
    removeReplaced,
    ...d.filled('removal'),
    cutRecords(d, resource),
    ...d.filled('pending', 'n'),
    createLaid(d),
    lay(resource, recordsToLay(name)),
    ...d.filled('laid'),
    d.deleteCut(name),
    d.deleteCut(piecesOf(name)),
    ...writeRecords(d, resource),
    ...(metaOf === undefined ? [] : sumTypes(d, name)),
    writeHeads(d, name, metaOf),
    ...after,
  ]
}

/** Moves replaced and removed records to the past, in the same transaction. */
const keepPast = (name: string) => `
  insert into ${name}_past
    (company_id, until, id, version, source_id, sort, digest, record)
    select r.company_id, $version, r.id, r.version, r.source_id, r.sort, r.digest, r.record
    from ${gone} gone
    join ${recordsOf(name)} r on r.company_id = gone.company_id and r.position = gone.position
    order by r.company_id, r.id`

/** Removes a record whose place in the order changes. */
const removeMoved = (name: string) => `
  insert into removal
    select c.company_id, c.position
    from change c
    join ${name} r on r.company_id = c.company_id and r.position = c.position
    where c.sort <> r.sort`

/** Removes a replaced record that is written again anyway, since an earlier position changes. */
const removeFollowing = `
  insert into removal
    select c.company_id, c.position
    from edit e
    join change c on c.company_id = e.company_id and c.position >= e.start`

/** Inserts the removed records' replacements, at the places that the order gives them. */
const insertRemoved = `
  update change set position = null where position is not null and exists (
    select 1 from removal g
    where g.company_id = change.company_id and g.position = change.position
  )`

/** The first insertion of each listing, for listings ordered by id. */
const firstById = `
  select company_id, '' as sort, min(id) as id from change where position is null
  group by company_id`

// The same for listings in another order.
const firstInOrder = `
  select company_id, sort, id from (
    select company_id, sort, id,
      row_number() over (partition by company_id order by sort, id) as n
    from change where position is null
  ) numbered where n = 1`

/**
 * Finds where each listing changes first. The search for the place of its first insertion goes
 * backwards from its end: it reads only what has to be rewritten anyway, or one record if all
 * insertions come last.
 */
const findEdits = (name: string, firstOfCompany: string) => `
  insert into edit
    select company_id, position, coalesce((
      select max(p.position) from ${piecesOf(name)} p
      where p.company_id = changed.company_id and p.position <= changed.position
    ), 0)
    from (
      select company_id, min(position) as position from (
        select company_id, position from removal
        union all
        select first.company_id, coalesce((
          select r.position + 1 from ${name} r
          where r.company_id = first.company_id and (r.sort, r.id) < (first.sort, first.id)
          order by r.position desc limit 1
        ), 0)
        from (${firstOfCompany}) first
      ) place group by company_id
    ) changed`

const findCut = ({ orderedJoin }: Dialect, name: string) => `
  insert into cut
    select company_id, start, ${lastPosition} from edit
    union all
    select distinct p.company_id, p.position, p.last
    from change c
    ${orderedJoin} ${name} r on r.company_id = c.company_id and r.position = c.position
    ${orderedJoin} ${piecesOf(name)} p on p.company_id = r.company_id and p.position = r.piece
    where c.position is not null`

const lastPosition = 2_147_483_647

/** Removes records that are replaced in their places: `removal` has all that do not stay now. */
const removeReplaced = `
  insert into removal select company_id, position from change where position is not null`

/** The records of `cut` that stay. */
const cutRecords = (d: Dialect, resource: Resource) => `
  create temp table pending as
    select cast(row_number() over () as bigint) as n, t.first as run, r.company_id, r.id, r.sort,
      r.source_id, r.version, r.digest, r.bytes, r.record${filterNamesOf(resource, 'r.')}
    from cut t
    ${d.orderedJoin} ${recordsOf(resource.name)} r
      on r.company_id = t.company_id and r.position between t.first and t.last
    where not exists (
      select 1 from removal g where g.company_id = r.company_id and g.position = r.position
    )`

const filterNamesOf = (resource: Resource, prefix: string) =>
  filterColumns(resource)
    .map(({ column }) => `, ${prefix}${column}`)
    .join('')

const recordsToLay = (name: string) => `
  select c.company_id, coalesce(r.piece, e.start) as run, c.sort, c.id, c.bytes, c.seq,
    cast(null as bigint) as pending
  from change c
  left join ${name} r on r.company_id = c.company_id and r.position = c.position
  left join edit e on e.company_id = c.company_id
  union all
  select company_id, run, sort, id, bytes, null, n from pending`

function writeRecords(d: Dialect, resource: Resource): readonly string[] {
  const filters = filterColumns(resource).map(({ column, type }, n) => {
    const staged = type === 'text' ? `s.filter${n + 1}` : `cast(s.filter${n + 1} as bigint)`
    return `case when s.seq is null then p.${column} else ${staged} end`
  })
  return writeLaid(d, resource, {
    from: 'left join stage s on s.seq = l.seq left join pending p on p.n = l.pending',
    sort: 'coalesce(s.sort, p.sort)',
    source: 'case when s.seq is null then p.source_id else $source end',
    version: 'coalesce(p.version, $version)',
    digest: 'coalesce(s.digest, p.digest)',
    record: `coalesce(p.record, ${recordText(d, 'l.id')})`,
    filters,
  })
}

const writeHeads = ({ greatest }: Dialect, name: string, metaOf: string | undefined) => `
  insert into heads (company_id, resource, total, version, meta, largest)
    select t.company_id, '${name}',
      coalesce((
        select r.position + 1 from ${name} r where r.company_id = t.company_id
        order by r.position desc limit 1
      ), 0),
      $version, ${metaOf === undefined ? 'null' : "coalesce(m.meta, '[]')"}, l.bytes
    from touched t
    ${metaOf === undefined ? '' : 'left join new_meta m on m.company_id = t.company_id'}
    left join (
      select company_id, max(bytes) as bytes from change where bytes > ${largeRecordBytes}
      group by company_id
    ) l on l.company_id = t.company_id
    where true order by t.company_id
    on conflict (company_id, resource) do update
      set total = excluded.total, version = excluded.version, meta = excluded.meta,
        largest = ${greatest}(
          coalesce(heads.largest, excluded.largest), coalesce(excluded.largest, heads.largest)
        )`

/**
 * Appends records that the store itself has made, in `stage` after row `$after`: all are new, so
 * that nothing has to be compared.
 */
export function appendRecords(d: Dialect, resource: Resource, isFirst: boolean): readonly string[] {
  const used = [
    ...[
      'change',
      'removal',
      'touched',
      'edit',
      'cut',
      'pending',
      'laid',
      'type_change',
      'new_meta',
    ],
  ]
  return [
    ...used.map((name) => `drop table if exists ${d.temporary}.${name}`),
    `create temp table change as
      select seq, company_id, id, sort, digest, ${recordBytes('id', 'bytes')} as bytes,
        cast(null as integer) as position, true as is_staged
      from (
        select seq, company_id, sort, digest, octet_length(content) as bytes,
          ${lastId(d, resource.name)} + row_number() over (order by seq) as id
        from stage where seq > $after
      ) recorded`,
    ...d.filled('change'),
    'create temp table removal (company_id bigint, position integer)',
    ...typeCounts(d, resource),
    ...applySteps(d, resource, isFirst),
  ]
}

/** A listing's records before and after, for companies in which the source had records before. */
const listingDifferences = (d: Dialect, name: string, history: string): Differences => ({
  prepare: [findSighted(name, history), ...d.filled('sighted')],
  query: `
    select k.id, k.jurisdiction, k.identifier, $asOf as as_of,
      true as was_present, true as is_present, d.text, d.is_before, d.is_after
    from (
      select r.company_id, r.id, r.record as text, true as is_before,
          g.position is null as is_after
        from sighted t
        join ${recordsOf(name)} r on r.company_id = t.company_id and r.source_id = $source
        left join ${gone} g on g.company_id = r.company_id and g.position = r.position
      union all
      select c.company_id, c.id, ${recordText(d, 'c.id')}, false, true
        from sighted t
        join change c on c.company_id = t.company_id
        join stage s on s.seq = c.seq
    ) d
    join companies k on k.id = d.company_id
    order by d.company_id, d.id`,
})

/**
 * The changed companies in which the source has had records before; a company's first state is not
 * a change. If its last record is gone, the past shows that it had some; so do the recorded
 * changes, which remain when the past is pruned.
 */
const findSighted = (name: string, history: string) => `
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
