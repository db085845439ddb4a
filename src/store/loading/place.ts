// Finds each row's company and id, and refuses the rows that contradict others or the registry. A
// natural key has one id, and an id one content, in whatever listings a record is.

import type { ListingTables } from '../listing/tables.ts'
import { assignedIdEnd, assignedIdMin } from '../sql/assigned-ids.ts'
import type { ImportContext } from './context.ts'
import { inBatches, type Staging } from './staging.ts'

const batchLength = 1_000

/** A row's company; none if id and name belong to different ones. */
const placedCompany = `
  case when s.company_identifier is null then k.id
    else case when coalesce(s.company_id, c.id) = c.id then c.id end
  end`

const placing = `
  left join companies c
    on c.jurisdiction = s.company_jurisdiction and c.identifier = s.company_identifier
  left join companies k on k.id = s.company_id and s.company_identifier is null`

/** Rows have the company's id already where they name it by that alone. */
const placeByName = `
  update placed set company_id = named.company from (
    select s.seq, ${placedCompany} as company from stage s ${placing}
    where s.company_identifier is not null
  ) named where named.seq = placed.seq`

const dropUnknown = `
  update placed set company_id = null
  where company_id is not null and company_id not in (select id from companies)`

const placeByKey = `
  update placed set id = i.id from stage s join keys i on i.key = s.key
  where s.seq = placed.seq and s.key is not null`

/** Fills `refused` with what no comparison with the listings is needed for. */
export async function placeRows(context: ImportContext): Promise<void> {
  const { staging, tables, plan, values } = context
  const { resource, isMadeById } = plan.target
  if (staging.facts.hasNames) staging.run(placeByName)
  if (plan.knownCompaniesOnly || !isMadeById) staging.run(dropUnknown)
  if (resource === undefined) staging.run('update placed set id = company_id')
  else if (staging.facts.hasKeys) {
    await assignIds(context)
    staging.run(placeByKey)
  }
  staging.run(refuseUnplaced, values)
  if (resource === undefined) staging.run(refuseUndatedRows, values)
  else if (context.hasOtherSources) await refuseForeignIds(staging, tables, context)
}

/** Assigns an id to each natural key that is new from this source. */
async function assignIds({ staging, tables, plan, source, staged }: ImportContext): Promise<void> {
  const { name } = plan.target
  const keys = staging.iterate('select distinct key from stage where key is not null')
  for (const batch of inBatches(keys, batchLength)) {
    const asked = batch.map(([key]) => key as string)
    for (const [key, id] of await tables.keyIds(name, source, asked)) {
      staging.run('insert into keys values ($key, $id, 0)', { key, id })
    }
  }
  const last = await tables.lastId(name, assignedIdEnd)
  const lastId = Math.max(assignedIdMin - 1, staged.id, last)
  staging.run(
    `insert into keys
      select s.key, $lastId + row_number() over (order by min(s.seq)), 1 from stage s
      where s.key is not null and s.content is not null
        and not exists (select 1 from keys i where i.key = s.key)
      group by s.key`,
    { lastId },
  )
}

/** Writes the ids of new natural keys to the registry, where they stay. */
export async function writeKeys({ staging, tables, plan, source }: ImportContext): Promise<void> {
  const keys = staging.iterate('select key, id from keys where is_new order by key')
  for (const batch of inBatches(keys, batchLength)) {
    const rows = batch.map(([key, id]) => ({ key: key as string, id: Number(id) }))
    await tables.putKeys(plan.target.name, source, rows)
  }
}

/** Refuses rows without a company, with the reason. */
const refuseUnplaced = `
  insert into refused
    select s.seq,
      case when s.company_identifier is null or s.company_id is not null
        then $idColumn else $identifierColumn end,
      case when s.company_identifier is null or s.company_id is not null
        then s.company_id else s.company_identifier end,
      case
        when c.id <> s.company_id then
          s.company_jurisdiction || ' ' || s.company_identifier || ' is company ' || c.id
        when o.jurisdiction is not null then
          'is ' || o.jurisdiction || ' ' || o.identifier || ' in the registry'
        else 'is not in the registry'
      end
    from placed p
    join stage s on s.seq = p.seq
    left join companies c
      on c.jurisdiction = s.company_jurisdiction and c.identifier = s.company_identifier
    left join companies o on o.id = s.company_id
    where p.company_id is null and p.digest is not null`

const refuseUndatedRows = `
  insert into refused
    select s.seq, 'as_of', null, 'is missing; other rows have it, and --as-of was not given'
    from stage s
    where $asOf is not null and $isAsOfOfRows and s.as_of is null and s.content is not null
    on conflict do nothing`

/** Refuses ids that another source was the first to use. */
async function refuseForeignIds(
  staging: Staging,
  tables: ListingTables,
  { plan, source, sourceNames }: ImportContext,
): Promise<void> {
  const { name } = plan.target
  staging.run('create table foreign_ids (id integer primary key, source text)')
  const ids = staging.iterate(
    'select distinct id from placed where digest is not null and id is not null',
  )
  for (const batch of inBatches(ids, batchLength)) {
    const asked = batch.map(([id]) => Number(id))
    const owners = [
      ...(await tables.whereListed(name, asked)),
      ...(await tables.keySources(name, asked)),
    ]
    for (const owner of owners) {
      if (owner.source === source) continue
      staging.run('insert or ignore into foreign_ids values ($id, $source)', {
        ...{ id: owner.id, source: sourceNames.get(owner.source) ?? '' },
      })
    }
  }
  staging.run(`
    insert into refused
      select p.seq, 'id', p.id, 'belongs to a record of the source ' || f.source
      from placed p join foreign_ids f on f.id = p.id
      where p.digest is not null
      on conflict do nothing`)
}

/** An id must have one content: the first row with an id is kept. */
const refuseContradictions = [
  // The ids that occur more than once. They are few, so contradictions and repetitions are searched
  // for among these only.
  `create table repeated as
    select id from placed where digest is not null group by id having count(*) > 1`,
  `create table contradiction as
    select p.id, min(p.seq) as seq from repeated r join placed p on p.id = r.id
    where p.digest is not null
    group by p.id having min(p.digest) <> max(p.digest)`,
  `insert into refused
    select p.seq, coalesce($contradictionField, case when s.key is null then 'id' else 'key' end),
      coalesce(substr(s.key, 2), s.company_identifier, p.id),
      'was given before with other content, in ' || $unit || ' ' || first.number
    from contradiction double
    join placed p on p.id = double.id and p.digest is not null
    join placed kept on kept.seq = double.seq
    join stage first on first.seq = double.seq
    join stage s on s.seq = p.seq
    where p.digest <> kept.digest
    on conflict do nothing`,
]

/** Drops rows that repeat another row of the same listing, and keeps them in `repetition`. */
const dropRepetitions = [
  `create table repetition as
    select p.seq, p.id
    from (
      select q.id, q.company_id, min(q.seq) as seq from repeated r join placed q on q.id = r.id
      where q.digest is not null
      group by q.id, q.company_id having count(*) > 1
    ) kept
    join placed p on p.id = kept.id and p.company_id = kept.company_id and p.digest is not null
      and p.seq > kept.seq`,
  'delete from placed where seq in (select seq from repetition)',
]

const dropRefused = 'update placed set digest = null where seq in (select seq from refused)'

/**
 * Refuses what contradicts an earlier row with its id, and drops repetitions.
 *
 * @returns the number of rows that are records, refused ones and repetitions included.
 */
export function compareRows({ staging, staged, values }: ImportContext): number {
  // Then no id comes twice.
  if (staged.isAscending) {
    staging.run(['create table repetition (seq integer, id integer)', dropRefused])
    return staging.facts.rows
  }
  staging.run('create index placed_by_id on placed (id)')
  staging.run(refuseContradictions, values)
  staging.run(dropRefused)
  staging.run(dropRepetitions)
  return staging.facts.rows
}

/** Refuses all rows of the records in `beyond`. */
export const refuseBeyond = [
  `insert into refused
    select p.seq, b.field, b.value, b.reason
    from beyond b
    join (
      select seq, id from placed where digest is not null
      union all
      select seq, id from repetition
    ) p on p.id = b.id
    where true
    on conflict do nothing`,
  dropRefused,
]
