// The state of a store in PostgreSQL.

import { type Client, DatabaseError } from 'pg'
import { withSession } from '../src/store/postgres/connect.ts'
import { digestServed, isTimeless, listDigests, nothing, type StoreState } from './store-state.ts'

/**
 * Reads the whole committed state of a store.
 *
 * @param isMadeAnew leaves out the store's random id and the times of its creation, which differ
 *   between two first loads.
 */
export async function readPostgresState(db: string, isMadeAnew: boolean): Promise<StoreState> {
  return withSession(db, async (client) => {
    const schema = await describeSchema(client)
    const integrity = await checkFiles(client)
    if (schema === '') return { ...nothing, integrity }
    const isWanted = (name: string) =>
      name !== 'imports' && !(isMadeAnew && ['store', 'migrations'].includes(name))
    const tables = await digestTables(client, isWanted)
    const { fields } = await client.query('select * from imports limit 0')
    const columns = fields.map(({ name }) => name).filter(isTimeless)
    const log = await digestRows(client, `select ${columns.join(', ')} from imports`)
    const [last] = await query<{ version: number | null }>(
      client,
      'select max(version) as version from imports',
    )
    const companies = await query<{ id: number }>(client, 'select id from companies order by id')
    const ids = companies.map(({ id }) => id)
    const served = await digestServed(db, ids)
    return { tables, log, served, schema, version: last?.version ?? 0, integrity }
  })
}

/** Describes tables, views and indexes, one per line. */
async function describeSchema(client: Client): Promise<string> {
  const relations = await query<{ line: string }>(
    client,
    `select format('%s %s %s', relkind, relname, md5(concat(
       case relkind when 'v' then pg_get_viewdef(c.oid) when 'i' then pg_get_indexdef(c.oid) end,
       (select string_agg(
          format('%s %s %s', attname, format_type(atttypid, atttypmod), attnotnull), ','
          order by attnum
        ) from pg_attribute where attrelid = c.oid and attnum > 0 and not attisdropped)
     ))) as line
     from pg_class c where relnamespace = current_schema()::regnamespace order by 1`,
  )
  return relations.map(({ line }) => line).join('\n')
}

// Checks that every index is ordered and has all rows of its table.
const indicesSql = `
  select public.bt_index_check(c.oid, true)
  from pg_class c join pg_am a on a.oid = c.relam
  where relnamespace = current_schema()::regnamespace and amname = 'btree' and relkind = 'i'`

const tablesSql = `
  select format('%s, block %s: %s', relname, blkno, msg) as fault
  from pg_class c, public.verify_heapam(c.oid)
  where relnamespace = current_schema()::regnamespace and relkind = 'r'`

/** The result of amcheck for a store's tables and indexes; `ok` if it finds no fault. */
async function checkFiles(client: Client): Promise<string> {
  try {
    await client.query(indicesSql)
    const faults = await query<{ fault: string }>(client, tablesSql)
    return faults.length === 0 ? 'ok' : faults.map(({ fault }) => fault).join('; ')
  } catch (error) {
    if (error instanceof DatabaseError) return error.message
    throw error
  }
}

async function digestTables(client: Client, isWanted: (name: string) => boolean): Promise<string> {
  const tables = await query<{ name: string }>(
    client,
    `select relname as name from pg_class
     where relnamespace = current_schema()::regnamespace and relkind = 'r' order by 1`,
  )
  const digests: [string, string][] = []
  for (const { name } of tables.filter((table) => isWanted(table.name))) {
    digests.push([name, await digestRows(client, `select * from ${name}`)])
  }
  return listDigests(digests)
}

/** A digest of the rows of a query, independent of their order; empty if there are none. */
async function digestRows(client: Client, sql: string): Promise<string> {
  const [row] = await query<{ digest: string | null }>(
    client,
    `select encode(sha256(convert_to(
       string_agg(r::text, e'\\n' order by r::text collate "C"), 'UTF8'
     )), 'hex') as digest
     from (${sql}) r`,
  )
  return row?.digest ?? ''
}

async function query<Row extends object>(client: Client, sql: string): Promise<Row[]> {
  return (await client.query(sql)).rows as Row[]
}
