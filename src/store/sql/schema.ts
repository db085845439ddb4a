// The tables of a store that are the same in both databases, except for the names of types.

import { OperatorError } from '../../config/operator-error.ts'
import { versionEnd } from '../listing/tables.ts'

/** @param found the format of the tables, which another version has made. */
export function otherFormat(store: string, found: unknown, format: number): OperatorError {
  return new OperatorError(
    `${store} was written by another version of Dossier (format ${String(found)}, this one reads ` +
      `${format}); use that version, or import its files into a new store: dossier import`,
  )
}

/** How a database writes the parts of table definitions. */
export interface SchemaDialect {
  /** Text that is compared by its bytes. */
  readonly text: string
  /** Integers of 53 bits. */
  readonly long: string
  readonly flag: string
  readonly bytes: string
  /** Ends a table whose rows are kept in the order of their keys. */
  readonly byKey: string
  /** A further column of `store`, with a comma. */
  readonly formatColumn: string
  /** Creates an index of company_states by name. */
  readonly namesIndex: string
  /** How the index of assigned ids is created. */
  readonly uniqueIds: 'unique index' | 'index'
}

/** Creates all tables but `segments`, which each database keeps in its own way. */
export function createSharedTables(d: SchemaDialect): string {
  return `${registryTables(d)} ${companyTables(d)} ${listingTables(d)}`
}

const registryTables = (d: SchemaDialect) => `
  -- past_from: the earliest version whose state is still completely known.
  -- segments: the greatest number that a segment has had; recorded: the greatest id that a recorded
  -- change has had.
  -- withheld: the state of the list of what is withheld with which it agrees.
  create table store (
    id ${d.text} not null,${d.formatColumn}
    past_from integer not null default 0,
    segments ${d.long} not null default 0,
    recorded ${d.long} not null default 0,
    withheld ${d.text} not null default ''
  );

  -- name_attributes: the attributes in which a source names companies, each since a version:
  -- a JSON array of pairs; null for the usual one.
  create table sources (
    id integer primary key,
    name ${d.text} not null unique,
    name_attributes ${d.text}
  );

  -- The log of imports; each committed one is a version of the registry.
  create table imports (
    version integer primary key,
    resource ${d.text} not null,
    source_id integer not null,
    is_snapshot ${d.flag} not null,
    started_at ${d.long} not null,
    committed_at ${d.long} not null,
    files ${d.text} not null,
    read ${d.long} not null, inserted ${d.long} not null, updated ${d.long} not null,
    unchanged ${d.long} not null, refused ${d.long} not null, removed ${d.long} not null,
    companies_created ${d.long} not null,
    as_of ${d.text},
    -- The number of records that describe its changes, by resource: a JSON object.
    recorded ${d.text} not null default '{}',
    -- Random: identifies this import among all histories (import-log.ts).
    lineage ${d.text} not null,
    -- The versions that this one takes back, a JSON array; null for an import.
    reverts ${d.text},
    -- The version that has taken this one back.
    reverted_by integer,
    -- The options and the mapping of an import, for the next one: JSON (../importing.ts, Recipe).
    recipe ${d.text},
    -- The attributes that its source had for the first time: a JSON array of names.
    attributes ${d.text} not null default '[]',
    -- What it changed, besides the counts: JSON (../importing.ts, ImportDifference).
    difference ${d.text}
  );

  create table keys (
    id integer primary key,
    name ${d.text} not null,
    hint ${d.text} not null,
    hash ${d.bytes} not null unique,
    scopes ${d.text},
    created_at ${d.long} not null,
    expires_at ${d.long},
    revoked_at ${d.long},
    rate ${d.text}
  );
`

const companyTables = (d: SchemaDialect) => `
  -- How its register names a company from \`version\` on until before \`until\`, the highest number
  -- for the present. A company known only from a record's company_id has no jurisdiction and
  -- identifier yet.
  create table company_states (
    company_id ${d.long} not null,
    version integer not null,
    until integer not null,
    -- The version that made the company known.
    since integer not null,
    jurisdiction ${d.text},
    identifier ${d.text},
    primary key (company_id, version)
  )${d.byKey};

  ${d.namesIndex};

  -- The companies that are known now.
  create view companies as
    select company_id as id, jurisdiction, identifier, since as version
    from company_states where until = ${versionEnd};

  -- The name of each company that has one.
  create table names (company_id ${d.long} primary key, name ${d.text} not null);

  -- The companies that have a word in their name.
  create table words (
    word ${d.text} not null,
    company_id ${d.long} not null,
    primary key (word, company_id)
  )${d.byKey};
`

const listingTables = (d: SchemaDialect) => `
  -- What a listing is from a version on, until its next head: a listing of a resource, or of what
  -- the sources say about a company.
  create table heads (
    company_id ${d.long} not null,
    listing ${d.text} not null,
    version integer not null,
    total integer not null,
    meta ${d.text},
    -- The bytes of its largest record.
    largest integer not null,
    -- Its segments (../listing/directory.ts).
    directory ${d.text} not null,
    -- The first of them, if the directory has no levels, so that one statement reads it, too.
    segment ${d.long},
    primary key (company_id, listing, version)
  )${d.byKey};

  -- Which listings have changed in a version.
  create index heads_by_version on heads (listing, version, company_id);

  -- Changes that clients need to know, but that heads do not show, or no longer show
  -- (../listing/tables.ts).
  create table traces (
    company_id ${d.long} not null,
    listing ${d.text} not null,
    version integer not null,
    id ${d.long} not null,
    sort ${d.long} not null,
    kind ${d.text} not null,
    primary key (company_id, listing, version, id)
  )${d.byKey};

  create index traces_by_version on traces (listing, version, company_id);

  -- The present listings in which a record is.
  create table record_ids (
    listing ${d.text} not null,
    id ${d.long} not null,
    company_id ${d.long} not null,
    source_id integer not null,
    primary key (listing, id, company_id)
  )${d.byKey};

  -- The ids that the store has assigned: kept forever, even if the record is removed.
  create table record_keys (
    listing ${d.text} not null,
    source_id integer not null,
    key ${d.text} not null,
    id ${d.long} not null,
    primary key (listing, source_id, key)
  )${d.byKey};

  create ${d.uniqueIds} record_keys_by_id on record_keys (listing, id);
`
