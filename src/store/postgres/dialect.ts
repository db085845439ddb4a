// The dialect of PostgreSQL.

import type { Dialect } from '../sql/dialect.ts'
import { together } from '../sql/layout.ts'
import { companies } from './named-companies.ts'
import { text } from './text.ts'

export const dialect: Dialect = {
  ...together,
  greatest: 'greatest',
  least: 'least',
  text,
  integer: 'bigint',
  anyValue: 'jsonb',
  rowKey: 'bigint not null',
  temporary: 'pg_temp',
  orderedJoin: 'join',
  companyNames: { table: 'company_names', id: 'company_id' },
  byId: (name, alias = '') => `${name} ${alias}`,
  // `substr` would have to count the characters of the whole text.
  withoutFirst: (text) => `right(${text}, -1)`,
  anyValueOf: (value) => `to_jsonb(${value})`,
  jsonMember: (json, name) => `(${json}::json -> '${name}')::text collate "C"`,
  jsonLength: (json) => `json_array_length(${json}::json)`,
  jsonString: (json) => `(${json}::json #>> '{}') collate "C"`,
  jsonInteger: (element) => `cast(${element} #>> '{}' as bigint)`,
  jsonMembers: (json, alias) => `json_each_text(${json}::json) ${alias}`,
  jsonElements: (json, alias) =>
    `json_array_elements(${json}::json) with ordinality ${alias} (value, key)`,
  // Temporary tables are not analysed automatically; plans made for a few rows would be used for
  // millions.
  filled: (table) => [`analyze ${table}`],
  sortedTable: (name, columns) => `create temp table ${name} (${columns})`,
  joined: (text, place) => `string_agg(${text}, ',' order by ${place})`,
  slice: (text, at, bytes) =>
    `convert_from(substr(convert_to(${text}, 'UTF8'), ${at} + 1, ${bytes}), 'UTF8') collate "C"`,
  jsonValue: (json, name) => `(${json}::json ->> '${name}') collate "C"`,
  numbers: (query, order) =>
    `(select string_agg(int4send(entry::integer), ''::bytea order by ${order}) from (${query}) q)`,
  numbersOf: (value) => (value instanceof Uint8Array ? bigEndian(value) : new Int32Array(0)),
  pairs: (table, first, second, order) =>
    `(select json_agg(json_build_array(${first}, ${second}) order by ${order})::text
      from ${table})`,
  jsonText: (json, name) => `
    case json_typeof(${json}::json -> ${name}) when 'string' then ${json}::json ->> ${name} end`,
  jsonItem: (json, at) => `(${json} ->> ${at})`,
  jsonArray: (value) => `json_agg(${value})::text`,
  bytesOfHex: (digits) => `decode(${digits}, 'hex')`,
  unixSeconds: (timestamp) => `extract(epoch from (${timestamp})::timestamptz)::bigint`,
  deleteCut: (table) => `
    delete from ${table} r using cut t
    where r.company_id = t.company_id and r.position between t.first and t.last`,
  // Indexes are kept, because dropping one would lock readers out.
  firstLoad: () => ({ before: [], after: [] }),
  companies,
}

function bigEndian(bytes: Uint8Array): Int32Array {
  const numbers = new Int32Array(bytes.length / 4)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  for (let n = 0; n < numbers.length; n++) numbers[n] = view.getInt32(n * 4)
  return numbers
}
