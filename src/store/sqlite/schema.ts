// The tables of the SQLite store.

import type { Resource } from '../../resources/resource.ts'
import { createSharedTables } from '../sql/schema.ts'

/** `Doss`: the `PRAGMA application_id` of a Dossier store. */
export const applicationId = 0x446f7373
/** The `PRAGMA user_version`, raised whenever the tables change their meaning. */
export const schemaVersion = 9

/** A setting that only takes effect before anything is written. */
export const filePragma = 'pragma page_size = 32768'

const sharedTables = createSharedTables({
  text: 'text',
  long: 'integer',
  flag: 'integer',
  bytes: 'blob',
  byKey: ' without rowid',
  formatColumn: '',
  // In this order, so that it finds an identifier in every jurisdiction, too. No two companies have
  // the same name at the same time, so none of them loses it in the same version as another one.
  namesIndex: `create unique index company_states_by_name
    on company_states (identifier, jurisdiction, until)`,
  uniqueIds: 'unique index',
})

const segmentTable = `
  -- Consecutive records: their index (../listing/segment.ts), and their texts as they are served;
  -- without texts, a part of a long directory. Written once, never altered.
  -- With row ids: without them, a row of some kilobytes takes a further page of its own.
  create table segments (
    segment integer primary key,
    company_id integer not null,
    entries blob not null,
    texts blob
  );
`

/** The views of a resource's present records: as text, and with a column for each field. */
export function createViews({ name, fields }: Resource): string {
  const columns = Object.entries(fields).map(([field, { kind }]) => {
    const value = kind === 'text_list' ? `record -> '${field}'` : `record ->> '${field}'`
    return `, ${value} as "${field}"`
  })
  return `
    -- A directory is a level and entries; the first number of each entry names a segment. Above
    -- level 0, these segments are directories in turn.
    create view if not exists ${name}_records as
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
      where d.directory ->> 0 = 0 and e.type = 'array';

    create view if not exists ${name}_view as
      select company_id${columns.join('')} from ${name}_records;
  `
}

export function createTables(storeId: string): string {
  return `
    ${segmentTable}
    ${sharedTables}
    insert into store (id) values ('${storeId}');
    pragma application_id = ${applicationId};
    pragma user_version = ${schemaVersion};
  `
}
