// The merge of a resource's records: what an import changes. write-records.ts writes it.

import { filterColumns } from '../../resources/filters.ts'
import { companyColumns, type Resource } from '../../resources/resource.ts'
import type { Differences, LoadTarget } from '../load-target.ts'
import type { Dialect } from './dialect.ts'
import { dropTemporary, gone, type MergeSteps } from './merge.ts'
import { piecesOf, recordsOf } from './pieces.ts'
import { revertRecords } from './revert-records.ts'
import { countTypes } from './type-counts.ts'
import { recordBytes, recordText, tablesOfWriting, writeRecords } from './write-records.ts'

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
    companySources: `
      select distinct s.company_id, r.source_id
      from sample s join ${name} r on r.company_id = s.company_id and r.position < 10`,
    merge: (d) => mergeRecords(d, resource),
    differences: (d, history) => listingDifferences(d, name, history.name),
    revert: (d) => revertRecords(d, resource),
  }
}

function mergeRecords(d: Dialect, resource: Resource): MergeSteps {
  const { name } = resource
  return {
    place: d.across.placeRecords(d, name, lastId(d, name)),
    refuse: d.across.refuseForeignIds(d, name),
    findChanges: [
      findOwnChanges(d, name),
      ...d.filled('change'),
      ...d.across.findCarriedChanges(d, name),
      ...d.across.findRemovals(d, name),
      ...d.filled('removal'),
      ...countTypes(d, resource),
    ],
    apply: (isFirst) => writeRecords(d, resource, isFirst),
  }
}

/** The greatest id staged, used or assigned; cast, because numbers may be bound as floats. */
const lastId = ({ greatest }: Dialect, name: string) => `cast(${greatest}(
        $assignedIdMin - 1,
        $stagedId,
        coalesce((select max(id) from ${name}_ids), 0),
        coalesce((select max(id) from ${name} where id < $assignedIdEnd), 0)
      ) as bigint)`

const findOwnChanges = (d: Dialect, name: string) => `
  create temp table change as
    select p.seq, p.company_id, p.id, p.sort, p.digest, ${recordBytes('p.id', 'p.bytes')} as bytes,
      r.position, true as is_staged
    from placed p
    left join ${d.byId(name, 'r')} on r.id = p.id and r.company_id = p.company_id
    where p.digest is not null and (r.digest is null or r.digest <> p.digest)`

/**
 * Appends records that the store itself has made, in `stage` after row `$after`: all are new, so
 * that nothing has to be compared.
 */
export function appendRecords(d: Dialect, resource: Resource, isFirst: boolean): readonly string[] {
  return [
    ...dropTemporary(d, 'change', 'removal', 'type_change', ...tablesOfWriting),
    `create temp table change as
      select seq, company_id, id, sort, digest, ${recordBytes('id', 'bytes')} as bytes,
        cast(null as integer) as position, true as is_staged
      from (
        select seq, company_id, sort, digest, octet_length(content) as bytes,
          ${d.once(lastId(d, resource.name))} + row_number() over (order by seq) as id
        from stage where seq > $after
      ) recorded`,
    ...d.filled('change'),
    'create temp table removal (company_id bigint, position integer)',
    ...countTypes(d, resource),
    ...writeRecords(d, resource, isFirst),
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
        join stage s on s.seq = c.seq${d.sameCompany('s', 'c')}
    ) d
    join companies k on k.id = d.company_id
    order by d.company_id, d.id`,
})

/**
 * The changed companies in which the source has had records before; a company's first state is not
 * a change. If its last record is gone, the past shows that it had some (reverted versions show
 * nothing); so do the recorded changes, which remain when the past is pruned.
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
        and p.version in (select version from imports where reverted_by is null)
    ) or exists (
      select 1 from ${history} h
      where h.company_id = t.company_id and h.source_id = $recordingSource
    )`
