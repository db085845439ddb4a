// The dialects of PostgreSQL, and of one that Citus spreads over nodes.

import type { Dialect } from '../sql/dialect.ts'

export const dialect: Dialect = {
  least: 'least',
  orderedJoin: 'join',
  // A company may have thousands of heads, so that each last one is looked up.
  headsInForce: (columns) => `
    select ${columns} from unnest($2::bigint[]) e (company_id)
    cross join lateral (
      select * from heads l
      where l.company_id = e.company_id and l.listing = $1 and l.version <= $3
      order by l.version desc limit 1
    ) h`,
  isOfSegments: '(company_id, segment) in (select * from unnest($1::bigint[], $2::bigint[]))',
  useIndex: () => '',
  placeOfBytes: 'pg_catalog.position',
  companyNames: { table: 'company_names', id: 'company_id' },
  isOneOf: (column, list, type) => `${column} = any(${list}::${type}[])`,
  jsonInteger: (element) => `cast(${element} #>> '{}' as bigint)`,
  jsonItem: (json, at) => `(${json} ->> ${at})`,
  jsonMembers: (json, alias) => `json_each_text(${json}::json) ${alias}`,
  jsonElements: (json, alias) =>
    `json_array_elements(${json}::json) with ordinality ${alias} (value, key)`,
  bytesOfHex: (digits) => `decode(${digits}, 'hex')`,
  atCompany: '',
}

/** Citus runs a statement where the rows are if all its joins are by what they are spread by. */
export const spreadDialect: Dialect = {
  ...dialect,
  // It cannot send a limit that depends on a row to the nodes.
  headsInForce: (columns) => `
    select distinct on (company_id) ${columns} from heads h
    where company_id = any($2::bigint[]) and listing = $1 and version <= $3
    order by company_id, version desc`,
  // Without the condition, PostgreSQL would drop the join.
  atCompany: 'left join companies k on k.id = $1 where coalesce(k.id, $1) = $1',
  affectedChunks: `
    with asked as materialized (
      select e.value ->> 0 as word, (e.value ->> 1)::bigint as least,
        (e.value ->> 2)::bigint as greatest
      from json_array_elements($ranges::json) e
    ), started as materialized (
      select a.word, max(w.first) as first
      from asked a join words w on w.word = a.word and w.first <= a.least group by a.word
    ), ranges as materialized (
      select a.word, coalesce(s.first, 0) as first, a.greatest
      from asked a left join started s on s.word = a.word
    )
    select w.word, w.first, w.distances
    from ranges r join words w on w.word = r.word and w.first between r.first and r.greatest
    order by w.word, w.first`,
}
