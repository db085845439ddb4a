// The dialect of SQLite.

import type { Dialect } from '../sql/dialect.ts'
import { companies } from './named-companies.ts'
import { createIdIndex, dropIdIndex } from './schema.ts'

export const dialect: Dialect = {
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
  jsonElements: (json, alias) => `json_each(${json}) ${alias}`,
  filled: (table, searchedBy) =>
    searchedBy === undefined
      ? []
      : [`create index temp.${table}_index on ${table} (${searchedBy})`],
  // Reads `edit` first, and of each listing only the positions to be cut off.
  deleteCutOff: (name) => `
    delete from ${name} where (company_id, position) in (
      select r.company_id, r.position
      from edit e cross join ${name} r on r.company_id = e.company_id and r.position >= e.position
    )`,
  // Building the index once, sorted, is faster than row by row.
  firstLoad: (resource) => ({
    before: [dropIdIndex(resource)],
    after: [createIdIndex(resource)],
  }),
  companies,
}
