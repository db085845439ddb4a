// The tables of a store in PostgreSQL: those of the SQLite store, keyed by company.
//
// A distributed PostgreSQL (Citus) partitions them by company, so there is no foreign key, and no
// unique constraint without the distribution column. All text is compared by its bytes (collation
// "C"), as in the SQLite store, whatever the database's locale.

import { createHash } from 'node:crypto'
import type { Field } from '../../resources/field.ts'
import type { Resource } from '../../resources/resource.ts'

/** The type of a text column, compared by its bytes as in SQLite. */
const text = 'text collate "C"'

/** The format of the tables, raised whenever they change their meaning. */
export const format = 2

/** Keeps columns uncompressed, and in their rows as long as those fit into a page. */
function asTheyAre(table: string, columns: readonly string[]): string {
  const alter = `alter table ${table}`
  const each = columns.map((column) => `${alter} alter column ${column} set storage external;`)
  return `${each.join(' ')} ${alter} set (toast_tuple_target = 8160);`
}

const registryTables = `
  -- past_from: the earliest version whose state is still completely known.
  -- words: the rules by which the words of names were made (../name-words.ts).
  -- segments: the greatest number that a segment has had.
  -- withheld: the state of the list of what is withheld that it agrees with.
  create table store (
    id ${text} not null,
    format integer not null,
    past_from integer not null default 0,
    words ${text},
    segments bigint not null default 0,
    withheld ${text} not null default ''
  );

  -- name_attribute: the attribute with a company's name, if it has not the usual one.
  create table sources (
    id integer primary key,
    name ${text} not null unique,
    name_attribute ${text}
  );

  -- The log of imports; each committed one is a version of the registry.
  create table imports (
    version integer primary key,
    resource ${text} not null,
    source_id integer not null,
    is_snapshot boolean not null,
    started_at bigint not null,
    committed_at bigint not null,
    files ${text} not null,
    read bigint not null, inserted bigint not null, updated bigint not null,
    unchanged bigint not null, refused bigint not null, removed bigint not null,
    companies_created bigint not null,
    as_of ${text},
    -- The number of records that describe its changes, by resource: a JSON object.
    recorded ${text} not null default '{}',
    -- Random: identifies this import among all histories (../lineage.ts).
    lineage ${text} not null,
    -- The versions that this one takes back, a JSON array; null for an import.
    reverts ${text},
    -- The version that has taken this one back.
    reverted_by integer,
    -- The options and the mapping of an import, for the next one: JSON (../importing.ts, Recipe).
    recipe ${text},
    -- The attributes that its source had for the first time: a JSON array of names.
    attributes ${text} not null default '[]',
    -- What it changed, besides the counts: JSON (../importing.ts, ImportDifference).
    difference ${text}
  );

  create table keys (
    id integer primary key,
    name ${text} not null,
    hint ${text} not null,
    hash bytea not null unique,
    scopes ${text},
    created_at bigint not null,
    expires_at bigint,
    revoked_at bigint,
    rate ${text}
  );
`

const companyTables = `
  -- A company known only from a record's company_id has no jurisdiction and identifier yet.
  create table companies (
    id bigint primary key,
    jurisdiction ${text},
    identifier ${text},
    version integer not null
  );

  -- Finds a company by its name. SQLite has an index for that, which could not be unique where
  -- companies are distributed by id.
  create table company_names (
    identifier ${text} not null,
    jurisdiction ${text} not null,
    company_id bigint not null,
    primary key (identifier, jurisdiction)
  );

  -- What a company was called, or that it was known, from \`version\` until before \`until\`.
  create table companies_past (
    company_id bigint not null,
    until integer not null,
    version integer not null,
    jurisdiction ${text},
    identifier ${text},
    primary key (company_id, until)
  );

  create index companies_past_by_name on companies_past (identifier, jurisdiction);

  -- The name of each company that has one.
  create table names (company_id bigint primary key, name ${text} not null);

  -- The companies that have a word in their name, in chunks (../sql/postings.ts).
  create table words (
    word ${text} not null,
    first bigint not null,
    distances bytea not null,
    primary key (word, first)
  );
`

const listingTables = `
  -- What a listing is from a version on, until its next head: a listing of a resource, or of what
  -- the sources say about a company.
  create table heads (
    company_id bigint not null,
    listing ${text} not null,
    version integer not null,
    total integer not null,
    meta ${text},
    -- The bytes of its greatest record.
    largest integer not null,
    -- Its segments (../listing/directory.ts).
    directory ${text} not null,
    -- The first of them, if the directory has no levels, so that one statement reads it, too.
    segment bigint,
    primary key (company_id, listing, version)
  );
  ${asTheyAre('heads', ['directory'])}

  -- Which listings have changed in a version.
  create index heads_by_version on heads (listing, version, company_id);

  -- What clients have to be told of changes that heads do not show, or do not show any more
  -- (../listing/tables.ts).
  create table traces (
    company_id bigint not null,
    listing ${text} not null,
    version integer not null,
    id bigint not null,
    sort bigint not null,
    kind ${text} not null,
    primary key (company_id, listing, version, id)
  );

  create index traces_by_version on traces (listing, version, company_id);

  -- Consecutive records: their index (../listing/segment.ts), and their texts as they are served;
  -- without texts, a part of a long directory. Written once, never altered.
  create table segments (
    company_id bigint not null,
    segment bigint not null,
    entries bytea not null,
    texts bytea,
    primary key (company_id, segment)
  );
  ${asTheyAre('segments', ['entries', 'texts'])}

  -- The present listings in which a record is.
  create table record_ids (
    listing ${text} not null,
    id bigint not null,
    company_id bigint not null,
    source_id integer not null,
    primary key (listing, id, company_id)
  );

  -- The ids that the store has assigned: kept forever, even if the record is removed.
  create table record_keys (
    listing ${text} not null,
    source_id integer not null,
    key ${text} not null,
    id bigint not null,
    primary key (listing, source_id, key)
  );

  create index record_keys_by_id on record_keys (listing, id);
`

/** Those segments of `d.directory` which are its entries: the first element is its level. */
const segmentsOfDirectory = `
  cross join json_array_elements(d.directory) with ordinality e (entry, place)
  join segments s on s.company_id = d.company_id and s.segment = (e.entry ->> 0)::bigint`

/** The directory that a segment without texts is; conditions on it meet other segments, too. */
const nodeOf = "case when s.texts is null then convert_from(s.entries, 'UTF8')::json end"

/** The levels of the longest listings: 256 entries each (../listing/directory.ts). */
const levels = 3

/**
 * The directories of a resource's present listings so many levels below their heads. Without
 * recursion, so that Citus runs it where the rows are.
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
function createViews({ name, fields }: Resource): string {
  const columns = Object.entries(fields).map(([field, { kind }]) => {
    return `, ${columnOf(field, kind)} as "${field}"`
  })
  const depths = Array.from({ length: levels }, (_, depth) => directoriesBelow(name, depth))
  return `
    drop view if exists ${name}_view;
    drop view if exists ${name}_records;

    create view ${name}_records as
      select d.company_id, (r.value ->> 'id')::bigint as id, r.value as record
      from (${depths.join(' union all ')}) d ${segmentsOfDirectory}
      cross join json_array_elements(('[' || convert_from(s.texts, 'UTF8') || ']')::json) r
      where (d.directory ->> 0)::integer = 0 and e.place > 1;

    create view ${name}_view as select company_id${columns.join('')} from ${name}_records;
  `
}

function columnOf(name: string, kind: Field['kind']): string {
  if (kind === 'id') return name
  const value = `record ${kind === 'text_list' ? '->' : '->>'} '${name}'`
  return kind === 'integer' ? `(${value})::bigint` : value
}

/** Creates the views, and marks them, so that views of an earlier declaration are detected. */
export function declareResource(resource: Resource): string {
  const mark = viewMark(resource)
  return `${createViews(resource)} comment on view ${resource.name}_view is '${mark}';`
}

export function viewMark(resource: Resource): string {
  return createHash('sha256').update(createViews(resource)).digest('hex').slice(0, 16)
}

/** Creates all tables, except for the row of `store`. */
export const createTables = `${registryTables} ${companyTables} ${listingTables}`

/** A table, and the column by which Citus distributes it; those without one are small. */
export interface TableOfCitus {
  readonly table: string
  readonly column: string | undefined
}

/** Tables that are distributed by columns of one type are in one group, on the same nodes. */
export const distributedTables: readonly TableOfCitus[] = [
  { table: 'companies', column: 'id' },
  { table: 'companies_past', column: 'company_id' },
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
