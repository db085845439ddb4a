// The dialect of PostgreSQL, and of one whose tables Citus has distributed over several nodes.

import type { Dialect } from '../sql/dialect.ts'

export const dialect: Dialect = {
  least: 'least',
  orderedJoin: 'join',
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
