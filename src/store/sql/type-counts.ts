// `meta` of a listing: how many of its records have each value of a field. It is updated with the
// records that are added and removed, and counted over whole listings only for verification.

import type { Resource } from '../../resources/resource.ts'
import type { Dialect } from './dialect.ts'
import { gone } from './merge.ts'
import { recordsOf } from './pieces.ts'

/**
 * Fills `type_change` with the numbers of records of each type that are removed and added; does
 * nothing for a resource without `meta`.
 */
export function countTypes(d: Dialect, { name, metaOf }: Resource): readonly string[] {
  if (metaOf === undefined) return []
  return [
    `create temp table type_change as
      select r.company_id, ${d.jsonMember('r.record', metaOf)} as type, -count(*) as n
      from ${gone} gone
      join ${recordsOf(name)} r on r.company_id = gone.company_id and r.position = gone.position
      group by 1, 2`,
    `insert into type_change
      select c.company_id, ${d.jsonMember('s.content', metaOf)}, count(*)
      from change c join stage s on s.seq = c.seq${d.sameCompany('s', 'c')}
      group by 1, 2`,
  ]
}

/** Adds them to the heads' counts: `new_meta` of each listing in `touched`. */
export const sumTypes = (d: Dialect, name: string): readonly string[] => [
  `create temp table new_meta as
    ${metaOfCounts(
      d,
      `select company_id, type, cast(sum(n) as bigint) as n from (
        select company_id, type, n from type_change
        union all
        select h.company_id, ${d.jsonMember('e.value', 'type')},
          cast(e.value ->> 'count' as bigint)
        from touched t
        join heads h on h.company_id = t.company_id and h.resource = '${name}'
        cross join ${d.jsonElements('h.meta', 'e')}
      ) counted group by company_id, type having sum(n) > 0`,
    )}`,
  ...d.filled('new_meta'),
]

/** The same, counted over all records. */
export const countedMeta = (d: Dialect, name: string, metaOf: string) =>
  metaOfCounts(
    d,
    `select company_id, ${d.jsonMember('record', metaOf)} as type, count(*) as n
      from ${recordsOf(name)} group by 1, 2`,
  )

/**
 * `company_id` and `meta`, the types in the order of contract 3.7.
 *
 * @param counts a query of `company_id`, `type` (a JSON string, quotes and all) and `n`.
 */
export const metaOfCounts = (d: Dialect, counts: string) => `
    select company_id, '[' || string_agg(
        '{"type":' || type || ',"count":' || n || '}',
        ',' order by n desc, ${d.byBytes(d.jsonString('type'))}
      ) || ']' as meta
    from (${counts}) summed group by company_id`
