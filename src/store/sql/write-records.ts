// Writes the changes of a resource's records, given the tables of merge.ts. Uses these besides:
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
import type { Resource } from '../../resources/resource.ts'
import type { Dialect } from './dialect.ts'
import { largeRecordBytes } from '../page-size.ts'
import { gone } from './merge.ts'
import { keepHeads } from './past-heads.ts'
import { createLaid, lay, namesOfFilters, piecesOf, recordsOf, writeLaid } from './pieces.ts'
import { sumTypes } from './type-counts.ts'

/** The temporary tables that `writeRecords` creates. */
export const tablesOfWriting = ['touched', 'edit', 'cut', 'pending', 'laid', 'new_meta']

/** A record's text: its id, which the store may have assigned, and its content in `stage s`. */
export const recordText = (d: Dialect, id: string) =>
  `'{"id":' || ${id} || ',' || ${d.withoutFirst('s.content')}`

/** The length of that text, given the length of the content. */
export const recordBytes = (id: string, contentBytes: string) =>
  `${contentBytes} + length(cast(${id} as text)) + ${'"id":,'.length}`

/**
 * The statements that write what `change` and `removal` hold; they alter both on the way.
 *
 * @param isFirst whether the resource's table is still empty.
 */
export function writeRecords(d: Dialect, resource: Resource, isFirst: boolean): readonly string[] {
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
    findEdits(d, name, order.by === 'id' ? firstById : firstInOrder),
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
    ...writeLaidRecords(d, resource),
    ...(metaOf === undefined ? [] : sumTypes(d, name)),
    keepHeads(name, 'touched'),
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
const findEdits = (d: Dialect, name: string, firstOfCompany: string) => `
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
          ${d.endOf(name, isBefore)}
        ), 0)
        from (${firstOfCompany}) first
      ) place group by company_id
    ) changed`

const isBefore = 'r.company_id = first.company_id and (r.sort, r.id) < (first.sort, first.id)'

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
    select cast(${d.rowNumber('r.company_id')} as bigint) as n, t.first as run, r.company_id,
      r.id, r.sort, r.source_id, r.version, r.digest, r.bytes,
      r.record${namesOfFilters(resource, 'r.')}
    from cut t
    ${d.orderedJoin} ${recordsOf(resource.name)} r
      on r.company_id = t.company_id and r.position between t.first and t.last
    where not exists (
      select 1 from removal g where g.company_id = r.company_id and g.position = r.position
    )`

const recordsToLay = (name: string) => `
  select c.company_id, coalesce(r.piece, e.start) as run, c.sort, c.id, c.bytes, c.seq,
    cast(null as bigint) as pending
  from change c
  left join ${name} r on r.company_id = c.company_id and r.position = c.position
  left join edit e on e.company_id = c.company_id
  union all
  select company_id, run, sort, id, bytes, null, n from pending`

function writeLaidRecords(d: Dialect, resource: Resource): readonly string[] {
  const filters = filterColumns(resource).map(({ column, type }, n) => {
    const staged = type === 'text' ? `s.filter${n + 1}` : `cast(s.filter${n + 1} as bigint)`
    return `case when s.seq is null then p.${column} else ${staged} end`
  })
  return writeLaid(d, resource, {
    from: `left join stage s on s.seq = l.seq${d.sameCompany('s', 'l')}
      left join pending p on p.n = l.pending${d.sameCompany('p', 'l')}`,
    sort: 'coalesce(s.sort, p.sort)',
    source: 'case when s.seq is null then p.source_id else $source end',
    version: 'coalesce(p.version, $version)',
    digest: 'coalesce(s.digest, p.digest)',
    record: `coalesce(p.record, ${recordText(d, 'l.id')})`,
    filters,
  })
}

const writeHeads = (d: Dialect, name: string, metaOf: string | undefined) => `
  insert into heads (company_id, resource, total, version, meta, largest)
    select t.company_id, '${name}',
      coalesce((
        ${d.endOf(name, 'r.company_id = t.company_id')}
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
        largest = ${d.greatest}(
          coalesce(heads.largest, excluded.largest), coalesce(excluded.largest, heads.largest)
        )`
