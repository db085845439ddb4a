// The dialect of a PostgreSQL whose tables Citus has spread over several nodes. Citus runs a
// statement where the rows are if all its joins are by company, or by what else rows are spread by.

import type { Dialect } from '../sql/dialect.ts'
import { filterNames } from '../sql/stage.ts'
import { acrossNodes } from './citus-across.ts'
import { companies } from './citus-companies.ts'
import { once } from './citus-tables.ts'
import { dialect as together } from './dialect.ts'

const contentColumns = ['id', 'key', 'sort', 'digest', 'content', 'as_of']

/**
 * The dialect for an import.
 *
 * @param work the schema of its working tables.
 * @param filters the number of filter values in a staged row.
 */
export function spreadDialectOf(work: string, filters: number): Dialect {
  const content = [...contentColumns, ...filterNames(filters)].join(', ')
  return {
    ...together,
    temporary: work,
    arrived: 'arrived',
    arrivedIdentifier: 'place',
    settle: settle(content),
    isSpread: true,
    asRead: ', s.given_company_id as company_id',
    sameCompany: (one, other) => ` and ${one}.company_id = ${other}.company_id`,
    rowNumber: (company, order) => {
      const inOrder = order === undefined ? '' : ` order by ${order}`
      return `row_number() over (partition by ${company}${inOrder})`
    },
    once,
    // A limit within a subquery that depends on a row cannot be sent to the nodes.
    endOf: (table, condition) => `select max(r.position) + 1 from ${table} r where ${condition}`,
    firstOf: (value, from, order) =>
      `select (array_agg(${value} order by ${order}))[1] from ${from}`,
    // What Citus sends to the nodes of an `insert … select` has lost the collations of expressions.
    byBytes: (text) => `convert_to(${text}, 'UTF8')`,
    // Citus runs a query with an offset by itself, and sends its rows to the nodes.
    apart: 'offset 0',
    // Without the condition, PostgreSQL would drop the join.
    atCompany: 'left join companies k on k.id = $1 where coalesce(k.id, $1) = $1',
    affectedChunks,
    across: acrossNodes(content),
    companies,
  }
}

/** Brings the rows beside the records of their company, each once. */
function settle(content: string): readonly string[] {
  const columns = `seq, file, number, company_jurisdiction, company_identifier, ${content}`
  const own = columns.replace(/\w+/g, 's.$&')
  const insert = `
    insert into stage (company_id, given_company_id, ${columns})
      select`
  const isUnknown = `s.company_identifier is null and s.company_id > 0
    and not exists (select 1 from companies c where c.id = s.company_id)`
  return [
    `${insert} case when coalesce(s.company_id, c.company_id) = c.company_id then c.company_id
          else -s.seq end, s.company_id, ${own}
      from arrived s left join company_names c
        on c.identifier = s.place and c.jurisdiction = s.company_jurisdiction
      where s.company_identifier is not null`,
    `${insert} coalesce(s.company_id, -s.seq), s.company_id, ${own}
      from arrived s where s.company_identifier is null`,
    `${insert} -s.seq, s.company_id, ${own} from stage s where ${isUnknown}`,
    `delete from stage s where ${isUnknown}`,
    'create index on stage (seq)',
    'analyze stage',
  ]
}

const affectedChunks = `
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
  order by w.word, w.first`

/** The dialect for statements that read a store. */
export const spreadDialect: Dialect = spreadDialectOf('pg_temp', 0)
