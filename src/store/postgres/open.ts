// Opens a store in PostgreSQL for serving, inspecting and writing.

import type { Client, Pool } from 'pg'
import { OperatorError } from '../../config/operator-error.ts'
import type { Resource } from '../../resources/resource.ts'
import { shellWord } from '../../text/shell-word.ts'
import { createInspector, type StoreInspector } from '../inspecting.ts'
import type { LockWait } from '../work-watch.ts'
import type { StoreReader } from '../serving/store-reader.ts'
import { readStoreId, readValue } from '../sql/database.ts'
import { refuseBehind } from '../withholding/list/agreement.ts'
import type { ListPlace } from '../withholding/list/list.ts'
import { type Compacted, createWriter, type StoreWriter, type WritingAccess } from '../writing.ts'
import { findNodeRole, workerRefusal } from './citus/nodes.ts'
import {
  commandBounds,
  openPool,
  openSessions,
  type PlanCacheMode,
  type ServingBounds,
  withConnection,
  withSession,
} from './connect.ts'
import { checkSchema, hasRegistry, isOutdated, migrate, migrateStore } from './migrate.ts'
import { createReader } from './read.ts'
import { ownSchema } from './schema.ts'
import { distributedSettings, importIn, registryOf } from './tables.ts'
import { beginWriting } from './transaction.ts'
import { storeError, describeUrl, urlAt } from './url.ts'
import { verify } from './verify.ts'
import { listSchemaOf } from './withheld-list.ts'

export { hasRegistry, listSchemaOf, migrateStore }

/**
 * Opens a store for serving. Nothing is created, and the sessions are read-only.
 *
 * @param bounds those of a server; undefined for a command, which reads too little to connect to
 *   the other nodes of Citus.
 */
export async function openForReading(
  db: string,
  list: ListPlace,
  bounds?: ServingBounds,
  wait?: LockWait,
): Promise<StoreReader> {
  return explained(db, async () => {
    const begin = async (client: Client) => {
      await checkSchema(client, db)
      const registry = registryOf(client, db)
      await refuseBehind(registry, list, describeUrl(db))
      return { storeId: await readStoreId(registry), role: await findNodeRole(client) }
    }
    const { storeId, role } = await withSession(db, begin, {}, wait)
    // Each statement has one good plan, an index seek; but Citus finds nodes by the values.
    const open = (at: string, plans: PlanCacheMode) =>
      openPool(at, bounds ?? commandBounds, plans, wait)
    const openNode = (host: string, port: number) =>
      open(urlAt(db, host, port), 'force_generic_plan')
    return createReader(open(db, role === undefined ? 'force_generic_plan' : 'auto'), {
      storeId,
      role,
      openNode: bounds && openNode,
      check: (client) => checkSchema(client, db),
    })
  })
}

/** Opens a store for inspection, in read-only sessions. */
export function openForInspecting(
  db: string,
  list: ListPlace,
  resources: readonly Resource[],
  wait?: LockWait,
): Promise<StoreInspector> {
  const sessions = openSessions(db, { default_transaction_read_only: 'on' }, wait)
  return opened(db, sessions, async () => {
    const isDistributed = await withConnection(sessions, async (client) => {
      await checkSchema(client, db)
      await refuseBehind(registryOf(client, db), list, describeUrl(db))
      return (await findNodeRole(client)) !== undefined
    })
    const use = useOf(sessions, db, isDistributed)
    return createInspector({ use, list }, resources, {
      verify: (checks, onStep) =>
        use((registry) => verify(registry, { resources, checks, isDistributed }, onStep)),
      backup: (path) =>
        use(async (registry) => {
          const schema = await readValue<string>(registry, quotedSchemaSql)
          throw noBackup(db, path, String(schema), list)
        }),
      close: () => endIdle(sessions),
    })
  })
}

/** Opens a store for a command that writes, and creates its tables if necessary. */
export function openForWriting(
  db: string,
  list: ListPlace,
  resources: readonly Resource[],
  wait?: LockWait,
): Promise<StoreWriter> {
  const sessions = openSessions(db, distributedSettings, wait)
  return opened(db, sessions, async () => {
    const isDistributed = await withConnection(sessions, async (client) => {
      if (await isOutdated(client, db, resources)) await migrate(client, db, { list, resources })
      const role = await findNodeRole(client)
      if (role === 'worker') throw workerRefusal(db)
      return role !== undefined
    })
    const access: WritingAccess = {
      list,
      use: useOf(sessions, db, isDistributed),
      openImport: async () => importIn(await sessions.connect(), db, isDistributed),
      compact: (wait) => withSession(db, (client) => compact(client, db, wait), {}, wait),
      close: () => endIdle(sessions),
    }
    return createWriter(access, resources)
  })
}

const useOf =
  (sessions: Pool, db: string, isDistributed: boolean): WritingAccess['use'] =>
  (work) =>
    withConnection(sessions, (client) => work(registryOf(client, db, isDistributed)))

/** Opens a store with sessions that are closed if that fails. */
async function opened<T>(db: string, sessions: Pool, open: () => Promise<T>): Promise<T> {
  try {
    return await explained(db, open)
  } catch (error) {
    endIdle(sessions)
    throw error
  }
}

/** Ends sessions; the pool would wait for those that are in use, or that it could not begin. */
function endIdle(sessions: Pool): void {
  sessions.end().catch(() => undefined)
}

async function explained<T>(db: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw storeError(db, error)
  }
}

const quotedSchemaSql = 'select quote_ident(current_schema())'

/**
 * PostgreSQL has its own tools for copies; ours would be no better.
 *
 * @param schema the store's, alone: a restored list would bring back what was withheld since.
 */
function noBackup(db: string, path: string, schema: string, { name }: ListPlace): OperatorError {
  const only = shellWord(`--schema=${schema}`)
  return new OperatorError(
    `${describeUrl(db)} is a PostgreSQL database; back it up with its own tools: ` +
      `pg_dump --format=custom ${only} --file=${path} '${toolsUrl(db)}'; if ${name} exists, ` +
      'back it up separately',
  )
}

/** The same for restoring what `pg_dump` has made. */
export function noRestore(db: string, path: string): OperatorError {
  return new OperatorError(
    `${describeUrl(db)} is a PostgreSQL database; restore it with its own tools: ` +
      `pg_restore --clean --if-exists --single-transaction --dbname='${toolsUrl(db)}' ${path}`,
  )
}

/** The URL for PostgreSQL's tools, without our own parameter. */
function toolsUrl(db: string): string {
  const url = new URL(describeUrl(db))
  url.searchParams.delete('schema')
  return url.href
}

const tablesSql = `
  select quote_ident(relname), pg_total_relation_size(oid) from pg_class
  where relnamespace = ${ownSchema} and relkind = 'r'
  order by relname`

/**
 * Runs `vacuum` on the schema's tables, as autovacuum would: the next imports reuse their space,
 * and readers notice nothing. `vacuum full`, which locks them out, is left to operators.
 *
 * @throws OperatorError if the user may not do that to every table.
 */
export async function compact(client: Client, db: string, wait: LockWait): Promise<Compacted> {
  const registry = registryOf(client, db)
  const readTables = () => registry.rows<[name: string, bytes: number]>(tablesSql)
  // A table of another owner is left out with a warning.
  let warning: string | undefined
  client.on('notice', ({ code, message }) => {
    if (code?.startsWith('01') === true) warning ??= message
  })
  // After an import that is running now; later ones may run at the same time.
  await beginWriting(client, wait)
  await client.query('commit')
  const before = await readTables()
  for (const [name] of before) {
    wait.signal?.throwIfAborted()
    await client.query(`vacuum (analyze) ${name}`)
  }
  if (warning !== undefined) {
    throw new OperatorError(`${describeUrl(db)}: ${warning}; run it as the owner of the tables`)
  }
  const sizeOf = (tables: typeof before) => tables.reduce((sum, [, bytes]) => sum + bytes, 0)
  return { bytesBefore: sizeOf(before), bytesAfter: sizeOf(await readTables()), notes: [note] }
}

const note =
  'The next imports reuse the free space. Only `vacuum full`, which locks out readers, returns ' +
  'it to the system and removes deleted data from the files.'
