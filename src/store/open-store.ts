// The opener: the only code that knows which database a store uses (invariant 2).

import { existsSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { rightsOf } from '../new-file.ts'
import { OperatorError } from '../operator-error.ts'
import type { Resource } from '../resources/resource.ts'
import { describeFilled, fillNames } from './companies/fill-names.ts'
import type { ServingBounds } from './postgres/connect.ts'
import { storeError as postgresError } from './postgres/errors.ts'
import { describeUrl } from './postgres/url.ts'
import { backUp } from './sqlite/backup.ts'
import { createInspector, createWriter } from './sql/writer.ts'
import { compact } from './sqlite/compact.ts'
import { registryOf } from './sqlite/database.ts'
import { isDamaged, storeError as sqliteError } from './sqlite/errors.ts'
import { openImport } from './sqlite/import.ts'
import {
  openForInspecting,
  openForReading,
  openForWriting,
  type UpgradeWatch,
} from './sqlite/open.ts'
import { createReader } from './sqlite/read.ts'
import { discardReplaced, restore } from './sqlite/restore.ts'
import { openUsage, openUsageReader } from './sqlite/usage.ts'
import { verify } from './sqlite/verify.ts'
import { removeLog } from './sqlite/wal.ts'
import type { StoreInspector } from './inspecting.ts'
import type { StoreReader } from './reading.ts'
import type { Restored, RestoreWatch } from './restoring.ts'
import type { UsageReader, UsageWriter } from './usage.ts'
import type { OnStep, WorkWatch } from './work-watch.ts'
import type { StoreWriter } from './writing.ts'

export { readUsage as readKeyUsage } from './sqlite/usage.ts'

const temporary = ':memory:'

// Loaded on demand, so that a server of a file does not load the driver.
const postgres = () => import('./postgres/open.ts')

/** Whether it is the URL of a PostgreSQL store; anything else is the path of a file. */
export function isServerStore(db: string): boolean {
  return /^postgres(ql)?:\/\//i.test(db)
}

/** The store's name in messages and logs, without a password. */
export function describeStore(db: string): string {
  return isServerStore(db) ? describeUrl(db) : db
}

/**
 * Opens the store at `db` for serving: a file's path, or the URL of a PostgreSQL store.
 *
 * @param bounds apply to PostgreSQL only.
 * @throws OperatorError with one line that says what to do if the store cannot be served.
 */
export async function openStoreReader(
  db: string,
  resources: readonly Resource[],
  bounds?: ServingBounds,
): Promise<StoreReader> {
  return isServerStore(db)
    ? (await postgres()).openForReading(db, bounds)
    : createReader(openForReading(db, resources), resources)
}

/**
 * Opens the store at `db` for a command that shows what is served: also where SQLite could not make
 * the files of the log, as on a disk that cannot be written.
 *
 * @throws OperatorError as `openStoreReader`.
 */
export async function openStoreForShowing(
  db: string,
  resources: readonly Resource[],
): Promise<StoreReader> {
  if (isServerStore(db)) return openStoreReader(db, resources)
  return createReader(openForInspecting(db, resources), resources)
}

/**
 * Opens the store at `db` for inspection; nothing can be changed.
 *
 * @throws OperatorError as `openStoreReader`.
 */
export async function openStoreInspector(
  db: string,
  resources: readonly Resource[],
): Promise<StoreInspector> {
  if (isServerStore(db)) return (await postgres()).openForInspecting(db, resources)
  const connection = openForInspecting(db, resources)
  return createInspector((work) => work(registryOf(connection)), resources, {
    verify: (checks, onStep) => verify(connection, resources, checks, onStep),
    backup: (path, watch) => backUp(connection, path, watch),
    close: () => connection.close(),
  })
}

/** Opens a file for writing, and completes its upgrade; see `openForWriting`. */
async function openFile(
  db: string,
  resources: readonly Resource[],
  watch: UpgradeWatch,
): Promise<DatabaseSync> {
  const connection = openForWriting(db, resources, watch)
  try {
    const names = await fillNames(registryOf(connection), { onWait: () => undefined }, watch.onStep)
    if (names !== undefined) watch.onDone?.(describeFilled(names))
    return connection
  } catch (error) {
    connection.close()
    throw sqliteError(db, error)
  }
}

/**
 * Opens the store at `db` for a command that changes it, and creates it if it does not exist.
 *
 * @param onStep the progress of upgrading its tables.
 * @throws OperatorError with one line that says what to do if the store cannot be written.
 */
export async function openStoreWriter(
  db: string,
  resources: readonly Resource[],
  onStep?: OnStep,
): Promise<StoreWriter> {
  if (isServerStore(db)) return (await postgres()).openForWriting(db, resources)
  const connection = await openFile(db, resources, { onStep })
  return createWriter(
    {
      use: (work) => work(registryOf(connection)),
      openImport: () => openImport(connection),
      compact: (wait) => compact(connection, wait),
      close: () => connection.close(),
    },
    resources,
  )
}

/**
 * Opens the store at `db` for a command that changes it and must not create a file.
 *
 * @throws OperatorError as `openStoreWriter`, and if the file does not exist.
 */
export async function openExistingStore(
  db: string,
  resources: readonly Resource[],
  onStep?: OnStep,
): Promise<StoreWriter> {
  if (await hasStore(db)) return openStoreWriter(db, resources, onStep)
  throw new OperatorError(`${describeStore(db)} does not exist; create it with: dossier import`)
}

/**
 * Opens a store for a dry run: the one at `db` or, if there is none, a temporary one, because a dry
 * run of the first import must not create a store.
 */
export async function openStoreForTrial(
  db: string,
  resources: readonly Resource[],
  onStep?: OnStep,
): Promise<StoreWriter> {
  return openStoreWriter((await hasStore(db)) ? db : temporary, resources, onStep)
}

/** Whether there is a store at `db`, rather than one that the next import creates. */
export async function hasStore(db: string): Promise<boolean> {
  return isServerStore(db) ? (await postgres()).hasRegistry(db) : existsSync(db)
}

/**
 * Creates the store at `db`, or upgrades its tables.
 *
 * @param isDistributed whether to distribute the tables of a PostgreSQL store by company (Citus).
 * @returns what was done, a line each; empty if there was nothing to do.
 * @throws OperatorError with one line that says what to do if that fails.
 */
export async function migrateStore(
  db: string,
  resources: readonly Resource[],
  options: { readonly isDistributed: boolean } & WorkWatch,
): Promise<readonly string[]> {
  if (isServerStore(db)) return (await postgres()).migrate(db, resources, options)
  if (options.isDistributed) {
    throw new OperatorError(`${db} is a file; only a PostgreSQL with Citus can be distributed`)
  }
  const done: string[] = []
  const { onStep } = options
  const connection = await openFile(db, resources, { onStep, onDone: (line) => done.push(line) })
  connection.close()
  return done
}

/**
 * Verifies a backup, and puts it in the place of the store at `db`.
 *
 * @throws OperatorError that says what to do; the store is unchanged.
 */
export async function restoreStore(
  db: string,
  copy: string,
  resources: readonly Resource[],
  watch: RestoreWatch,
): Promise<Restored> {
  if (isServerStore(db)) throw (await postgres()).noRestore(db, copy)
  if (isServerStore(copy) || !existsSync(copy)) {
    throw new OperatorError(`${describeStore(copy)} is not a file; name one that backup has made`)
  }
  const hadLog = existsSync(`${copy}-shm`)
  const source = openCopy(copy, resources)
  try {
    const { faults } = await verify(source, resources, watch.checks, (step) => watch.onCheck(step))
    const [fault] = faults
    if (fault !== undefined) {
      const more = faults.length > 1 ? `, and ${faults.length - 1} more` : ''
      throw new OperatorError(
        `${copy} is damaged (${fault}${more}); restore another backup: dossier verify --db FILE`,
      )
    }
    return await restore(source, db, watch)
  } finally {
    source.close()
    if (!hadLog) removeLog(copy)
  }
}

function openCopy(copy: string, resources: readonly Resource[]): DatabaseSync {
  try {
    return openForInspecting(copy, resources)
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    if (/is not a Dossier store/.test(error.message)) {
      throw new OperatorError(`${copy} is not a Dossier store; name a file that backup has made`)
    }
    if (!isDamaged(error.cause)) throw error
    throw new OperatorError(`${copy} is damaged or no store; restore another backup`)
  }
}

/** How a backup relates to the store that it would replace. */
export interface CopyRelation {
  /** Whether no import of the store is in the copy. */
  readonly isForeign: boolean
  /** The imports of the store that the copy lacks. */
  readonly lost: number
}

/** Compares a backup with the store at `db`; undefined if that has none, or cannot be read. */
export async function compareCopy(
  db: string,
  copy: string,
  resources: readonly Resource[],
): Promise<CopyRelation | undefined> {
  if (isServerStore(db) || isServerStore(copy) || !existsSync(db) || !existsSync(copy)) {
    return undefined
  }
  const own = await lineagesOf(db, resources).catch(() => [])
  const hadLog = existsSync(`${copy}-shm`)
  const others = new Set(await lineagesOf(copy, resources).catch(() => own))
  if (!hadLog) removeLog(copy)
  if (own.length === 0) return undefined
  const lost = own.filter((lineage) => !others.has(lineage)).length
  return { isForeign: lost === own.length, lost }
}

async function lineagesOf(db: string, resources: readonly Resource[]): Promise<string[]> {
  const connection = openForInspecting(db, resources)
  try {
    const rows = await registryOf(connection).rows('select lineage from imports')
    return rows.map(({ lineage }) => String(lineage))
  } finally {
    connection.close()
  }
}

/** Deletes the stores that restores have replaced, and returns their paths. */
export async function discardReplacedStores(db: string): Promise<readonly string[]> {
  if (isServerStore(db)) throw (await postgres()).noRestore(db, 'COPY')
  return discardReplaced(db)
}

/** A known error of a driver as an OperatorError that says what to do; else the error. */
export function explainStoreError(db: string, error: unknown): unknown {
  return isServerStore(db) ? postgresError(db, error) : sqliteError(db, error)
}

/** The paths that belong to a store; some exist only while it is written to. */
export function storeFiles(db: string): readonly string[] {
  if (isServerStore(db)) return []
  const endings = ['', '-wal', '-shm', '-journal']
  return [db, usageBeside(db)].flatMap((file) => endings.map((ending) => file + ending))
}

/** The usage file beside a store: `registry-usage.db` for `registry.db`. */
function usageBeside(db: string): string {
  return `${db.replace(/\.db$/, '')}-usage.db`
}

/** The usage file of any store; undefined for PostgreSQL, which has no folder. */
export function usageFile(db: string): string | undefined {
  return isServerStore(db) ? undefined : usageBeside(db)
}

/** Reads the file that counts the use of a store's keys, once it exists. */
export function openUsesOfKeys(path: string, storeId: string): UsageReader {
  return openUsageReader(path, storeId)
}

/**
 * Opens the file that counts the use of a store's keys, and creates it if it does not exist.
 *
 * @param db the store, whose permissions a new file gets; for PostgreSQL, only the owner gets
 *   access.
 * @throws as `UsageWriter.add`.
 */
export function openUsageWriter(path: string, storeId: string, db: string): UsageWriter {
  return openUsage(path, storeId, isServerStore(db) ? undefined : rightsOf(db))
}
