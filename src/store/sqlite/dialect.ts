// The dialect of SQLite.

import type { Dialect } from '../sql/dialect.ts'

export const dialect: Dialect = {
  least: 'min',
  orderedJoin: 'cross join',
  headsInForce: (columns) => `
    select ${columns} from json_each($2) e
    cross join heads h on h.company_id = e.value and h.listing = $1 and h.version = (
      select max(version) from heads l
      where l.company_id = e.value and l.listing = $1 and l.version <= $3
    )`,
  // Segments have numbers of their own.
  isOfSegments: 'segment in (select value from json_each($2))',
  useIndex: (name) => `indexed by ${name}`,
  placeOfBytes: 'instr',
  companyNames: { table: 'companies', id: 'id' },
  isOneOf: (column, list) => `${column} in (select value from json_each(${list}))`,
  jsonInteger: (element) => element,
  jsonItem: (json, at) => `${json} ->> ${at}`,
  jsonElements: (json, alias) => `json_each(${json}) ${alias}`,
  jsonMembers: (json, alias) => `json_each(${json}) ${alias}`,
  bytesOfHex: (digits) => `unhex(${digits})`,
  atCompany: '',
}
