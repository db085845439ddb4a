// The opener: the one place that knows which store is behind the seam (invariant 2).

import { existsSync } from 'node:fs'
import { rightsOf } from '../new-file.ts'
import { OperatorError } from '../operator-error.ts'
import type { Resource } from '../resources/resource.ts'
import type { ServingBounds } from './postgres/connect.ts'
import { storeError as postgresError } from './postgres/errors.ts'
import { describeUrl } from './postgres/url.ts'
import { backUp } from './sqlite/backup.ts'
import { createInspector, createWriter } from './sql/writer.ts'
import { databaseOf } from './sqlite/database.ts'
import { storeError as sqliteError } from './sqlite/errors.ts'
import { openImport } from './sqlite/import.ts'
import { openForReading, openForWriting } from './sqlite/open.ts'
import { createReader } from './sqlite/read.ts'
import { openUsage } from './sqlite/usage.ts'
import { verify } from './sqlite/verify.ts'
import type { StoreInspector } from './inspecting.ts'
import type { StoreReader } from './reading.ts'
import type { UsageWriter } from './usage.ts'
import type { StoreWriter } from './writing.ts'

export { readUsage as readKeyUsage } from './sqlite/usage.ts'

const temporary = ':memory:'

// Loaded where it is needed: who serves a file does not carry the driver.
const postgres = () => import('./postgres/open.ts')

/** False for the path of a file that is not there yet; what a server has, only the server knows. */
export function mayExist(db: string): boolean {
  return isServerStore(db) || existsSync(db)
}

/** True for the URL of a PostgreSQL; anything else is the path of a file. */
export function isServerStore(db: string): boolean {
  return /^postgres(ql)?:\/\//i.test(db)
}

/** What a store is called in messages and logs: never with a password. */
export function describeStore(db: string): string {
  return isServerStore(db) ? describeUrl(db) : db
}

/**
 * Opens the store at `db` for serving: a file's path, or the URL of a PostgreSQL.
 *
 * @param bounds hold for a PostgreSQL; a file has no connections.
 * @throws OperatorError with one line that says what to do, where it cannot be served from.
 */
export async function openStoreReader(
  db: string,
  resources: readonly Resource[],
  bounds?: ServingBounds,
): Promise<StoreReader> {
  return isServerStore(db)
    ? (await postgres()).openForReading(db, resources, bounds)
    : createReader(openForReading(db, resources), resources)
}

/**
 * Opens the store at `db` for an operator who looks at it; nothing can be changed.
 *
 * @throws OperatorError as `openStoreReader`.
 */
export async function openStoreInspector(
  db: string,
  resources: readonly Resource[],
): Promise<StoreInspector> {
  if (isServerStore(db)) return (await postgres()).openForInspecting(db, resources)
  const connection = openForReading(db, resources)
  return createInspector((work) => work(databaseOf(connection)), {
    verify: (checks, onStep) => verify(connection, resources, checks, onStep),
    backup: (path, watch) => backUp(connection, path, watch),
    close: () => connection.close(),
  })
}

/**
 * Opens the store at `db` for a command that changes it, and makes it on first use.
 *
 * @throws OperatorError with one line that says what to do, where it cannot be written.
 */
export async function openStoreWriter(
  db: string,
  resources: readonly Resource[],
): Promise<StoreWriter> {
  if (isServerStore(db)) return (await postgres()).openForWriting(db, resources)
  const connection = openForWriting(db, resources)
  return createWriter(
    {
      use: (work) => work(databaseOf(connection)),
      openImport: () => openImport(connection),
      close: () => connection.close(),
    },
    resources,
  )
}

/**
 * Opens a store to try an import on: the one at `db`, or where there is none, one that is gone
 * when it is closed. A check of the first import must not leave a store behind.
 */
export async function openStoreForTrial(
  db: string,
  resources: readonly Resource[],
): Promise<StoreWriter> {
  const isThere = isServerStore(db) ? await (await postgres()).isThere(db) : existsSync(db)
  return openStoreWriter(isThere ? db : temporary, resources)
}

/**
 * Makes the store at `db`, or brings its tables up to date.
 *
 * @param isDistributed spreads the tables of a PostgreSQL by company (Citus).
 * @returns what was done, a line each; empty where there was nothing to do.
 * @throws OperatorError with one line that says what to do, where that cannot be done.
 */
export async function migrateStore(
  db: string,
  resources: readonly Resource[],
  options: { readonly isDistributed: boolean; readonly onWait: () => void },
): Promise<readonly string[]> {
  if (isServerStore(db)) return (await postgres()).migrate(db, resources, options)
  if (options.isDistributed) {
    throw new OperatorError(`${db} is a file; only a PostgreSQL with Citus can be distributed`)
  }
  const isNew = !existsSync(db)
  openForWriting(db, resources).close()
  return isNew ? [`created ${db}`] : []
}

/** A driver's error as a OperatorError that says what to do, where one is known; else itself. */
export function explainStoreError(db: string, error: unknown): unknown {
  return isServerStore(db) ? postgresError(db, error) : sqliteError(db, error)
}

/** The paths that belong to a store, some of them only while it is written to. */
export function storeFiles(db: string): readonly string[] {
  if (isServerStore(db)) return []
  const endings = ['', '-wal', '-shm', '-journal']
  return [db, usageBeside(db)].flatMap((file) => endings.map((ending) => file + ending))
}

/** The file beside a store that has the uses of its keys: `registry-usage.db` of `registry.db`. */
function usageBeside(db: string): string {
  return `${db.replace(/\.db$/, '')}-usage.db`
}

/** The same for any store; undefined for a server's, beside which there is no folder. */
export function usageFile(db: string): string | undefined {
  return isServerStore(db) ? undefined : usageBeside(db)
}

/**
 * Opens the file with the uses of a store's keys, and makes it on first use.
 *
 * @param db is the store, whose rights a new file gets; beside a server's it is its owner's alone.
 * @throws as `UsageWriter.add`.
 */
export function openUsageWriter(path: string, storeId: string, db: string): UsageWriter {
  return openUsage(path, storeId, isServerStore(db) ? undefined : rightsOf(db))
}
