// Creates the tables, one process at a time, and has Citus distribute them.

import { randomBytes } from 'node:crypto'
import { type Client, DatabaseError } from 'pg'
import { OperatorError } from '../../config/operator-error.ts'
import type { Resource } from '../../resources/resource.ts'
import type { LockWait } from '../work-watch.ts'
import { withSession } from './connect.ts'
import { registryOf } from './database.ts'
import {
  createTables,
  declareResource,
  distributedTables as tablesOfCitus,
  format,
  viewMark,
} from './schema.ts'
import { withWriteLock } from './transaction.ts'
import { describeUrl, schemaIn } from './url.ts'
import { createList, isListSpread } from './withheld-list.ts'

/**
 * Creates the tables of a new store, and the views of resources that are new or have got fields.
 *
 * @param isDistributed whether to distribute them by company, for which the database needs Citus.
 * @returns what was done, a line each; empty if there was nothing to do.
 * @throws OperatorError if another version has made the tables, or Citus is needed and missing.
 */
export async function migrate(
  db: string,
  resources: readonly Resource[],
  options: { readonly isDistributed?: boolean } & Partial<LockWait> = {},
): Promise<string[]> {
  const { isDistributed = false, onWait = () => undefined } = options
  const schema = schemaIn(db)
  return withSession(db, async (client) => {
    const done: string[] = []
    await refuseWorker(client, db)
    if (schema !== undefined && (await currentSchema(client)) === null) {
      await createSchema(client, schema)
      done.push(`created the schema ${schema}`)
    }
    const isToDistribute = isDistributed || (await isToSpread(client))
    if (isToDistribute) await checkNodes(client, db)
    done.push(...(await withWriteLock(client, db, { onWait }, () => create(client, db, resources))))
    if (isToDistribute) {
      done.push(...(await withWriteLock(client, db, { onWait }, () => distribute(client))))
    }
    if (await lacksList(client, db)) {
      done.push(...(await withWriteLock(client, db, { onWait }, () => copyList(client, db))))
    }
    return done
  })
}

/** Creates a schema, unless another process has just done so. */
async function createSchema(client: Client, schema: string): Promise<void> {
  try {
    await client.query(`create schema if not exists ${schema}`)
  } catch (error) {
    if (!(error instanceof DatabaseError && error.code === uniqueViolation)) throw error
  }
}

// Of the system's catalogue: processes that look at the same time both find nothing.
const uniqueViolation = '23505'

/** Whether the database contains a registry. */
export async function hasRegistry(db: string): Promise<boolean> {
  return withSession(db, async (client) => (await checkFormat(client, db)) !== undefined)
}

/** Whether `migrate` would have something to do. */
export async function isOutdated(db: string, resources: readonly Resource[]): Promise<boolean> {
  return withSession(db, async (client) => {
    if ((await checkFormat(client, db)) === undefined) return true
    if ((await resourcesWithoutView(client, resources)).length > 0) return true
    return lacksList(client, db)
  })
}

/** @throws OperatorError that says what to do, if a server cannot read the tables. */
export async function checkSchema(client: Client, db: string): Promise<void> {
  if ((await checkFormat(client, db)) === undefined) {
    const advice = 'holds no registry; create it with: dossier import'
    throw new OperatorError(`${describeUrl(db)} ${advice}`)
  }
}

const columnsOfStore = `
  select attname as name from pg_attribute a join pg_class c on c.oid = a.attrelid
  where c.relnamespace = current_schema()::regnamespace and c.relname = 'store'
    and attnum > 0 and not attisdropped`

/**
 * Returns the format of the tables; undefined if there are none.
 *
 * @throws OperatorError if it is another one than this version's.
 */
async function checkFormat(client: Client, db: string): Promise<number | undefined> {
  const { rows: columns } = await client.query<{ name: string }>(columnsOfStore)
  if (columns.length === 0) return undefined
  const hasFormat = columns.some(({ name }) => name === 'format')
  const { rows } = hasFormat
    ? await client.query<{ format: number }>('select format from store')
    : { rows: [] }
  const found = rows[0]?.format
  if (!hasFormat || (found !== undefined && found < format)) {
    throw new OperatorError(
      `${describeUrl(db)} was written by an earlier Dossier, which this one does not read; ` +
        'import its files again, into a new schema: dossier import --db URL?schema=NAME',
    )
  }
  if (found !== undefined && found > format) {
    throw new OperatorError(
      `${describeUrl(db)} was written by a newer Dossier (format ${found}, this one reads up to ` +
        `${format}); use the newer version`,
    )
  }
  return found
}

async function currentSchema(client: Client): Promise<string | null> {
  const { rows } = await client.query<{ name: string | null }>('select current_schema() as name')
  return rows[0]?.name ?? null
}

/** Makes a new store, ready to be read, or the views that an existing one lacks. */
async function create(
  client: Client,
  db: string,
  resources: readonly Resource[],
): Promise<string[]> {
  const done: string[] = []
  if ((await checkFormat(client, db)) === undefined) {
    await client.query(createTables)
    const storeId = randomBytes(6).toString('hex')
    await client.query('insert into store (id, format) values ($1, $2)', [storeId, format])
    done.push('created the tables')
  }
  for (const resource of await resourcesWithoutView(client, resources)) {
    await client.query(declareResource(resource))
    done.push(`created the view ${resource.name}_view`)
  }
  return done
}

/** Those whose view is missing, or was made from another declaration. */
async function resourcesWithoutView(
  client: Client,
  resources: readonly Resource[],
): Promise<readonly Resource[]> {
  const { rows } = await client.query<{ name: string; mark: string | null }>(
    `select relname as name, obj_description(oid, 'pg_class') as mark from pg_class
     where relnamespace = current_schema()::regnamespace and relkind = 'v'`,
  )
  const marks = new Map(rows.map(({ name, mark }) => [name, mark]))
  return resources.filter((one) => marks.get(`${one.name}_view`) !== viewMark(one))
}

// --- Citus -----------------------------------------------------------------------------------

async function hasCitus(client: Client): Promise<boolean> {
  const { rowCount } = await client.query(`select from pg_extension where extname = 'citus'`)
  return rowCount === 1
}

/** The names of tables that Citus already distributes, in their order. */
export async function distributedTables(client: Client): Promise<Set<string>> {
  if (!(await hasCitus(client))) return new Set()
  const { rows } = await client.query<{ name: string }>(
    `select relname as name from pg_dist_partition p join pg_class c on c.oid = p.logicalrelid
     where c.relnamespace = current_schema()::regnamespace order by relname`,
  )
  return new Set(rows.map(({ name }) => name))
}

/** Whether the database is set up so that Citus spreads every store in it. */
async function isToSpread(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ setting: string | null }>(
    `select current_setting('dossier.distributed', true) as setting`,
  )
  return rows[0]?.setting === 'on' && (await hasCitus(client))
}

/** The kind of a node of Citus; commands that write need its coordinator. */
export type Spread = 'coordinator' | 'worker'

/** On which node of Citus a session is; undefined if that has not spread the tables. */
export async function findSpread(client: Client): Promise<Spread | undefined> {
  if (!(await distributedTables(client)).has('companies')) return undefined
  return (await isOnWorker(client)) ? 'worker' : 'coordinator'
}

async function isOnWorker(client: Client): Promise<boolean> {
  if (!(await hasCitus(client))) return false
  const { rowCount } = await client.query('select from pg_dist_local_group where groupid <> 0')
  return rowCount !== 0
}

/**
 * Servers and commands that read may use any node of Citus, but only its coordinator can create
 * tables.
 *
 * @throws OperatorError if the database is a worker.
 */
export async function refuseWorker(client: Client, db: string): Promise<void> {
  if (!(await isOnWorker(client))) return
  throw new OperatorError(
    `${describeUrl(db)} is a worker of Citus, where Dossier only reads; ` +
      'give the URL of the coordinator',
  )
}

/** @throws OperatorError if Citus is missing, or would have an import work within its session. */
async function checkNodes(client: Client, db: string): Promise<void> {
  const at = describeUrl(db)
  if (!(await hasCitus(client))) {
    throw new OperatorError(
      `${at} has no Citus, which --distributed needs; install the extension, then ` +
        'run: create extension citus',
    )
  }
  const { rows } = await client.query<{ isKnown: boolean; holds: boolean; others: boolean }>(
    `select coalesce(bool_or(groupid = 0), false) as "isKnown",
       coalesce(bool_or(groupid = 0 and shouldhaveshards), false) as holds,
       coalesce(bool_or(groupid <> 0 and shouldhaveshards), false) as others
     from pg_dist_node where noderole = 'primary'`,
  )
  const [found] = rows
  const missing = [
    ...(found?.isKnown === true ? [] : ["citus_set_coordinator_host('HOST', PORT)"]),
    ...(found?.others === true ? [] : ["citus_add_node('HOST', PORT) of another node"]),
    ...(found?.holds === true
      ? ["citus_set_node_property('HOST', PORT, 'shouldhaveshards', false) of the coordinator"]
      : []),
  ]
  if (missing.length === 0) return
  throw new OperatorError(
    `${at}: Citus needs nodes besides its coordinator, which holds no companies itself; ` +
      `select ${missing.join(', ')}`,
  )
}

async function distribute(client: Client): Promise<string[]> {
  const distributed = await distributedTables(client)
  const done: string[] = []
  const firstOfGroup = new Map<boolean, string>()
  for (const { table, column } of tablesOfCitus) {
    if (distributed.has(table)) continue
    if (column === undefined) {
      await client.query('select create_reference_table($1)', [table])
      done.push(`copied ${table} to every node`)
      continue
    }
    const isById = column.endsWith('id')
    const sql = 'select create_distributed_table($1, $2, colocate_with => $3)'
    await client.query(sql, [table, column, firstOfGroup.get(isById) ?? 'none'])
    if (!firstOfGroup.has(isById)) firstOfGroup.set(isById, table)
    done.push(`distributed ${table} by ${column}`)
  }
  return done
}

/** Whether servers on other nodes do not see the list, as after it was restored. */
async function lacksList(client: Client, db: string): Promise<boolean> {
  const isSpread = (await findSpread(client)) === 'coordinator'
  return isSpread && !(await isListSpread(registryOf(client, db)))
}

/** Citus needs a transaction of its own for that; another process may just have done so. */
async function copyList(client: Client, db: string): Promise<string[]> {
  if (!(await lacksList(client, db))) return []
  const list = await createList(registryOf(client, db))
  await client.query('select create_reference_table($1)', [list])
  return [`copied ${list} to every node`]
}
