// The list of what is withheld in a schema of its own: a dump or a restore of the store's schema
// does not touch it. Citus has it on every node, so that servers there see it, too.

import { type RegistryDatabase, numberIn, readValue } from '../sql/database.ts'
import { lookup, onlyText, type RowReader } from '../sql/dialect.ts'
import type { ListPlace } from '../withholding/list/list.ts'
import { createSchema } from './schema.ts'
import { schemaIn } from './url.ts'

/** What the name of its schema has after that of the store's. */
const ending = '_withheld'

const entries = '.entries'

/** The list next to the schema of a store. @param db the URL of the store. */
export const listSchemaOf = (db: string): Omit<ListPlace, 'options'> => ({
  name: `the schema ${schemaIn(db) ?? 'SCHEMA'}${ending}`,
  async read(db) {
    const table = await tableOf(db)
    if ((await readValue(db, tableSql, table)) === null) return undefined
    const lines = await lookup(db, `select line from ${table} order by number`, onlyText)()
    return lines.length === 0 ? undefined : lines.map((line) => `${line}\n`).join('')
  },
  async append(db, lines) {
    const table = await createList(db)
    for (const line of lines.split('\n').slice(0, -1)) {
      const next = `select coalesce(max(number), -1) + 1, $1 from ${table}`
      await db.run(`insert into ${table} (number, line) ${next}`, line)
    }
    // A rollback removes them, too.
    return () => undefined
  },
})

// No server opens a store without its list: a role that can read the keys has to read it, too.
const readersSql = `
  select case grantee when 0 then 'public' else grantee::regrole::text end as name
  from pg_class, aclexplode(relacl)
  where oid = to_regclass('keys') and privilege_type = 'SELECT'`

// A superuser or a member of the owner's role may give the first order, the owner the next one.
const ownerSql = `
  select relowner::regrole::text from pg_class
  where oid = to_regclass('keys') and relowner <> current_user::regrole`

/** Creates the table of the list, which has none yet while it is empty; returns its name. */
export async function createList(db: RegistryDatabase): Promise<string> {
  const table = await tableOf(db)
  if ((await readValue(db, tableSql, table)) === null) {
    const schema = table.slice(0, -entries.length)
    await createSchema(db, schema)
    await db.run(
      `create table if not exists ${table} (number integer primary key, line text not null)`,
    )
    for (const name of await lookup(db, readersSql, onlyText)()) {
      await db.run(`grant usage on schema ${schema} to ${name}`)
      await db.run(`grant select on ${table} to ${name}`)
    }
    const owner = await readValue<string>(db, ownerSql)
    if (owner !== null) {
      await db.run(`alter schema ${schema} owner to ${owner}`)
      await db.run(`alter table ${table} owner to ${owner}`)
    }
  }
  return table
}

/** Whether Citus has the list on every node. */
export async function isListDistributed(db: RowReader): Promise<boolean> {
  const sql = 'select count(*) from pg_dist_partition where logicalrelid = to_regclass($1)'
  return (await numberIn(db, sql, await tableOf(db))) > 0
}

const tableSql = 'select to_regclass($1)::text'

async function tableOf(db: RowReader): Promise<string> {
  // As long as a store does not exist, its schema is only in the search path.
  const schema = `coalesce(current_schema(), current_setting('search_path'))`
  const sql = `select quote_ident(${schema} || '${ending}') || '${entries}'`
  return String(await readValue(db, sql))
}
