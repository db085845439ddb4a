// The tables of the SQLite store. All but the first group derive from the declared resources.

import type { Field } from '../../resources/field.ts'
import type { Resource } from '../../resources/resource.ts'
import { wordRules } from '../name-words.ts'
import { largestRecords } from '../page-size.ts'
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
import { createIdIndex, dropIdIndex } from './id-index.ts'

/** `DOSS`: the `PRAGMA application_id` of a Dossier store. */
export const applicationId = 0x444f5353
/** The `PRAGMA user_version`, raised whenever the tables change their meaning. */
export const schemaVersion = 7

/** A setting that only takes effect before anything is written. */
export const filePragma = 'pragma page_size = 16384'

// Replaced and removed states, with the versions between which they were current: `version` is the
// first of them, `until` the first one in which the state was no longer current.
const pastTables = (columns: string) => `
  create table companies_past (
    company_id integer not null,
    until integer not null,
    version integer not null,
    jurisdiction text,
    identifier text,
    primary key (company_id, until)
  ) without rowid;

  create table company_attributes_past (
    company_id integer not null,
    until integer not null,
    source_id integer not null,
    version integer not null,
    digest text not null,
    attributes text not null,
    as_of text,
    ${columns}
    primary key (company_id, until, source_id)
  ) without rowid;
`

const presence = 'is_present integer not null default 1'

// A company known only from a record's company_id has no jurisdiction and identifier yet.
const companiesTable = `
  create table companies (
    id integer primary key,
    jurisdiction text,
    identifier text,
    version integer not null,
    -- In this order, so that it finds an identifier in every jurisdiction, too.
    unique (identifier, jurisdiction)
  );
`

const nameTables = `
  -- The name of each company that has one (../sql/keep-names.ts).
  create table names (company_id integer primary key, name text not null);

  -- The companies that have a word in their name, in chunks (../sql/postings.ts).
  create table words (
    word text not null,
    first integer not null,
    distances blob not null,
    primary key (word, first)
  ) without rowid;
`

const companiesView = `
  create view companies_view as
    select c.id, c.jurisdiction, c.identifier, s.name as source, a.attributes
    from companies c
    left join company_attributes a on a.company_id = c.id and a.is_present
    left join sources s on s.id = a.source_id;
`

const registryTables = `
  -- past_from: the earliest version whose state is still completely known.
  -- words: the rules by which the words of names were made (../name-words.ts).
  create table store (id text not null, past_from integer not null default 0, words text);

  -- name_attribute: the attribute with a company's name, if it has not the usual one.
  create table sources (id integer primary key, name text not null unique, name_attribute text);

  -- The log of imports; each committed one is a version of the registry.
  create table imports (
    version integer primary key,
    resource text not null,
    source_id integer not null,
    is_snapshot integer not null,
    started_at integer not null,
    committed_at integer not null,
    files text not null,
    read integer not null, inserted integer not null, updated integer not null,
    unchanged integer not null, refused integer not null, removed integer not null,
    companies_created integer not null,
    as_of text,
    -- The number of records that describe its changes, by resource: a JSON object.
    recorded text not null default '{}',
    -- Random: identifies this import among all histories (../lineage.ts).
    lineage text not null,
    -- The versions that this one takes back, a JSON array; null for an import.
    reverts text,
    -- The version that has taken this one back.
    reverted_by integer
  );

  ${companiesTable}
  ${nameTables}
  -- What each source says about a company, apart from its identity: a JSON object.
  create table company_attributes (
    company_id integer not null,
    source_id integer not null,
    version integer not null,
    digest text not null,
    attributes text not null,
    as_of text,
    -- 0 if the source's last snapshot lacked the company, which may return.
    ${presence},
    primary key (company_id, source_id)
  ) without rowid;

  ${pastTables(`${presence},`)}

  -- One row per listing: the values in a page besides its records.
  create table heads (
    company_id integer not null,
    resource text not null,
    total integer not null,
    version integer not null,
    meta text,
    -- The bytes of the largest record that the listing has or has had, if that exceeds the limit
    -- in ../page-size.ts.
    largest integer,
    primary key (company_id, resource)
  ) without rowid;

  create table keys (
    id integer primary key,
    name text not null,
    hint text not null,
    hash blob not null unique,
    scopes text,
    created_at integer not null,
    expires_at integer,
    revoked_at integer,
    rate text
  );

  ${companiesView}
`

// Upgrades a store of each earlier format to the next one; `createResource` and `convertResource`
// do the rest.
const upgrades: Readonly<Record<number, string>> = {
  1: `
    alter table keys add column rate text;
    alter table store add column past_from integer not null default 0;
    update store set past_from = coalesce((select max(version) from imports), 0);
    alter table imports add column as_of text;
    alter table imports add column recorded text not null default '{}';
    alter table company_attributes add column as_of text;
    alter table company_attributes add column ${presence};
    ${pastTables('')}
    drop view companies_view;
    ${companiesView}
  `,
  2: `
    alter table imports add column lineage text not null default '';
    update imports set lineage = lower(hex(randomblob(6)));
    alter table heads add column largest integer;
  `,
  4: `
    alter table imports add column reverts text;
    alter table imports add column reverted_by integer;
    alter table company_attributes_past add column ${presence};
  `,
  6: `
    alter table store add column words text;
    alter table sources add column name_attribute text;
    ${nameTables}
    drop view companies_view;
    alter table companies rename to former_companies;
    ${companiesTable}
    insert into companies select id, jurisdiction, identifier, version from former_companies;
    drop table former_companies;
    ${companiesView}
  `,
}

/** Creates everything that does not depend on a resource. */
export function createRegistry(storeId: string): string {
  return `
    ${registryTables}
    insert into store (id, words) values ('${storeId}', '${wordRules}');
    pragma application_id = ${applicationId};
    pragma user_version = ${schemaVersion};
  `
}

/** Upgrades everything that does not depend on a resource. */
export function upgradeRegistry(from: number): string {
  const steps = Object.entries(upgrades).filter(([format]) => Number(format) >= from)
  return `${steps.map(([, step]) => step).join('\n')} pragma user_version = ${schemaVersion};`
}

/** Rewrites the listings of a resource as of format 3, in which each row had its record's text. */
export function convertResource(resource: Resource): string {
  const { name } = resource
  const rows = `${name}_rows`
  return [
    `drop view ${name}_view`,
    dropIdIndex(resource),
    `alter table ${name} rename to ${rows}`,
    createResource(resource),
    dropIdIndex(resource),
    ...convertRows(dialect, resource, rows),
    createIdIndex(resource),
    `drop table ${rows}`,
    `update heads set largest = l.bytes
      from (${largestRecords(name)}) l
      where heads.company_id = l.company_id and heads.resource = '${name}'
        and heads.largest is null`,
  ].join(';')
}

/** Finds the former heads of a resource's listings as of format 5, which had no table of them. */
export function fillPastHeads(resource: Resource): string {
  return findPastHeads(dialect, resource).join(';')
}

const types = { id: 'integer', text: 'text' } as const

/** Creates the missing tables of one resource, and re-creates its views. */
export function createResource(resource: Resource): string {
  const { name } = resource
  const pieces = piecesOf(name)
  return `
    create table if not exists ${name} (
      ${indexColumns(resource, types)},
      primary key (company_id, position)
    ) without rowid;

    -- With row ids: in other tables, a row of 4 KB takes a page of 16 KB besides.
    create table if not exists ${pieces} (${pieceColumns(types)});
    create unique index if not exists ${pieces}_by_position on ${pieces} (company_id, position);

    ${createIdIndex(resource)};

    -- The ids that the store has assigned: kept forever, even if the record is removed.
    create table if not exists ${name}_ids (
      id integer primary key,
      source_id integer not null,
      key text not null,
      unique (source_id, key)
    );

    create table if not exists ${name}_past (${pastColumns(types)}) without rowid;
    create table if not exists ${pastHeadsOf(name)} (${pastHeadColumns(types)}) without rowid;

    drop view if exists ${name}_view;
    drop view if exists ${recordsOf(name)};
    ${createViews(resource).join(';')};
  `
}

/** Creates the views of a resource: its records, and the same with a column for each field. */
export function createViews(resource: Resource): readonly string[] {
  const { name } = resource
  return [
    createRecords(dialect, resource),
    `create view ${name}_view as
      select company_id, ${viewColumns(resource)} from ${recordsOf(name)}`,
  ]
}

function viewColumns(resource: Resource): string {
  return Object.entries(resource.fields)
    .map(([name, field]) => `${viewExpression(name, field)} as "${name}"`)
    .join(', ')
}

function viewExpression(name: string, { kind }: Field): string {
  if (kind === 'id') return name
  return kind === 'text_list' ? `record -> '${name}'` : `record ->> '${name}'`
}
