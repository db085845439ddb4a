// The steps of a merge that compare rows of several companies, on Citus. What each needs is spread
// by what it compares, the natural key or the id; only few columns of the rows travel for that.

import type { AcrossCompanies } from '../sql/across-companies.ts'
import type { Dialect } from '../sql/dialect.ts'
import { recordBytes } from '../sql/write-records.ts'
import { spreadTable } from './citus-tables.ts'
import { text } from './text.ts'

/** @param content the columns of a staged row besides its number, place and company. */
export function acrossNodes(content: string): AcrossCompanies {
  return {
    placeRecords,
    refuseForeignIds,
    refuseContradictions,
    dropRepetitions: () => dropRepetitions,
    findCarriedChanges: (_, name) => findCarriedChanges(name, content),
    findRemovals: (_, name) => [findRemovals(name)],
    refuseBeyond: (d) => ['placed', 'repetition'].map((rows) => refuseBeyond(d, rows)),
  }
}

/** Brings the keys to where their ids are, assigns ids to new ones, and brings the ids back. */
function placeRecords(d: Dialect, name: string, lastId: string): readonly string[] {
  const columns = `key ${text}, seq bigint, company_id bigint, is_checked boolean`
  return [
    ...spreadTable('keyed', columns, { by: 'key', like: `${name}_ids` }),
    `insert into keyed (key, seq, company_id, is_checked)
      select key, seq, company_id, content is not null from stage where key is not null`,
    `insert into ${name}_ids (id, source_id, key)
      select ${d.once(lastId)} + row_number() over (order by first), $source, key
      from (
        select k.key, min(k.seq) as first from keyed k
        where k.is_checked and not exists (
          select 1 from ${name}_ids i where i.source_id = $source and i.key = k.key
        )
        group by k.key
      ) added`,
    ...spreadTable('identified', 'company_id bigint, seq bigint, id bigint', byCompany),
    `insert into identified (company_id, seq, id)
      select k.company_id, k.seq, i.id
      from keyed k join ${name}_ids i on i.key = k.key and i.source_id = $source`,
    `insert into placed (seq, company_id, id, sort, bytes, digest)
      select s.seq, s.company_id, coalesce(s.id, i.id), s.sort, octet_length(s.content), s.digest
      from stage s left join identified i on i.company_id = s.company_id and i.seq = s.seq`,
  ]
}

const byCompany = { by: 'company_id', like: 'companies' } as const

/** With several sources, every node looks for all ids; with a single one, none is sent. */
function refuseForeignIds(d: Dialect, name: string): readonly string[] {
  return [name, `${name}_ids`].map(
    (table) => `
    insert into refused
      with placed_ids as materialized (
        select seq, id from placed
        where digest is not null and exists (select 1 from sources where id <> $source)
      )
      select p.seq, 'id', ${d.anyValueOf('p.id')}, 'belongs to a record of the source ' || o.name
      from placed_ids p
      join ${table} r on r.id = p.id
      join sources o on o.id = r.source_id
      where r.source_id <> $source
      on conflict do nothing`,
  )
}

/** Ids are compared where their hash leads them; only contradictory rows leave the nodes. */
function refuseContradictions(d: Dialect): readonly string[] {
  const columns = `id bigint, company_id bigint, seq bigint, digest ${text}`
  return [
    ...spreadTable('numbered', columns, { by: 'id', like: 'companies' }),
    `insert into numbered (id, company_id, seq, digest)
      select id, company_id, seq, digest from placed where digest is not null and id is not null`,
    `create unlogged table contradiction as
      select p.seq, p.company_id, p.id, kept.seq as first, kept.company_id as first_company
      from (
        select id, min(seq) as seq from numbered group by id having min(digest) <> max(digest)
      ) double
      join numbered kept on kept.id = double.id and kept.seq = double.seq
      join numbered p on p.id = double.id
      where p.digest <> kept.digest`,
    ...d.filled('contradiction'),
    `insert into refused
      with firsts as materialized (
        select d.seq, s.number from contradiction d
        join stage s on s.company_id = d.first_company and s.seq = d.first
      )
      select d.seq, coalesce($contradictionField, case when s.key is null then 'id' else 'key' end),
        coalesce(
          ${d.anyValueOf('substr(s.key, 2)')},
          ${d.anyValueOf('s.company_identifier')},
          ${d.anyValueOf('d.id')}
        ),
        'was given before with other content, in ' || $unit || ' ' || f.number
      from contradiction d
      join firsts f on f.seq = d.seq
      join stage s on s.company_id = d.company_id and s.seq = d.seq
      on conflict do nothing`,
  ]
}

const dropRepetitions = [
  `create temp table repetition as
    select p.seq, p.id, p.company_id
    from (
      select id, company_id, min(seq) as seq from placed where digest is not null
      group by id, company_id having count(*) > 1
    ) kept
    join placed p on p.id = kept.id and p.company_id = kept.company_id and p.digest is not null
      and p.seq > kept.seq`,
  `delete from placed p using repetition r where r.company_id = p.company_id and r.seq = p.seq`,
]

/**
 * The ids of changed records are sent to all nodes, unless there is no other listing. A record's
 * content is copied beside the other listings, as a row of the stage with the same number.
 */
function findCarriedChanges(name: string, content: string): readonly string[] {
  return [
    'drop table if exists carried',
    `delete from stage where file = ${copied}`,
    `create temp table carried as
      with changed as materialized (
        select id, min(digest) as digest, min(seq) as seq from change
        where exists (select 1 from ${name} limit 1) group by id
      )
      select r.company_id, min(r.position) as position, c.id, min(c.seq) as seq
      from changed c join ${name} r on r.id = c.id
      where r.digest <> c.digest and not exists (
        select 1 from placed p
        where p.id = r.id and p.company_id = r.company_id and p.digest is not null
      ) and (not $isSnapshot or r.id in (select id from placed where digest is null))
      group by r.company_id, c.id`,
    `insert into stage (seq, company_id, file, number, ${content})
      with copies as materialized (select company_id, seq from carried)
      select s.seq, k.company_id, ${copied}, 0, ${content}
      from copies k join stage s on s.seq = k.seq`,
    `insert into change
      select k.seq, k.company_id, k.id, s.sort, s.digest,
        ${recordBytes('k.id', 'octet_length(s.content)')}, k.position, false
      from carried k join stage s on s.company_id = k.company_id and s.seq = k.seq`,
  ]
}

/** In place of the number of a file: a row that was copied. */
const copied = -1

const findRemovals = (name: string) => `
  create temp table removal as
    select r.company_id, r.position
    from ${name} r
    where $isSnapshot and r.source_id = $source
      and not exists (
        select 1 from placed p where p.company_id = r.company_id and p.id = r.id
      )
      and r.id not in (select id from placed where digest is null and id is not null)`

const refuseBeyond = (d: Dialect, rows: string) => `
  insert into refused
    select p.seq, b.field, ${d.anyValueOf('b.value')}, b.reason
    from beyond b join ${rows} p on p.id = b.id
    ${rows === 'placed' ? 'where p.digest is not null' : ''}
    on conflict do nothing`
