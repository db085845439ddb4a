// The dialect of SQLite.

import type { Dialect } from '../sql/dialect.ts'
import { together } from '../sql/layout.ts'
import { companies } from './named-companies.ts'
import { createIdIndex, dropIdIndex } from './id-index.ts'

export const dialect: Dialect = {
  ...together,
  greatest: 'max',
  least: 'min',
  text: 'text',
  integer: 'integer',
  anyValue: '',
  rowKey: 'integer primary key',
  temporary: 'temp',
  orderedJoin: 'cross join',
  companyNames: { table: 'companies', id: 'id' },
  byId: (name, alias = '') => `${name} ${alias} indexed by ${name}_by_id`,
  withoutFirst: (text) => `substr(${text}, 2)`,
  anyValueOf: (value) => value,
  jsonMember: (json, name) => `${json} -> '${name}'`,
  jsonLength: (json) => `json_array_length(${json})`,
  jsonString: (json) => `${json} ->> '$'`,
  jsonInteger: (element) => element,
  jsonMembers: (json, alias) => `json_each(${json}) ${alias}`,
  jsonElements: (json, alias) => `json_each(${json}) ${alias}`,
  filled: (table, searchedBy) =>
    searchedBy === undefined
      ? []
      : [`create index temp.${table}_index on ${table} (${searchedBy})`],
  sortedTable: (name, columns, key) =>
    `create temp table ${name} (${columns}, primary key (${key})) without rowid`,
  // An `order by` within the aggregate would sort once more: rows come in the table's order.
  joined: (text) => `group_concat(${text}, ',')`,
  slice: (text, at, bytes) => `cast(substr(cast(${text} as blob), ${at} + 1, ${bytes}) as text)`,
  jsonValue: (json, name) => `${json} ->> '${name}'`,
  // The aggregate takes its rows in the order of the query within.
  numbers: (query, order) =>
    `(select json_group_array(entry) from (select entry from (${query}) order by ${order}))`,
  numbersOf: (value) => Int32Array.from(JSON.parse(String(value)) as number[]),
  pairs: (table, first, second, order) =>
    `(select json_group_array(json_array(${first}, ${second}))
      from (select * from ${table} order by ${order}))`,
  jsonText: (json, name) => `case when ${json} -> ${name} like '"%' then ${json} ->> ${name} end`,
  jsonItem: (json, at) => `${json} ->> ${at}`,
  jsonArray: (value) => `json_group_array(${value})`,
  bytesOfHex: (digits) => `unhex(${digits})`,
  unixSeconds: (timestamp) => `unixepoch(${timestamp})`,
  // Reads `cut` first, and of each listing only the positions to be cut.
  deleteCut: (table) => `
    delete from ${table} where (company_id, position) in (
      select r.company_id, r.position from cut t cross join ${table} r
      on r.company_id = t.company_id and r.position between t.first and t.last
    )`,
  // Building the index once, sorted, is faster than row by row.
  firstLoad: (resource) => ({
    before: [dropIdIndex(resource)],
    after: [createIdIndex(resource)],
  }),
  companies,
}
