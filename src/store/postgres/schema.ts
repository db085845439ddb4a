// The tables of a store in PostgreSQL: those of the SQLite store, keyed by company.
//
// A distributed PostgreSQL (Citus) partitions them by company, so there is no foreign key, and no
// unique constraint without the distribution column. All text is compared by its bytes (collation
// "C"), as in the SQLite store, whatever the database's locale.

import { createHash } from 'node:crypto'
import type { Field } from '../../resources/field.ts'
import type { Resource } from '../../resources/resource.ts'
import {
  convertRows,
  createRecords,
  indexColumns,
  pastColumns,
  pieceColumns,
  piecesOf,
  recordsOf,
} from '../sql/pieces.ts'
import { findPastHeads, pastHeadColumns, pastHeadsOf } from '../sql/past-heads.ts'
import { dialect } from './dialect.ts'
import { text } from './text.ts'

/**
 * The steps that create and upgrade the tables that do not depend on a resource; the first is
 * number 1. A published step never changes: corrections are made in a further step.
 */
export const steps: readonly string[] = [
  `-- past_from: the earliest version of which everything is still known.
  create table store (id ${text} not null, past_from integer not null default 0);

  create table sources (id integer primary key, name ${text} not null unique);

  -- The log of imports: each committed one is a version of the registry.
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
    -- How many records of which resource tell what it changed: a JSON object.
    recorded ${text} not null default '{}'
  );

  -- A company that only a record's company_id has named has no jurisdiction and identifier yet.
  create table companies (
    id bigint primary key,
    jurisdiction ${text},
    identifier ${text},
    version integer not null
  );

  -- Finds a company by its name. The embedded store has an index for that, which could not be
  -- unique where companies are spread by id.
  create table company_names (
    identifier ${text} not null,
    jurisdiction ${text} not null,
    company_id bigint not null,
    primary key (identifier, jurisdiction)
  );

  -- What each source says of a company, beside what names it: a JSON object.
  create table company_attributes (
    company_id bigint not null,
    source_id integer not null,
    version integer not null,
    digest ${text} not null,
    attributes ${text} not null,
    as_of ${text},
    -- False where a snapshot of the source has lacked the company: it may come back.
    is_present boolean not null default true,
    primary key (company_id, source_id)
  );

  -- What an import has replaced or removed, with the versions between which it stood: version is
  -- the first of them, until the first one in which it no longer stood.
  create table companies_past (
    company_id bigint not null,
    until integer not null,
    version integer not null,
    jurisdiction ${text},
    identifier ${text},
    primary key (company_id, until)
  );

  create table company_attributes_past (
    company_id bigint not null,
    until integer not null,
    source_id integer not null,
    version integer not null,
    digest ${text} not null,
    attributes ${text} not null,
    as_of ${text},
    primary key (company_id, until, source_id)
  );

  -- One row a listing: what a page says beside its records.
  create table heads (
    company_id bigint not null,
    resource ${text} not null,
    total integer not null,
    version integer not null,
    meta ${text},
    primary key (company_id, resource)
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

  create view companies_view as
    select c.id, c.jurisdiction, c.identifier, s.name as source, a.attributes::json as attributes
    from companies c
    left join company_attributes a on a.company_id = c.id and a.is_present
    left join sources s on s.id = a.source_id;`,

  `-- lineage: drawn at random, names an import among all histories (../lineage.ts). One by one,
  -- since Citus takes no function that is volatile in an update.
  alter table imports add column lineage ${text};
  do $do$
  declare one integer;
  begin
    for one in select version from imports loop
      execute format('update imports set lineage = %L where version = %s',
        left(replace(gen_random_uuid()::text, '-', ''), 12), one);
    end loop;
  end $do$;
  alter table imports alter column lineage set not null;

  -- largest: the bytes of the largest record that a listing has, or has had, where those are more
  -- than ../page-size.ts says. The records are read before the table is locked.
  create temp table large_listings (resource ${text}, company_id bigint, bytes integer)
    on commit drop;
  do $do$
  declare one text;
  begin
    for one in select distinct resource from heads loop
      execute format('insert into large_listings
        select %L, company_id, max(octet_length(record))
        from %I where octet_length(record) > 8192 group by company_id', one, one);
    end loop;
  end $do$;
  alter table heads add column largest integer;
  update heads h set largest = l.bytes from large_listings l
    where h.company_id = l.company_id and h.resource = l.resource;`,

  // From here on, texts are kept apart from their index: `convertResource`.
  'select',

  `-- reverts: the versions that this one takes back, a JSON array; null for an import. reverted_by:
  -- the version that has taken this one back.
  alter table imports add column reverts ${text}, add column reverted_by integer;
  alter table company_attributes_past add column is_present boolean not null default true;`,

  // From here on, former heads of listings are kept: `fillPastHeads`.
  'select',

  `-- words: the rules by which the words of names were made (../name-words.ts).
  alter table store add column words ${text};

  -- The attribute with a company's name, if it has not the usual one.
  alter table sources add column name_attribute ${text};

  -- The name of each company that has one (../sql/keep-names.ts).
  create table names (company_id bigint primary key, name ${text} not null);

  -- The companies that have a word in their name, in chunks (../sql/postings.ts).
  create table words (
    word ${text} not null,
    first bigint not null,
    distances bytea not null,
    primary key (word, first)
  );`,
]

/** Finds the former heads of a resource's listings as of step 4, which had no table of them. */
export function fillPastHeads(resource: Resource): string {
  return findPastHeads(dialect, resource).join(';')
}

const types = { id: 'bigint', text } as const

/** Rewrites the listings of a resource as of step 2, in which each row had its record's text. */
export function convertResource(resource: Resource): string {
  const { name } = resource
  const rows = `${name}_rows`
  return [
    `drop view ${name}_view`,
    `drop index ${name}_by_id`,
    `alter table ${name} rename to ${rows}`,
    `alter index ${name}_pkey rename to ${rows}_pkey`,
    createResource(resource),
    ...convertRows(dialect, resource, rows),
    `drop table ${rows}`,
  ].join(';')
}

/** Creates the missing tables of one resource, and re-creates its views. */
export function createResource(resource: Resource): string {
  const { name } = resource
  const pieces = piecesOf(name)
  return `
    create table if not exists ${name} (
      ${indexColumns(resource, types)},
      primary key (company_id, position)
    );

    create table if not exists ${pieces} (
      ${pieceColumns(types)},
      primary key (company_id, position)
    );
    -- Keeps pieces in their rows, uncompressed, as long as they fit into a page.
    alter table ${pieces} alter column texts set storage external;
    alter table ${pieces} set (toast_tuple_target = 8160);

    -- Finds the listings that contain a record.
    create index if not exists ${name}_by_id on ${name} (id);

    -- The ids that the store has assigned: kept forever, even if the record is removed.
    create table if not exists ${name}_ids (
      id bigint not null,
      source_id integer not null,
      key ${text} not null,
      primary key (key, source_id)
    );
    create index if not exists ${name}_ids_by_id on ${name}_ids (id);

    create table if not exists ${name}_past (${pastColumns(types)});
    create table if not exists ${pastHeadsOf(name)} (${pastHeadColumns(types)});

    drop view if exists ${name}_view;
    drop view if exists ${recordsOf(name)};
    ${createRecords(dialect, resource)};
    ${createView(resource)};
    comment on view ${name}_view is '${viewMark(resource)}';
  `
}

function createView(resource: Resource): string {
  const columns = Object.entries(resource.fields)
    .map(([name, field]) => `${viewExpression(name, field)} as "${name}"`)
    .join(', ')
  const { name } = resource
  return `create view ${name}_view as select company_id, ${columns} from ${recordsOf(name)}`
}

function viewExpression(name: string, { kind }: Field): string {
  if (kind === 'id') return name
  const arrow = kind === 'text_list' ? '->' : '->>'
  const value = `record::json ${arrow} '${name}'`
  return kind === 'integer' ? `(${value})::bigint` : value
}

/** Identifies a view's definition, to detect a view made from an earlier declaration. */
export function viewMark(resource: Resource): string {
  return createHash('sha256').update(createView(resource)).digest('hex').slice(0, 16)
}

/** Each table's distribution column in Citus; tables without one are small, and copied to all. */
export function distributionColumns(resources: readonly Resource[]): readonly TableOfCitus[] {
  const byCompany = resources.flatMap(({ name }) =>
    [name, piecesOf(name), `${name}_past`, pastHeadsOf(name)].map((table) => ({
      table,
      column: 'company_id',
    })),
  )
  const byKey = resources.map(({ name }) => ({ table: `${name}_ids`, column: 'key' }))
  return [
    { table: 'companies', column: 'id' },
    { table: 'company_attributes', column: 'company_id' },
    { table: 'companies_past', column: 'company_id' },
    { table: 'company_attributes_past', column: 'company_id' },
    { table: 'heads', column: 'company_id' },
    ...byCompany,
    { table: 'names', column: 'company_id' },
    { table: 'company_names', column: 'identifier' },
    { table: 'words', column: 'word' },
    ...byKey,
    ...['store', 'sources', 'imports', 'keys'].map((table) => ({ table, column: undefined })),
  ]
}

export interface TableOfCitus {
  readonly table: string
  readonly column: string | undefined
}
