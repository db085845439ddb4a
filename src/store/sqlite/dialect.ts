// The dialect of SQLite.

import type { Dialect } from '../sql/dialect.ts'

export const dialect: Dialect = {
  least: 'min',
  orderedJoin: 'cross join',
  companyNames: { table: 'companies', id: 'id' },
  isOneOf: (column, list) => `${column} in (select value from json_each(${list}))`,
  jsonInteger: (element) => element,
  jsonItem: (json, at) => `${json} ->> ${at}`,
  jsonElements: (json, alias) => `json_each(${json}) ${alias}`,
  jsonMembers: (json, alias) => `json_each(${json}) ${alias}`,
  bytesOfHex: (digits) => `unhex(${digits})`,
  atCompany: '',
}
