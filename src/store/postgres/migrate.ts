// Creates the tables, one process at a time, and has Citus distribute them.

import { randomBytes } from 'node:crypto'
import { type Client, DatabaseError } from 'pg'
import { OperatorError } from '../../config/operator-error.ts'
import type { Resource } from '../../resources/resource.ts'
import { type RegistryDatabase, readValue } from '../sql/database.ts'
import { lookup, onlyText } from '../sql/dialect.ts'
import { otherFormat } from '../sql/schema.ts'
import { compareWithNew } from '../withholding/list/agreement.ts'
import type { WithholdingPlace } from '../withholding/follow.ts'
import type { LockWait } from '../work-watch.ts'
import { checkNodes, findCitus, findNodeRole, workerRefusal } from './citus/nodes.ts'
import { withSession } from './connect.ts'
import { registryOf } from './tables.ts'
import {
  createSchema,
  createTables,
  createViews,
  distributedTables,
  format,
  ownSchema,
} from './schema.ts'
import { inTransaction } from './transaction.ts'
import { describeUrl, schemaIn } from './url.ts'
import { createList, isListDistributed } from './withheld-list.ts'

/** How the tables of a store are created. */
interface MigrationOptions extends LockWait {
  /** Whether to distribute them by company, for which the database needs Citus. */
  readonly isDistributed: boolean
}

/** `migrate`, in a session of its own. */
export function migrateStore(
  db: string,
  place: WithholdingPlace,
  options: MigrationOptions,
): Promise<string[]> {
  return withSession(db, (client) => migrate(client, db, place, options), {}, options)
}

/**
 * Creates the tables of a new store, and the views of resources that are new.
 *
 * @returns what was done, a line each; empty if there was nothing to do.
 * @throws OperatorError if another version has made the tables, if Citus is needed and missing, or
 *   if the list of a new store belongs to another registry.
 */
export async function migrate(
  client: Client,
  db: string,
  { list, resources }: WithholdingPlace,
  { isDistributed, ...wait }: MigrationOptions = { isDistributed: false, onWait: () => undefined },
): Promise<string[]> {
  const registry = registryOf(client, db)
  if (!(await hasTables(client, db))) {
    await checkEncoding(registry, db)
    await compareWithNew(registry, list)
  }
  const done: string[] = []
  const citus = await findCitus(client)
  if (citus?.isOnWorker === true) throw workerRefusal(db)
  const isToDistribute = isDistributed || citus?.isToDistribute === true
  if (isToDistribute) await checkNodes(client, db, citus)
  const schema = schemaIn(db)
  if (
    schema !== undefined &&
    (await readValue(registry, 'select current_schema()::text')) === null
  ) {
    await createOwnSchema(registry, schema)
    done.push(`created the schema ${schema}`)
  }
  const within = async (work: () => Promise<string[]>) =>
    done.push(...(await inTransaction(client, db, wait, work)))
  // Together: another first import must not take the tables for those of a single node.
  await within(async () => {
    const created = await create(client, db, resources)
    return isToDistribute ? [...created, ...(await distribute(client))] : created
  })
  if (await lacksList(client, registry)) await within(() => copyList(client, registry))
  return done
}

/** @throws OperatorError if the database could not store every name. */
async function checkEncoding(registry: RegistryDatabase, db: string): Promise<void> {
  const encoding = await readValue<string>(registry, `select current_setting('server_encoding')`)
  if (encoding === 'UTF8') return
  throw new OperatorError(
    `${describeUrl(db)}: the database has the encoding ${encoding}; ` +
      'create one with: createdb --encoding=UTF8 --template=template0',
  )
}

/** Creates the schema of a store, unless another process has just done so. */
async function createOwnSchema(registry: RegistryDatabase, schema: string): Promise<void> {
  try {
    await createSchema(registry, schema)
  } catch (error) {
    if (!(error instanceof DatabaseError && error.code === uniqueViolation)) throw error
  }
}

// In the system catalogue: two processes that look at the same time both find nothing.
const uniqueViolation = '23505'

/** Whether the database has a registry. */
export async function hasRegistry(db: string, wait?: LockWait): Promise<boolean> {
  return withSession(db, (client) => hasTables(client, db), {}, wait)
}

/** Whether `migrate` would have something to do. */
export async function isOutdated(
  client: Client,
  db: string,
  resources: readonly Resource[],
): Promise<boolean> {
  if (!(await hasTables(client, db))) return true
  const registry = registryOf(client, db)
  if ((await resourcesWithoutView(registry, resources)).length > 0) return true
  return lacksList(client, registry)
}

/** @throws OperatorError that says what to do, if a server cannot read the tables. */
export async function checkSchema(client: Client, db: string): Promise<void> {
  if (!(await hasTables(client, db))) {
    const advice = 'holds no registry; create it with: dossier import'
    throw new OperatorError(`${describeUrl(db)} ${advice}`)
  }
  const tables = distributedTables.map(({ table }) => table)
  const { rows } = await client.query<{ name: string }>(unreadableSql, [tables])
  if (rows.length > 0) throw noRights(db, `read ${rows.map(({ name }) => name).join(', ')}`)
}

const unreadableSql = `
  select
    relname || case
      when has_table_privilege(oid, 'select') then ' (row-level security may hide rows)' else ''
    end as name
  from pg_class
  where relnamespace = ${ownSchema} and relname = any($1)
    and (not has_table_privilege(oid, 'select') or row_security_active(oid))
  order by relname`

function noRights(db: string, what: string): OperatorError {
  const advice = 'grant it the rights in docs/postgresql.md, or use another one in --db'
  return new OperatorError(`${describeUrl(db)}: this user may not ${what}; ${advice}`)
}

const storeSql = `
  select from pg_class
  where relnamespace = ${ownSchema} and relname = 'store' and relkind = 'r'`

// Without this right, a schema appears to be missing.
const unusableSql = `
  select from pg_namespace where nspname = $1 and not has_schema_privilege(oid, 'usage')`

/**
 * Whether there are tables.
 *
 * @throws OperatorError if they are of another format, or if the user may not see them.
 */
async function hasTables(client: Client, db: string): Promise<boolean> {
  if ((await client.query(storeSql)).rowCount === 0) {
    const schema = schemaIn(db)
    const { rowCount } = await client.query(unusableSql, [schema])
    if (rowCount !== 0) throw noRights(db, `use the schema ${schema}`)
    return false
  }
  // The table may be another program's.
  const sql = "select to_jsonb(store) ->> 'format' as format from store"
  const { rows } = await client.query<{ format: string | null }>(sql)
  const found = rows[0]?.format
  if (found !== String(format)) throw otherFormat(describeUrl(db), found, format)
  return true
}

/** Makes a new store, ready to be read, or the views that an existing one lacks. */
async function create(
  client: Client,
  db: string,
  resources: readonly Resource[],
): Promise<string[]> {
  const done: string[] = []
  if (!(await hasTables(client, db))) {
    await client.query(createTables)
    const storeId = randomBytes(6).toString('hex')
    await client.query('insert into store (id, format) values ($1, $2)', [storeId, format])
    done.push('created the tables')
  }
  for (const resource of await resourcesWithoutView(registryOf(client, db), resources)) {
    await client.query(createViews(resource))
    done.push(`created the view ${resource.name}_view`)
  }
  return done
}

async function resourcesWithoutView(
  registry: RegistryDatabase,
  resources: readonly Resource[],
): Promise<readonly Resource[]> {
  const sql = `
    select relname::text from pg_class where relnamespace = ${ownSchema} and relkind = 'v'`
  const views = new Set(await lookup(registry, sql, onlyText)())
  return resources.filter(({ name }) => !views.has(`${name}_view`))
}

async function distribute(client: Client): Promise<string[]> {
  const distributed = (await findCitus(client))?.tables
  const done: string[] = []
  for (const { table, column } of distributedTables) {
    if (distributed?.includes(table) === true) continue
    if (column === undefined) {
      await client.query('select create_reference_table($1)', [table])
      done.push(`copied ${table} to every node`)
      continue
    }
    const first = column.endsWith('id') ? 'company_states' : 'company_names'
    const sql = 'select create_distributed_table($1, $2, colocate_with => $3)'
    await client.query(sql, [table, column, table === first ? 'none' : first])
    done.push(`distributed ${table} by ${column}`)
  }
  return done
}

/** Whether the list is missing on other nodes, as after it was restored. */
async function lacksList(client: Client, registry: RegistryDatabase): Promise<boolean> {
  return (await findNodeRole(client)) === 'coordinator' && !(await isListDistributed(registry))
}

/** Citus needs a separate transaction for this; another process may just have done it. */
async function copyList(client: Client, registry: RegistryDatabase): Promise<string[]> {
  if (!(await lacksList(client, registry))) return []
  const list = await createList(registry)
  await client.query('select create_reference_table($1)', [list])
  return [`copied ${list} to every node`]
}
