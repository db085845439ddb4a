// The working tables of an import on Citus, which cannot spread temporary tables: they are in a
// schema of the import's own, and those with a company are spread like the records of companies.
//
// `arrived` is filled before the import's transaction, all others within it, and the transaction
// drops the schema. One that a killed import has left is dropped by the next one.

import { randomBytes } from 'node:crypto'
import type { Client } from 'pg'
import { decide } from './citus-undecided.ts'
import { withSession } from './connect.ts'

/** How a table is spread: by a column, beside the rows of another table with the same value. */
interface Spread {
  readonly by: string
  readonly like: string
}

/** Statements that create a table whose rows are spread over the nodes. */
export function spreadTable(name: string, columns: string, spread: Spread): readonly string[] {
  return [`create unlogged table ${name} (${columns})`, spreadAs(name, spread)]
}

/** Spreads a table that has been created. */
export const spreadAs = (name: string, { by, like }: Spread) =>
  `select create_distributed_table('${name}', '${by}', colocate_with => '${like}')`

/** Marks a value that is found before the statement in which it is. */
export const once = (value: string) => `{{${value}}}`

const onceMarked = /\{\{([^{}]*)\}\}/
const creation = /^\s*create temp table (\w+)\s+(?:as\s([^]*)|(\([^]*\))\s*)$/

/** Whether a statement creates a temporary table. */
export const isCreation = (sql: string) => creation.test(sql)

/**
 * Runs a statement of the logic that both stores share; one that creates a temporary table creates
 * a working table. Returns the number of changed rows.
 */
export async function runStep(client: Client, sql: string): Promise<number> {
  const marked = onceMarked.exec(sql)
  if (marked !== null) {
    const { rows } = await client.query<{ value: unknown }>(`select ${marked[1]} as value`)
    return runStep(client, sql.replace(marked[0], String(rows[0]?.value)))
  }
  const [, name = '', query, columns] = creation.exec(sql) ?? []
  if (name === '') return (await client.query(sql)).rowCount ?? 0
  const shape = columns ?? `as ${query} with no data`
  await client.query(`create unlogged table ${name} ${shape}`)
  const spread = await findSpread(client, name)
  if (spread !== undefined) await client.query(spreadAs(name, spread))
  if (query === undefined) return 0
  return (await client.query(`insert into ${name} ${query}`)).rowCount ?? 0
}

/** By company, if it has one. The few rows of other tables stay on the coordinator. */
async function findSpread(client: Client, name: string): Promise<Spread | undefined> {
  if (name === 'reference') return { by: 'identifier', like: 'company_names' }
  const { rowCount } = await client.query(
    `select from pg_attribute where attrelid = $1::regclass and attname = 'company_id'`,
    [name],
  )
  return rowCount === 1 ? { by: 'company_id', like: 'companies' } : undefined
}

/** The prefix of the schemas of a store's imports. */
const prefixOf = (store: string) => `${store.slice(0, 40)}_import_`

// The second key of each import's own lock, which its session holds.
const ownLock = (schema: string) => `(x'444f5354'::integer, hashtext('${schema}'))`

/** A schema for working tables, and the store's own. */
export interface WorkSchema {
  readonly work: string
  readonly store: string
}

/** Creates a schema for the working tables of this session, and drops those that are left over. */
export async function createWorkSchema(client: Client): Promise<WorkSchema> {
  const { rows } = await client.query<{ store: string }>('select current_schema() as store')
  const store = rows[0]?.store ?? 'public'
  await dropLeftOver(client, store)
  const work = `${prefixOf(store)}${randomBytes(6).toString('hex')}`
  await client.query(`select pg_advisory_lock${ownLock(work)}`)
  await client.query(`create schema ${work}`)
  return { work, store }
}

/** How long to try to drop a schema; the next import will drop it, too. */
const dropMs = 5_000

/** Drops the schema of an import whose session has ended. */
export async function dropWorkSchema(db: string, { work }: WorkSchema): Promise<void> {
  const drop = async (client: Client) => {
    // A transaction that was lost in its commit keeps its tables locked until it is decided.
    await decide(client)
    await client.query(`drop schema if exists ${work} cascade`)
  }
  await withSession(db, drop, { statement_timeout: dropMs })
}

async function dropLeftOver(client: Client, store: string): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    'select nspname as name from pg_namespace where starts_with(nspname, $1)',
    [prefixOf(store)],
  )
  for (const { name } of rows) {
    const { rows: locks } = await client.query<{ taken: boolean }>(
      `select pg_try_advisory_lock${ownLock(name)} as taken`,
    )
    if (locks[0]?.taken !== true) continue
    await client.query(`drop schema if exists ${name} cascade`)
    await client.query(`select pg_advisory_unlock${ownLock(name)}`)
  }
}
