// The opener: the only code that knows which database a store uses (invariant 2). If it fails, an
// OperatorError says in one line what to do.

import { existsSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { type Closable, closing } from './closing.ts'
import { privateMode, rightsOf } from '../files/new-file.ts'
import { OperatorError } from '../config/operator-error.ts'
import { isServerStore } from '../config/setting-kinds.ts'
import { fileEndings } from '../config/store-file.ts'
import type { Resource } from '../resources/resource.ts'
import { shellWord } from '../text/shell-word.ts'
import type { ServingBounds } from './postgres/connect.ts'
import { describeUrl, storeError as postgresError } from './postgres/url.ts'
import { DamagedStoreError } from './listing/tables.ts'
import { registryOf } from './sqlite/database.ts'
import { storeError as sqliteError } from './sqlite/errors.ts'
import {
  isEmpty,
  isMissing,
  memory,
  openForInspecting,
  openForReading,
  requireFolder,
} from './sqlite/open.ts'
import type { CopyRelation } from './sqlite/store.ts'
import { createUsageWriter } from './sqlite/usage.ts'
import { watchLog } from './sqlite/wal.ts'
import { refuseBehind } from './withholding/list/agreement.ts'
import { listFile } from './withholding/list/list-file.ts'
import { type ListPlace, noList } from './withholding/list/list.ts'
import type { LockWait } from './work-watch.ts'
import type { StoreInspector, RestoreWatch } from './inspecting.ts'
import type { StoreReader } from './serving/store-reader.ts'
import type { StoreWriter } from './writing.ts'

export { openUsageReader as openUsesOfKeys, readUsage as readKeyUsage } from './sqlite/usage.ts'

// Loaded on demand, so that a server of a file does not load the driver.
const postgres = () => import('./postgres/open.ts')
// A server loads nothing that changes or checks a store: that is half of the store's code.
const files = () => import('./sqlite/store.ts')
// A command that changes a store answers no requests.
const reading = () => import('./sqlite/read.ts')

/** Where a store is: a file's path or the URL of a PostgreSQL store, and the list next to it. */
export type StoreAt = string | StorePlace

export interface StorePlace {
  readonly db: string
  /** The file with the list of what is withheld; undefined for the usual place. */
  readonly withheld: string | undefined
  /**
   * How a command waits for other sessions of PostgreSQL that have locked what it needs, and for
   * the first import of a file, which nobody else can open; without it, that throws.
   */
  readonly wait?: LockWait
}

/** The store's name in messages and logs, without a password. */
export function describeStore(db: string): string {
  return isServerStore(db) ? describeUrl(db) : db
}

/**
 * Opens a store for serving.
 *
 * @param bounds apply to PostgreSQL only; those of a command by default.
 */
export async function openStoreReader(at: StoreAt, bounds?: ServingBounds): Promise<StoreReader> {
  const { db, list } = await locate(at)
  if (isServerStore(db)) return (await postgres()).openForReading(db, list, bounds)
  const { createReader } = await reading()
  return createReader(await openAgreeing(db, list, openForReading))
}

/**
 * Opens the store at `db` for a command that shows what is served: also where SQLite cannot create
 * the files of the log, as on a read-only disk.
 */
export async function openStoreForShowing(at: StoreAt): Promise<StoreReader> {
  const { db, list } = await locate(at)
  if (isServerStore(db)) {
    return (await postgres()).openForReading(db, list, undefined, placeOf(at).wait)
  }
  return openUnchanged(db, list, (await reading()).createReader)
}

/**
 * Opens the store at `db` for inspection; nothing can be changed.
 *
 * @param isToVerify whether nothing stored is shown: a copy may have no list next to it.
 */
export async function openStoreInspector(
  at: StoreAt,
  resources: readonly Resource[],
  isToVerify = false,
): Promise<StoreInspector> {
  const { db, list: usual } = await locate(at)
  const list = { ...usual, isOptional: isToVerify }
  const { wait } = placeOf(at)
  if (isServerStore(db)) return (await postgres()).openForInspecting(db, list, resources, wait)
  const { inspectorOf } = await files()
  return openUnchanged(db, list, (connection) => inspectorOf(connection, { list, resources }))
}

/** How a store is opened for changes. */
interface WriterOptions {
  /** Whether the store is to adopt the list of another registry. */
  readonly isToAdopt?: boolean
}

/** Opens the store at `db` for a command that changes it, and creates it if it does not exist. */
export async function openStoreWriter(
  at: StoreAt,
  resources: readonly Resource[],
  { isToAdopt = false }: WriterOptions = {},
): Promise<StoreWriter> {
  const { db, list: usual } = await locate(at)
  const list = { ...usual, isToAdopt }
  const { wait } = placeOf(at)
  if (isServerStore(db)) return (await postgres()).openForWriting(db, list, resources, wait)
  return (await files()).openWriter(db, { list, resources }, wait)
}

/** Opens the store at `db` for a command that changes it and must not create a file. */
export async function openExistingStore(
  at: StoreAt,
  resources: readonly Resource[],
  options?: WriterOptions,
): Promise<StoreWriter> {
  if (await hasStore(at)) return openStoreWriter(at, resources, options)
  const db = describeStore(placeOf(at).db)
  throw new OperatorError(`${db} does not exist; create it with: dossier import`)
}

/**
 * Opens a store for a dry run: the one at `db` or, if there is none, a temporary one, because a dry
 * run of the first import must not create a store, not in an empty file either.
 */
export async function openStoreForTrial(
  at: StoreAt,
  resources: readonly Resource[],
  options?: WriterOptions,
): Promise<StoreWriter> {
  const { db, list } = await locate(at)
  const isServer = isServerStore(db)
  const isFilled = (await hasStore(at)) && (isServer || !isEmpty(db))
  if (isFilled) return openStoreWriter(at, resources, options)
  if (!isServer) requireFolder(db)
  const place = { list: isServer ? noList : list, resources }
  return (await files()).openWriter(memory, place)
}

/** Whether there is a store, rather than one that the next import creates. */
export async function hasStore(at: StoreAt): Promise<boolean> {
  const { db, wait } = placeOf(at)
  return isServerStore(db) ? (await postgres()).hasRegistry(db, wait) : !isMissing(db)
}

/**
 * Creates the store at `db`, or upgrades its tables.
 *
 * @param isDistributed whether to distribute the tables of a PostgreSQL store by company (Citus).
 * @returns what was done, a line each; empty if there was nothing to do.
 */
export async function migrateStore(
  at: StoreAt,
  resources: readonly Resource[],
  options: { readonly isDistributed: boolean } & LockWait,
): Promise<readonly string[]> {
  const { db, list } = await locate(at)
  const done: string[] = []
  if (isServerStore(db)) {
    done.push(...(await (await postgres()).migrateStore(db, { list, resources }, options)))
  } else if (options.isDistributed) {
    throw new OperatorError(`${db} is a file; only a PostgreSQL with Citus can be distributed`)
  } else if (!existsSync(db)) done.push(`created ${db}`)
  const store = await openStoreWriter(at, resources)
  await store.close()
  return [...done, ...describeCaughtUp(store, list)]
}

/**
 * Verifies a backup, brings it up to the list of what is withheld, and puts it in the place of a
 * store.
 *
 * @returns the path of the replaced store; undefined if there was none.
 */
export async function restoreStore(
  at: StoreAt,
  copy: string,
  resources: readonly Resource[],
  watch: RestoreWatch,
): Promise<string | undefined> {
  const { db, list } = await locate(at)
  if (isServerStore(db)) throw (await postgres()).noRestore(db, copy)
  if (isServerStore(copy) || isMissing(copy)) {
    throw new OperatorError(`${describeStore(copy)} is not a file; name one that backup has made`)
  }
  return (await files()).restoreFile(db, copy, { list, resources }, watch)
}

/** Compares a backup with the store at `db`. */
export const compareCopy = async (db: string, copy: string): Promise<CopyRelation> =>
  (await files()).compareFiles(db, copy)

/** A known error of a driver as an OperatorError that says what to do; else the error. */
export function explainStoreError(db: string, error: unknown): unknown {
  if (error instanceof DamagedStoreError) {
    const advice = 'restore a backup, or import the extracts into a new store'
    return new OperatorError(`${describeStore(db)}: is damaged (${error.message}); ${advice}`)
  }
  return isServerStore(db) ? postgresError(db, error) : sqliteError(db, error)
}

/** The paths that belong to a store; some exist only while it is written to. */
export function storeFiles(db: string): readonly string[] {
  const usage = usageFile(db)
  if (usage === undefined) return []
  return [db, usage].flatMap((file) => fileEndings.map((ending) => file + ending))
}

/** The usage file next to a store, such as `registry-usage.db`; PostgreSQL has no folder for it. */
export function usageFile(db: string): string | undefined {
  return isServerStore(db) ? undefined : beside(db, 'usage.db')
}

/**
 * Writes to the file that counts the use of a store's keys, and creates it if it does not exist.
 *
 * @param db the store, whose permissions a new file gets; for PostgreSQL, only the owner gets
 *   access.
 */
export function openUsageWriter(path: string, storeId: string, db: string) {
  return createUsageWriter(path, storeId, isServerStore(db) ? undefined : rightsOf(db))
}

function placeOf(at: StoreAt): StorePlace {
  return typeof at === 'string' ? { db: at, withheld: undefined } : at
}

/** The store's file or URL, and where the list of what it withholds is. */
async function locate(at: StoreAt): Promise<{ readonly db: string; readonly list: ListPlace }> {
  const { db, withheld } = placeOf(at)
  const options = `--db ${shellWord(describeStore(db))}`
  if (withheld === undefined && isServerStore(db)) {
    return { db, list: { ...(await postgres()).listSchemaOf(db), options } }
  }
  const path = withheld ?? beside(db, 'withheld.ndjson')
  const mode = () => (isServerStore(db) ? privateMode : rightsOf(db))
  const list = { ...listFile(path, mode), options: `${options} --withheld ${shellWord(path)}` }
  return { db, list: isServerStore(db) ? { ...list, append: forGood(list.append) } : list }
}

/** A file next to that of a store: `registry-NAME` for `registry.db`. */
function beside(db: string, name: string): string {
  return `${db.replace(/\.db$/, '')}-${name}`
}

/**
 * Adds lines, and never takes them back: a lost session loses its lock, too, and another command
 * may have followed them by then. If none has, the next one that writes does, as after a kill.
 */
function forGood(append: ListPlace['append']): ListPlace['append'] {
  return async (...given) => {
    await append(...given)
    return () => undefined
  }
}

/** Opens a file that nothing changes, and leaves no new files next to it. */
async function openUnchanged<T extends Closable>(
  db: string,
  list: ListPlace,
  make: (connection: DatabaseSync) => T,
): Promise<T> {
  const log = watchLog(db)
  try {
    const opened = make(await openAgreeing(db, list, openForInspecting))
    const close = async () => {
      await opened.close()
      log[Symbol.dispose]()
    }
    return { ...opened, ...closing(close) }
  } catch (error) {
    log[Symbol.dispose]()
    throw error
  }
}

/** Opens a file that agrees with its list. */
async function openAgreeing(
  db: string,
  list: ListPlace,
  open: (path: string) => DatabaseSync,
): Promise<DatabaseSync> {
  const connection = open(db)
  try {
    await refuseBehind(registryOf(connection), list, db)
    return connection
  } catch (error) {
    connection.close()
    throw sqliteError(db, error)
  }
}

function describeCaughtUp({ caughtUp }: StoreWriter, { name }: ListPlace): string[] {
  if (caughtUp === 0) return []
  return [`applied ${caughtUp === 1 ? 'an entry' : `${caughtUp} entries`} of ${name}`]
}
