// The schema of a store in PostgreSQL, and its tables: those of the SQLite store, keyed by company.
//
// A distributed PostgreSQL (Citus) partitions them by company, so there is no foreign key, and no
// unique constraint without the distribution column. All text is compared by its bytes (collation
// "C"), as in the SQLite store, whatever the database's locale.

import { OperatorError } from '../../config/operator-error.ts'
import type { Field } from '../../resources/field.ts'
import type { Resource } from '../../resources/resource.ts'
import { versionEnd } from '../listing/tables.ts'
import type { RegistryDatabase } from '../sql/database.ts'
import { createSharedTables } from '../sql/schema.ts'

/** The type of a text column, compared by its bytes as in SQLite. */
const text = 'text collate "C"'

/** The format of the tables, raised whenever their meaning changes. */
export const format = 10

/** Keeps columns uncompressed, and within their rows as long as those fit into a page. */
function asTheyAre(table: string, columns: readonly string[]): string {
  const alter = `alter table ${table}`
  const each = columns.map((column) => `${alter} alter column ${column} set storage external;`)
  return `${each.join(' ')} ${alter} set (toast_tuple_target = 8160);`
}

const sharedTables = createSharedTables({
  text,
  long: 'bigint',
  flag: 'boolean',
  bytes: 'bytea',
  byKey: '',
  formatColumn: ' format integer not null,',
  // Present names are in company_names.
  namesIndex: `create index company_states_by_name on company_states (identifier, jurisdiction)
    where until < ${versionEnd}`,
  uniqueIds: 'index',
})

const ownTables = `
  -- Finds a company by its name. SQLite has an index for that, which could not be unique where
  -- companies are distributed by id.
  create table company_names (
    identifier ${text} not null,
    jurisdiction ${text} not null,
    company_id bigint not null,
    primary key (identifier, jurisdiction)
  );

  -- Consecutive records: their index (../listing/segment.ts), and their texts as they are served;
  -- without texts, a part of a long directory. Written once, never altered.
  create table segments (
    company_id bigint not null,
    segment bigint not null,
    entries bytea not null,
    texts bytea,
    primary key (company_id, segment)
  );

  -- The only segment of a listing, if it was written with this head (../sql/head-tables.ts).
  alter table heads add column entries bytea, add column texts bytea;
  create index heads_holding on heads (company_id, segment) where texts is not null;
  ${asTheyAre('segments', ['entries', 'texts'])}
  ${asTheyAre('heads', ['directory', 'entries', 'texts'])}
`

/** The segments that are entries of `d.directory`, whose first element is its level. */
const segmentsOfDirectory = `
  cross join json_array_elements(d.directory) with ordinality e (entry, place)
  join segments s on s.company_id = d.company_id and s.segment = (e.entry ->> 0)::bigint`

/** The directory in a segment without texts; conditions on it apply to other segments, too. */
const nodeOf = "case when s.texts is null then convert_from(s.entries, 'UTF8')::json end"

/** The levels of the longest listings: 256 entries each (../listing/directory.ts). */
const levels = 3

/**
 * The directories of a resource's present listings so many levels below their heads. Without
 * recursion, so that Citus can push it down to the nodes.
 */
function directoriesBelow(name: string, depth: number): string {
  if (depth === 0) {
    return `
      select company_id, directory::json as directory from heads h
      where listing = '${name}' and version = (
        select max(version) from heads l
        where l.company_id = h.company_id and l.listing = h.listing
      )`
  }
  return `
      select d.company_id, ${nodeOf} as directory
      from (${directoriesBelow(name, depth - 1)}) d ${segmentsOfDirectory}
      where (d.directory ->> 0)::integer > 0 and e.place > 1`
}

/** The views of a resource's present records: as text, and with a column for each field. */
export function createViews({ name, fields }: Resource): string {
  const columns = Object.entries(fields).map(([field, { kind }]) => {
    return `, ${columnOf(field, kind)} as "${field}"`
  })
  const depths = Array.from({ length: levels }, (_, depth) => directoriesBelow(name, depth))
  return `
    create view ${name}_records as
      select d.company_id, (r.value ->> 'id')::bigint as id, r.value as record
      from (${depths.join(' union all ')}) d
      cross join json_array_elements(d.directory) with ordinality e (entry, place)
      left join segments s on s.company_id = d.company_id and s.segment = (e.entry ->> 0)::bigint
      left join heads o on o.company_id = d.company_id and o.segment = (e.entry ->> 0)::bigint
        and o.texts is not null
      cross join json_array_elements(
        ('[' || convert_from(coalesce(s.texts, o.texts), 'UTF8') || ']')::json
      ) r
      where (d.directory ->> 0)::integer = 0 and e.place > 1;

    create view ${name}_view as select company_id${columns.join('')} from ${name}_records;
  `
}

function columnOf(name: string, kind: Field['kind']): string {
  if (kind === 'id') return name
  const value = `record ${kind === 'text_list' ? '->' : '->>'} '${name}'`
  return kind === 'integer' ? `(${value})::bigint` : value
}

/** Creates all tables, except for the row of `store`. */
export const createTables = `${sharedTables} ${ownTables}`

/** A table, and the column by which Citus distributes it; those without one are small. */
interface TableOfCitus {
  readonly table: string
  readonly column: string | undefined
}

/** Tables that are distributed by columns of one type are in one group, on the same nodes. */
export const distributedTables: readonly TableOfCitus[] = [
  { table: 'company_states', column: 'company_id' },
  { table: 'names', column: 'company_id' },
  { table: 'heads', column: 'company_id' },
  { table: 'traces', column: 'company_id' },
  { table: 'segments', column: 'company_id' },
  { table: 'record_ids', column: 'id' },
  { table: 'company_names', column: 'identifier' },
  { table: 'words', column: 'word' },
  { table: 'record_keys', column: 'key' },
  ...['store', 'sources', 'imports', 'keys'].map((table) => ({ table, column: undefined })),
]

/** The schema of a session, as the catalogs name it; its name may need quotation marks. */
export const ownSchema = 'quote_ident(current_schema())::regnamespace'

const schemaSql = `
  select to_regnamespace($1) is not null, has_database_privilege(current_database(), 'create'),
    quote_ident(current_user)`

/**
 * Creates a schema, unless there is one: PostgreSQL would ask for the right to create it even then.
 *
 * @throws OperatorError if the user lacks that right.
 */
export async function createSchema(db: RegistryDatabase, schema: string): Promise<void> {
  type Found = [isThere: boolean, mayCreate: boolean, user: string]
  const [[isThere, mayCreate, user] = []] = await db.rows<Found>(schemaSql, schema)
  if (isThere === true) return
  if (mayCreate !== true) {
    throw new OperatorError(
      `this user may not create the schema ${schema}; as the owner of the database, run: ` +
        `create schema ${schema} authorization ${user}`,
    )
  }
  await db.run(`create schema if not exists ${schema}`)
}
