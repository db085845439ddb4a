// The dialects of PostgreSQL, and of one that Citus distributes over nodes.

import type { Dialect } from '../sql/dialect.ts'
import { ofSegment } from '../sql/head-tables.ts'

/**
 * The last head of each listing in a list of companies or of listings. A company may have thousands
 * of heads, so each is sought. By equations, PostgreSQL might read all heads of a listing for each:
 * its statistics may be from before the listing.
 */
const seekHeads = (columns: string, list: string, company: string, listing: string) => `
  select ${columns} from ${list}
  cross join lateral (
    select * from heads l
    where (l.company_id, l.listing) >= (${company}, ${listing})
      and (l.company_id, l.listing, l.version) <= (${company}, ${listing}, $3)
    order by l.company_id desc, l.listing desc, l.version desc limit 1
  ) h`

export const dialect: Dialect = {
  headsInForce: (columns) =>
    seekHeads(columns, 'unnest($2::bigint[]) e (company_id)', 'e.company_id', '$1'),
  headsOfCompany: (columns) =>
    seekHeads(columns, 'unnest($2::text[]) e (listing)', '$1', 'e.listing collate "C"'),
  holdsSegments: true,
  isOfSegments: '(company_id, segment) in (select * from unnest($1::bigint[], $2::bigint[]))',
  textRanges: `
    select (e.place - 1)::integer,
      substr(
        ${ofSegment('texts', '(e.value ->> 0)::bigint', '(e.value ->> 1)::bigint')},
        (e.value ->> 2)::integer, (e.value ->> 3)::integer
      )
    from json_array_elements($1::json) with ordinality e (value, place)`,
  useIndex: () => '',
  hexOf: (bytes) => `encode(${bytes}, 'hex')`,
  textOf: (bytes) => `convert_from(${bytes}, 'UTF8')`,
  placeOfBytes: 'pg_catalog.position',
  companyNames: { table: 'company_names', id: 'company_id' },
  isOneOf: (column, list, type) => `${column} = any(${list}::${type}[])`,
  atCompany: '',
}

/** Citus pushes a statement down to the nodes if all its joins are on the distribution column. */
export const distributedDialect: Dialect = {
  ...dialect,
  // It cannot push down a limit that depends on a row.
  headsInForce: (columns) => `
    select distinct on (company_id) ${columns} from heads h
    where company_id = any($2::bigint[]) and listing = $1 and version <= $3
    order by company_id, version desc`,
  // It finds the node of the company by an equation.
  headsOfCompany: (columns) => `
    select ${columns} from unnest($2::text[]) e (listing)
    cross join lateral (
      select * from heads l
      where l.company_id = $1 and l.listing = e.listing collate "C" and l.version <= $3
      order by l.version desc limit 1
    ) h`,
  // Nor a subquery for each element of a function's result.
  textRanges: `
    select (e.place - 1)::integer,
      substr(coalesce(s.texts, h.texts), (e.value ->> 2)::integer, (e.value ->> 3)::integer)
    from json_array_elements($1::json) with ordinality e (value, place)
    left join segments s on s.company_id = (e.value ->> 0)::bigint
      and s.segment = (e.value ->> 1)::bigint
    left join heads h on h.company_id = (e.value ->> 0)::bigint
      and h.segment = (e.value ->> 1)::bigint and h.texts is not null`,
  // Without the condition, PostgreSQL would drop the join.
  atCompany: `
    left join company_states k on k.company_id = $1 where coalesce(k.company_id, $1) = $1`,
}
