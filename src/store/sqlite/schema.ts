// The tables of the SQLite store.

import type { Resource } from '../../resources/resource.ts'
import { wordRules } from '../name-words.ts'

/** `Doss`: the `PRAGMA application_id` of a Dossier store. */
export const applicationId = 0x446f7373
/** That of stores before format 1, which kept listings in another way. */
export const formerApplicationId = 0x444f5353
/** The `PRAGMA user_version`, raised whenever the tables change their meaning. */
export const schemaVersion = 2

/** A setting that only takes effect before anything is written. */
export const filePragma = 'pragma page_size = 32768'

const registryTables = `
  -- past_from: the earliest version whose state is still completely known.
  -- words: the rules by which the words of names were made (../name-words.ts).
  -- segments: the greatest number that a segment has had.
  -- withheld: the state of the list of what is withheld that it agrees with.
  create table store (
    id text not null,
    past_from integer not null default 0,
    words text,
    segments integer not null default 0,
    withheld text not null default ''
  );

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
    reverted_by integer,
    -- The options and the mapping of an import, for the next one: JSON (../importing.ts, Recipe).
    recipe text,
    -- The attributes that its source had for the first time: a JSON array of names.
    attributes text not null default '[]',
    -- What it changed, besides the counts: JSON (../importing.ts, ImportDifference).
    difference text
  );

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
`

const companyTables = `
  -- A company known only from a record's company_id has no jurisdiction and identifier yet.
  create table companies (
    id integer primary key,
    jurisdiction text,
    identifier text,
    version integer not null,
    -- In this order, so that it finds an identifier in every jurisdiction, too.
    unique (identifier, jurisdiction)
  );

  -- What a company was called, or that it was known, from \`version\` until before \`until\`.
  create table companies_past (
    company_id integer not null,
    until integer not null,
    version integer not null,
    jurisdiction text,
    identifier text,
    primary key (company_id, until)
  ) without rowid;

  create index companies_past_by_name on companies_past (jurisdiction, identifier);

  -- The name of each company that has one.
  create table names (company_id integer primary key, name text not null);

  -- The companies that have a word in their name, in chunks (../sql/postings.ts).
  create table words (
    word text not null,
    first integer not null,
    distances blob not null,
    primary key (word, first)
  ) without rowid;
`

const listingTables = `
  -- What a listing is from a version on, until its next head: a listing of a resource, or of what
  -- the sources say about a company.
  create table heads (
    company_id integer not null,
    listing text not null,
    version integer not null,
    total integer not null,
    meta text,
    -- The bytes of its greatest record.
    largest integer not null,
    -- Its segments (../listing/directory.ts).
    directory text not null,
    -- The first of them, if the directory has no levels, so that one statement reads it, too.
    segment integer,
    primary key (company_id, listing, version)
  ) without rowid;

  -- Which listings have changed in a version.
  create index heads_by_version on heads (listing, version, company_id);

  -- What clients have to be told of changes that heads do not show, or do not show any more
  -- (../listing/tables.ts).
  create table traces (
    company_id integer not null,
    listing text not null,
    version integer not null,
    id integer not null,
    sort integer not null,
    kind text not null,
    primary key (company_id, listing, version, id)
  ) without rowid;

  create index traces_by_version on traces (listing, version, company_id);

  -- Consecutive records: their index (../listing/segment.ts), and their texts as they are served;
  -- without texts, a part of a long directory. Written once, never altered.
  -- With row ids: in other tables, a row of some kilobytes takes a page of its own besides.
  create table segments (
    segment integer primary key,
    company_id integer not null,
    entries blob not null,
    texts blob
  );

  -- The present listings in which a record is.
  create table record_ids (
    listing text not null,
    id integer not null,
    company_id integer not null,
    source_id integer not null,
    primary key (listing, id, company_id)
  ) without rowid;

  -- The ids that the store has assigned: kept forever, even if the record is removed.
  create table record_keys (
    listing text not null,
    source_id integer not null,
    key text not null,
    id integer not null,
    primary key (listing, source_id, key)
  ) without rowid;

  create unique index record_keys_by_id on record_keys (listing, id);
`

/** The views of a resource's present records: as text, and with a column for each field. */
export function createViews({ name, fields }: Resource): readonly string[] {
  const columns = Object.entries(fields).map(([field, { kind }]) => {
    const value = kind === 'text_list' ? `record -> '${field}'` : `record ->> '${field}'`
    return `, ${value} as "${field}"`
  })
  return [
    // A directory is a level and entries, of which the first number is that of a segment; above
    // level 0 those are directories in turn.
    `create view ${name}_records as
      with recursive directories (company_id, directory) as (
        select company_id, directory from heads h
        where listing = '${name}' and version = (
          select max(version) from heads l
          where l.company_id = h.company_id and l.listing = h.listing
        )
        union all
        select d.company_id, cast(s.entries as text)
        from directories d cross join json_each(d.directory) e
        cross join segments s on s.segment = e.value ->> 0
        where d.directory ->> 0 > 0 and e.type = 'array'
      )
      select d.company_id, r.value ->> 'id' as id, r.value as record
      from directories d cross join json_each(d.directory) e
      cross join segments s on s.segment = e.value ->> 0
      cross join json_each('[' || cast(s.texts as text) || ']') r
      where d.directory ->> 0 = 0 and e.type = 'array'`,
    `create view ${name}_view as select company_id${columns.join('')} from ${name}_records`,
  ]
}

/** Creates all tables. */
export function createTables(storeId: string): string {
  return `
    ${registryTables}
    ${companyTables}
    ${listingTables}
    insert into store (id, words) values ('${storeId}', '${wordRules}');
    pragma application_id = ${applicationId};
    pragma user_version = ${schemaVersion};
  `
}
