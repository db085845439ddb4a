// The tables of the embedded store. All but the first group derive from the declared resources.

import type { Field } from '../../resources/field.ts'
import type { Resource } from '../../resources/resource.ts'
import { largestRecords } from '../page-size.ts'

/** `DOSS`: what `PRAGMA application_id` says of a Dossier store. */
export const applicationId = 0x444f5353
/** What `PRAGMA user_version` says: raised whenever the tables change their meaning. */
export const schemaVersion = 3

/** A setting that only takes effect before anything is written. */
export const filePragma = 'pragma page_size = 16384'

// What an import has replaced or removed, with the versions between which it stood: `version` is
// the first of them, `until` the first one in which it no longer stood.
const pastTables = `
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
    primary key (company_id, until, source_id)
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
  -- past_from: the earliest version of which everything is still known.
  create table store (id text not null, past_from integer not null default 0);

  create table sources (id integer primary key, name text not null unique);

  -- The log of imports: each committed one is a version of the registry.
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
    -- How many records of which resource tell what it changed: a JSON object.
    recorded text not null default '{}',
    -- Drawn at random: names this import among all histories (../lineage.ts).
    lineage text not null
  );

  -- A company that only a record's company_id has named has no jurisdiction and identifier yet.
  create table companies (
    id integer primary key,
    jurisdiction text,
    identifier text,
    version integer not null,
    unique (jurisdiction, identifier)
  );

  -- What each source says of a company, beside what names it: a JSON object.
  create table company_attributes (
    company_id integer not null,
    source_id integer not null,
    version integer not null,
    digest text not null,
    attributes text not null,
    as_of text,
    -- 0 where a snapshot of the source has lacked the company: it may come back.
    is_present integer not null default 1,
    primary key (company_id, source_id)
  ) without rowid;

  ${pastTables}

  -- One row a listing: what a page says beside its records.
  create table heads (
    company_id integer not null,
    resource text not null,
    total integer not null,
    version integer not null,
    meta text,
    -- The bytes of the largest record that the listing has, or has had, where those are more than
    -- ../page-size.ts says.
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

// What makes a store of each earlier format one of the next; `createResource` does the rest.
const upgrades: Readonly<Record<number, string>> = {
  1: `
    alter table keys add column rate text;
    alter table store add column past_from integer not null default 0;
    update store set past_from = coalesce((select max(version) from imports), 0);
    alter table imports add column as_of text;
    alter table imports add column recorded text not null default '{}';
    alter table company_attributes add column as_of text;
    alter table company_attributes add column is_present integer not null default 1;
    ${pastTables}
    drop view companies_view;
    ${companiesView}
  `,
  2: `
    alter table imports add column lineage text not null default '';
    update imports set lineage = lower(hex(randomblob(6)));
    alter table heads add column largest integer;
  `,
}

/** Makes everything that does not depend on a resource. */
export function createRegistry(storeId: string): string {
  return `
    ${registryTables}
    insert into store (id) values ('${storeId}');
    pragma application_id = ${applicationId};
    pragma user_version = ${schemaVersion};
  `
}

/** Brings everything that does not depend on a resource to this format. */
export function upgradeRegistry(from: number): string {
  const steps = Object.entries(upgrades).filter(([format]) => Number(format) >= from)
  return `${steps.map(([, step]) => step).join('\n')} pragma user_version = ${schemaVersion};`
}

/** Brings what a store of an earlier format says of a resource's listings to this format. */
export function upgradeResource({ name }: Resource, from: number): string {
  return from >= 3
    ? ''
    : `
    update heads set largest = l.bytes
    from (${largestRecords(name)}) l
    where heads.company_id = l.company_id and heads.resource = '${name}';
  `
}

/**
 * Makes the tables of one resource where they are missing, and its view anew.
 *
 * Positions run from 0 without gaps, oldest first: a listing that is served newest first is read
 * backwards, so that news are appended to either kind (see ARCHITECTURE.md). `sort` is the value
 * that comes before `id` in the order, empty where there is none; `version` is the import since
 * which the record stands as it is.
 */
export function createResource(resource: Resource): string {
  const { name } = resource
  return `
    create table if not exists ${name} (
      company_id integer not null,
      position integer not null,
      id integer not null,
      sort text not null,
      source_id integer not null,
      version integer not null,
      digest text not null,
      record text not null,
      primary key (company_id, position)
    ) without rowid;

    ${createIdIndex(resource)}

    -- The ids that the store has assigned: kept for good, also when the record is gone.
    create table if not exists ${name}_ids (
      id integer primary key,
      source_id integer not null,
      key text not null,
      unique (source_id, key)
    );

    -- What was replaced or removed, and the versions between which it stood.
    create table if not exists ${name}_past (
      company_id integer not null,
      until integer not null,
      id integer not null,
      version integer not null,
      source_id integer not null,
      sort text not null,
      digest text not null,
      record text not null,
      primary key (company_id, until, id)
    ) without rowid;

    drop view if exists ${name}_view;
    create view ${name}_view as
      select company_id, ${viewColumns(resource)} from ${name};
  `
}

/** Finds the listings in which a record stands; holds all that a merge compares. */
export function createIdIndex({ name }: Resource): string {
  return `create index if not exists ${name}_by_id on ${name} (id, digest, source_id);`
}

export function dropIdIndex({ name }: Resource): string {
  return `drop index ${name}_by_id;`
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
