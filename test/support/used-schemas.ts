// Schemas of PostgreSQL that the ended tests of this process have left. Creating the tables of a
// store takes the server longer than an import of some rows, so a later test gets them emptied.

import type { Client } from 'pg'
import { withSession } from '../../src/store/postgres/connect.ts'
import { forgetStores, isNamed, nameStore, storeAt, storeKind } from './store-at.ts'

/** The URLs of schemas that are free. */
const free: string[] = []

/** The tables and indexes of a store that no test has altered. */
let soundShape: string | undefined

/** Gives a store that is about to be created a used schema, if there is one. */
export async function reuseSchema(path: string): Promise<void> {
  if (storeKind !== 'postgres' || isNamed(path)) return
  for (let url = free.pop(); url !== undefined; url = free.pop()) {
    if (await withSession(url, empty, { lock_timeout: 2_000 }).catch(() => false)) {
      nameStore(path, url)
      return
    }
  }
}

/** Remembers what a new store looks like. */
export async function lookAtSchema(path: string): Promise<void> {
  if (storeKind !== 'postgres') return
  soundShape ??= await withSession(storeAt(path), readShape)
}

/** Leaves the schemas of the stores in a folder to later tests. */
export function leaveSchemas(folder: string): void {
  if (storeKind === 'postgres') free.push(...forgetStores(folder))
}

/** Empties the tables; false if a test has altered them. */
async function empty(client: Client): Promise<boolean> {
  if (soundShape === undefined || (await readShape(client)) !== soundShape) return false
  await client.query(emptyTables)
  return true
}

const emptyTables = `
  do $do$
  declare one record;
  begin
    for one in
      select oid::regclass as name, pg_relation_size(oid) > 1000000 as is_large from pg_class
      where relnamespace = current_schema()::regnamespace and relkind = 'r'
        and relname <> 'store' and relname not like '%\\_witnesses'
    loop
      execute case when one.is_large then 'truncate ' else 'delete from ' end || one.name;
    end loop;
    update store set past_from = 0, segments = 0, recorded = 0, withheld = '';
    execute format(
      'drop schema if exists %I, %I cascade',
      current_schema() || '_withheld', current_schema() || '_kept'
    );
  end $do$`

async function readShape(client: Client): Promise<string | undefined> {
  const { rows } = await client.query<{ shape: string }>(
    `select string_agg(concat_ws(' ', relname, relkind, relnatts, relhastriggers,
       obj_description(c.oid, 'pg_class'), indisvalid, indisready), ',' order by relname) as shape
     from pg_class c left join pg_index i on i.indexrelid = c.oid
     where relnamespace = current_schema()::regnamespace`,
  )
  return rows[0]?.shape
}
