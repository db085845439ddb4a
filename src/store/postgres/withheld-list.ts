// The list of what is withheld in a schema of its own: a dump or a restore of the store's schema
// does not touch it. Citus has it on every node, so that servers there see it, too.

import { type Database, readValue, type Queries } from '../sql/database.ts'
import type { ListPlace } from '../withholding/list.ts'

/** The list beside the schema of the connection. */
export const listSchema: Omit<ListPlace, 'options'> = {
  name: 'the schema of the list (SCHEMA_withheld)',
  async read(db) {
    const table = await tableOf(db)
    const found = await readValue(db, 'select to_regclass($table)::text', { table })
    if (found === null || found === undefined) return undefined
    const rows = await db.rows(`select line from ${table} order by number`)
    return rows.length === 0 ? undefined : rows.map(({ line }) => `${String(line)}\n`).join('')
  },
  async append(db, lines) {
    const table = await createList(db)
    for (const line of lines.split('\n').slice(0, -1)) {
      const next = `select coalesce(max(number), -1) + 1, $line from ${table}`
      await db.run(`insert into ${table} (number, line) ${next}`, { line })
    }
    // They go with the transaction.
    return () => undefined
  },
}

// No server opens a store without its list: a role that can read the keys has to read it, too.
const readersSql = `
  select case grantee when 0 then 'public' else grantee::regrole::text end as name
  from pg_class, aclexplode(relacl)
  where oid = to_regclass('keys') and privilege_type = 'SELECT'`

/** Creates the table of the list, which has none yet while it is empty; returns its name. */
export async function createList(db: Database): Promise<string> {
  const table = await tableOf(db)
  if ((await readValue(db, 'select to_regclass($table)::text', { table })) === null) {
    const [schema = ''] = table.split('.')
    await db.run(`create schema if not exists ${schema}`)
    await db.run(
      `create table if not exists ${table} (number integer primary key, line text not null)`,
    )
    for (const { name } of await db.rows(readersSql)) {
      await db.run(`grant usage on schema ${schema} to ${String(name)}`)
      await db.run(`grant select on ${table} to ${String(name)}`)
    }
  }
  return table
}

/** Whether Citus has the list on every node. */
export async function isListDistributed(db: Queries): Promise<boolean> {
  const table = await tableOf(db)
  const sql = `
    select count(*) as n from pg_dist_partition where logicalrelid = to_regclass($table)`
  return Number(await readValue(db, sql, { table })) > 0
}

async function tableOf(db: Queries): Promise<string> {
  // The schema of a store that is not there yet is only searched for.
  const schema = `coalesce(current_schema(), current_setting('search_path'))`
  const sql = `select quote_ident(${schema} || '_withheld') || '.entries'`
  return String(await readValue(db, sql))
}
