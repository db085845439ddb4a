// Takes back what versions have changed in a resource's records: those that they added go, those
// that they replaced or removed come back, by the same writing as in an import.

import { filterColumns } from '../../resources/filters.ts'
import type { Resource } from '../../resources/resource.ts'
import type { RevertSteps } from '../load-target.ts'
import type { Dialect } from './dialect.ts'
import { dropTemporary } from './merge.ts'
import { filterOf } from './pieces.ts'
import { filterNames } from './stage.ts'
import { countTypes } from './type-counts.ts'
import { recordBytes, tablesOfWriting, writeRecords } from './write-records.ts'

const tables = ['undone', 'restored', 'change', 'removal', 'type_change', ...tablesOfWriting]

/** The statements for `LoadTarget.revert`; `$after` is the last row of `stage`. */
export function revertRecords(d: Dialect, resource: Resource): RevertSteps {
  const { name } = resource
  return {
    find: [
      ...dropTemporary(d, ...tables),
      findUndone(name),
      ...d.filled('undone'),
      findRestored(d, name),
      ...d.filled('restored', 'company_id, id'),
      stageRestored(d, resource),
      ...d.filled('stage'),
      findChanges(d, name),
      ...d.filled('change'),
      findRemovals(d, name),
      ...d.filled('removal'),
      ...countTypes(d, resource),
    ],
    apply: writeRecords(d, resource, false),
  }
}

/** The companies whose listing may have changed since: a company that is gone has no head. */
const findUndone = (name: string) => `
  create temp table undone as
    select company_id from heads where resource = '${name}' and version >= $first
    union
    select company_id from companies_past where until >= $first`

/** A record was current before the versions, and one of them has ended that. */
const findRestored = (d: Dialect, name: string) => `
  create temp table restored as
    select cast(${d.rowNumber('p.company_id', 'p.id')} + $after as bigint) as seq,
      p.company_id, p.id, p.sort, p.digest, p.record
    from undone u
    ${d.orderedJoin} ${name}_past p on p.company_id = u.company_id and p.until >= $first
    where p.version < $first and p.until in (select version from reverted)`

/** Stages the records that come back: their text without the id, and their filter values. */
function stageRestored(d: Dialect, resource: Resource): string {
  const columns = filterColumns(resource)
  const names = filterNames(columns.length).map((column) => `, ${column}`)
  const values = columns.map(({ field, type }) => {
    const value = filterOf(d, resource, field, 'record')
    return type === 'text' ? `, ${value}` : `, cast(${value} as text)`
  })
  return `
    insert into stage
      (seq, file, number, company_id, id, sort, digest, content${names.join('')})
      select seq, 0, 0, company_id, id, sort, digest,
        '{' || substr(record, length(cast(id as text)) + ${'{"id":,'.length + 1})${values.join('')}
      from restored order by seq`
}

const findChanges = (d: Dialect, name: string) => `
  create temp table change as
    select s.seq, s.company_id, s.id, s.sort, s.digest,
      ${recordBytes('s.id', 'octet_length(s.content)')} as bytes, r.position, true as is_staged
    from stage s
    left join ${d.byId(name, 'r')} on r.id = s.id and r.company_id = s.company_id
    where s.seq > $after and (r.digest is null or r.digest <> s.digest)`

const findRemovals = ({ orderedJoin }: Dialect, name: string) => `
  create temp table removal as
    select r.company_id, r.position
    from undone u
    ${orderedJoin} ${name} r on r.company_id = u.company_id
    where r.version in (select version from reverted) and not exists (
      select 1 from restored p where p.company_id = r.company_id and p.id = r.id
    )`
