// Opens a store in PostgreSQL for serving, inspecting and writing.

import type { Client } from 'pg'
import { OperatorError } from '../../operator-error.ts'
import type { Resource } from '../../resources/resource.ts'
import type { StoreInspector } from '../inspecting.ts'
import type { StoreReader } from '../reading.ts'
import type { OnStep } from '../work-watch.ts'
import type { StoreWriter } from '../writing.ts'
import type { Dialect } from '../sql/dialect.ts'
import { createInspector, createWriter, readStoreId } from '../sql/writer.ts'
import { spreadDialect } from './citus-dialect.ts'
import { compact } from './compact.ts'
import { defaultBounds, openPool, type ServingBounds, withSession } from './connect.ts'
import { databaseOf } from './database.ts'
import { dialect } from './dialect.ts'
import { storeError } from './errors.ts'
import { openImport } from './import.ts'
import {
  checkSchema,
  isOutdated,
  isSpread,
  migrate as migrateTables,
  refuseWorker,
} from './migrate.ts'
import { createReader } from './read.ts'
import { describeUrl, schemaIn } from './url.ts'
import { verify } from './verify.ts'

export { hasRegistry, migrate } from './migrate.ts'

/**
 * Opens a store for serving. Nothing is created, and the sessions are read-only.
 *
 * @throws OperatorError that says what to do, if there is no store that this version can read.
 */
export async function openForReading(
  db: string,
  resources: readonly Resource[],
  bounds: ServingBounds = defaultBounds,
): Promise<StoreReader> {
  return explained(db, async () => {
    const { storeId, dialect } = await withSession(db, async (client) => {
      await checkSchema(client, db, resources)
      const dialect = await dialectOf(client)
      return { storeId: await readStoreId(databaseOf(client, db)), dialect }
    })
    const pool = openPool(db, bounds, dialect.isSpread)
    return createReader(pool, resources, { storeId, bounds, dialect })
  })
}

/**
 * Opens a store for inspection. Each operation has a read-only session of its own.
 *
 * @throws OperatorError as `openForReading`.
 */
export async function openForInspecting(
  db: string,
  resources: readonly Resource[],
): Promise<StoreInspector> {
  const look = <T>(work: (client: Client) => Promise<T>) => withSession(db, work, readOnly)
  return explained(db, async () => {
    const dialect = await look(async (client) => {
      await checkSchema(client, db, resources)
      return dialectOf(client)
    })
    const databaseIn = (client: Client) => databaseOf(client, db, dialect)
    return createInspector((work) => look((client) => work(databaseIn(client))), resources, {
      verify: (checks, onStep) =>
        look((client) => verify(client, databaseIn(client), resources, checks, onStep)),
      backup: (path) => Promise.reject(noBackup(db, path)),
      close: () => undefined,
    })
  })
}

async function dialectOf(client: Client): Promise<Dialect> {
  return (await isSpread(client)) ? spreadDialect : dialect
}

const readOnly = { default_transaction_read_only: 'on' }

/**
 * Opens a store for a command that writes, and creates or upgrades its tables if necessary. Each
 * operation has a session of its own; none is open in between.
 *
 * @throws OperatorError as `openForReading`.
 */
export async function openForWriting(
  db: string,
  resources: readonly Resource[],
  onStep?: OnStep,
): Promise<StoreWriter> {
  return explained(db, async () => {
    if (await isOutdated(db, resources)) await migrateTables(db, resources, { onStep })
    const own = await withSession(db, async (client) => {
      const found = await dialectOf(client)
      if (found.isSpread) await refuseWorker(client, db)
      return found
    })
    return createWriter(
      {
        use: (work) => withSession(db, (client) => work(databaseOf(client, db, own))),
        openImport: (filters) => openImport(db, filters, own.isSpread),
        compact: (wait) => withSession(db, (client) => compact(client, wait)),
        close: () => undefined,
      },
      resources,
    )
  })
}

async function explained<T>(db: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw storeError(db, error)
  }
}

/** PostgreSQL has its own tools for copies; ours would be no better. */
function noBackup(db: string, path: string): OperatorError {
  const schema = schemaIn(db)
  const only = schema === undefined ? '' : ` --schema=${schema}`
  return new OperatorError(
    `${describeUrl(db)} is a PostgreSQL; back it up with its own tools: ` +
      `pg_dump --format=custom${only} --file=${path} '${toolsUrl(db)}'`,
  )
}

/** The same for restoring what `pg_dump` has made. */
export function noRestore(db: string, path: string): OperatorError {
  return new OperatorError(
    `${describeUrl(db)} is a PostgreSQL; restore it with its own tools: ` +
      `pg_restore --clean --if-exists --single-transaction --dbname='${toolsUrl(db)}' ${path}`,
  )
}

/** The URL for PostgreSQL's tools, without our own parameter. */
function toolsUrl(db: string): string {
  const url = new URL(describeUrl(db))
  url.searchParams.delete('schema')
  return url.href
}
