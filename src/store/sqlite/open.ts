// Opens a store file; each possible fault of it gets an error of one line.

import { randomBytes } from 'node:crypto'
import { accessSync, closeSync, constants, existsSync, openSync, readSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { DatabaseSync } from 'node:sqlite'
import type { Resource } from '../../resources/resource.ts'
import { OperatorError } from '../../operator-error.ts'
import { pastHeadsOf } from '../sql/past-heads.ts'
import { namesMissing } from '../sql/keep-names.ts'
import type { OnStep } from '../work-watch.ts'
import { piecesOf } from '../sql/pieces.ts'
import { isUnwritable, makeDatabaseFile, storeError } from './errors.ts'
import {
  applicationId,
  convertResource,
  createRegistry,
  createResource,
  createViews,
  filePragma,
  fillPastHeads,
  schemaVersion,
  upgradeRegistry,
} from './schema.ts'
import { watchFile } from './open-file.ts'
import { enterWal } from './wal.ts'

/** A temporary store, deleted when it is closed. */
const memory = ':memory:'

/** How long a statement waits for another process, in milliseconds. */
export const busyMs = 5_000

/**
 * Opens a store for serving. Nothing is created, and nothing can be written.
 *
 * @throws OperatorError that says what to do, if there is no store that this version can read.
 */
export function openForReading(
  path: string,
  resources: readonly Resource[],
  how: '' | '?immutable=1' = '',
): DatabaseSync {
  if (!existsSync(path)) throw missing(path)
  const db = openFile(path, true, how)
  db.exec(readerPragmas)
  const names = new Set(
    db
      .prepare(`select name from sqlite_schema where type = 'table'`)
      .all()
      .map((row) => row['name']),
  )
  for (const { name } of resources) {
    if (names.has(piecesOf(name)) && names.has(pastHeadsOf(name))) continue
    db.close()
    throw new OperatorError(`${path} has no table for ${name}; any import adds it: dossier import`)
  }
  if (db.prepare('select words from store').get()?.['words'] === null) {
    db.close()
    throw new OperatorError(`${path} ${namesMissing}`)
  }
  return db
}

function missing(path: string): OperatorError {
  try {
    statSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EACCES') {
      const advice = 'give this user the right to enter its folder'
      return new OperatorError(`${path}: permission denied; ${advice}`)
    }
  }
  return new OperatorError(`${path} does not exist; create it with: dossier import`)
}

/**
 * Opens a store for reading beside servers, or as it is on a disk or in a folder that cannot be
 * written, where SQLite could not make the files of the log.
 *
 * @throws OperatorError as `openForReading`.
 */
export function openForInspecting(path: string, resources: readonly Resource[]): DatabaseSync {
  try {
    return openForReading(path, resources)
  } catch (error) {
    if (!(error instanceof OperatorError) || !isUnwritable(error.cause)) throw error
  }
  if ((statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) {
    throw new OperatorError(
      `${path}-wal has changes that are not in the file yet, and cannot be read here; ` +
        'copy both files to a folder that this user may write',
    )
  }
  // Nobody can write it from here, and its log is empty: nothing has to be locked.
  return openForReading(path, resources, '?immutable=1')
}

/** Receives what was done to a store's tables, and the progress of that. */
export interface UpgradeWatch {
  readonly onDone?: (line: string) => void
  readonly onStep?: OnStep | undefined
}

/**
 * Opens a store for a command that writes, and creates the file if it does not exist.
 *
 * @throws OperatorError as `openForReading`.
 */
export function openForWriting(
  path: string,
  resources: readonly Resource[],
  { onDone, onStep }: UpgradeWatch = {},
): DatabaseSync {
  if (path !== memory && !existsSync(dirname(resolve(path)))) {
    throw new OperatorError(`${path}: the folder does not exist; create it first`)
  }
  const db = openFile(path, false)
  try {
    // A command that was killed while creating the file may have left it without tables.
    const isNew = isBlank(db)
    db.exec(writerPragmas)
    if (isNew) enterFormat(db)
    if (isNew || isOutdated(db, resources)) {
      createSchema(db, resources, onStep)
      onDone?.(isNew ? `created ${path}` : `upgraded ${path} to format ${schemaVersion}`)
    }
    watchFile(db, 'meanwhile; run the command again')
    return db
  } catch (error) {
    db.close()
    throw storeError(path, error)
  }
}

/** Another process may do the same at the same time, which is harmless. */
function enterFormat(db: DatabaseSync): void {
  db.exec(filePragma)
  enterWal(db, busyMs)
}

// Durable commits, whatever the default; deleted content overwritten, in the file and in its free
// pages; sorting on a second core; memory that does not grow with the import.
const writerPragmas = `
  pragma synchronous = full;
  pragma main.secure_delete = on;
  pragma threads = 2;
  pragma cache_size = -16384;
  pragma temp.cache_size = -16384;
`

// Mapped pages are read without a copy and a system call each: a server of random pages from 500 MB
// answers 6,000 requests/s instead of 3,700. SQLite maps at most this much, and copies the rest.
const readerPragmas = 'pragma cache_size = -16384; pragma mmap_size = 2147418112'

function openFile(path: string, readOnly: boolean, how = ''): DatabaseSync {
  const exists = path !== memory && existsSync(path)
  if (exists) checkFile(path, readOnly)
  let db: DatabaseSync | undefined
  try {
    if (!readOnly && !exists && path !== memory) makeDatabaseFile(path)
    // A URL of the absolute path, because SQLite would parse `file:…` as a URL.
    const at = path === memory ? path : new URL(`${pathToFileURL(path).href}${how}`)
    db = new DatabaseSync(at, { readOnly, timeout: busyMs })
    if (!isBlank(db)) checkVersion(db, path, readOnly)
    else if (readOnly) throw new OperatorError(emptyStore(path))
    return db
  } catch (error) {
    db?.close()
    throw storeError(path, error)
  }
}

/** Explains what SQLite would only call "unable to open" or "not a database". */
function checkFile(path: string, readOnly: boolean): void {
  const stat = statSync(path)
  if (stat.isDirectory())
    throw new OperatorError(`${path} is a folder; name a file in it with --db`)
  try {
    accessSync(path, readOnly ? constants.R_OK : constants.R_OK | constants.W_OK)
  } catch {
    const right = readOnly ? 'read' : 'read and write'
    throw new OperatorError(`${path}: permission denied; give this user the right to ${right} it`)
  }
  if (stat.size === 0 && readOnly) {
    throw new OperatorError(emptyStore(path))
  }
  if (stat.size > 0 && !startsLikeSqlite(path)) {
    throw new OperatorError(`${path} is not a Dossier store; check --db`)
  }
}

function startsLikeSqlite(path: string): boolean {
  const file = openSync(path, 'r')
  try {
    const start = Buffer.alloc(16)
    readSync(file, start, 0, 16, 0)
    return start.toString('latin1') === 'SQLite format 3\0'
  } finally {
    closeSync(file)
  }
}

function emptyStore(path: string): string {
  return `${path} is empty; load it with: dossier import`
}

/** Whether the file has no content yet; another process may be about to create the store. */
export function isBlank(db: DatabaseSync): boolean {
  // Tables and application id are committed together, perhaps between these two reads.
  const hasTables = db.prepare('select 1 from sqlite_schema').get() !== undefined
  return !hasTables && db.prepare('pragma application_id').get()?.['application_id'] === 0
}

function checkVersion(db: DatabaseSync, path: string, readOnly: boolean): void {
  if (db.prepare('pragma application_id').get()?.['application_id'] !== applicationId) {
    throw new OperatorError(`${path} is not a Dossier store; check --db`)
  }
  const version = formatOf(db)
  if (version < schemaVersion && readOnly) {
    throw new OperatorError(
      `${path} was written by an older Dossier (format ${version}, this one reads ` +
        `${schemaVersion}); upgrade it with: dossier migrate`,
    )
  }
  if (version > schemaVersion) {
    throw new OperatorError(
      `${path} was written by a newer Dossier (format ${version}, this one reads up to ` +
        `${schemaVersion}); use the newer version`,
    )
  }
}

function formatOf(db: DatabaseSync): number {
  return Number(db.prepare('pragma user_version').get()?.['user_version'])
}

/** Whether the store has an older format, or lacks a resource or a field. */
function isOutdated(db: DatabaseSync, resources: readonly Resource[]): boolean {
  if (formatOf(db) < schemaVersion) return true
  if (resources.some(({ name }) => !hasTable(db, pastHeadsOf(name)))) return true
  const objects = db.prepare('select sql from sqlite_schema').all()
  const present = new Set(objects.map(({ sql }) => comparable(String(sql))))
  return resources.some((resource) =>
    createViews(resource).some((view) => !present.has(comparable(view))),
  )
}

function hasTable(db: DatabaseSync, name: string): boolean {
  return db.prepare('select 1 from sqlite_schema where name = ?').get(name) !== undefined
}

function comparable(sql: string): string {
  return sql
    .replace(/\s+|;\s*$/g, ' ')
    .trim()
    .toLowerCase()
}

/**
 * Creates a store in one transaction, or upgrades one, each resource in a transaction of its own: a
 * kill leaves no store, or one that the next command upgrades from there.
 */
function createSchema(db: DatabaseSync, resources: readonly Resource[], onStep?: OnStep): void {
  const isCreated = inTransaction(db, () => {
    const format = formatOf(db)
    // Another process may have created the store while this one waited for the lock.
    const isNew = isBlank(db)
    if (isNew) {
      db.exec(createRegistry(randomBytes(6).toString('hex')))
      for (const resource of resources) db.exec(createResource(resource))
    } else if (format < schemaVersion) db.exec(upgradeRegistry(format))
    return isNew
  })
  for (const [n, resource] of isCreated ? [] : resources.entries()) {
    onStep?.(`upgrading ${resource.name}`, n / resources.length)
    inTransaction(db, () => {
      const columns = db.prepare(`select name from pragma_table_info('${resource.name}')`).all()
      const isOfRows = columns.some(({ name }) => name === 'record')
      const hadPastHeads = hasTable(db, pastHeadsOf(resource.name))
      db.exec(isOfRows ? convertResource(resource) : createResource(resource))
      if (!hadPastHeads) db.exec(fillPastHeads(resource))
    })
  }
}

function inTransaction<T>(db: DatabaseSync, work: () => T): T {
  db.exec('begin immediate')
  try {
    const result = work()
    db.exec('commit')
    return result
  } catch (error) {
    if (db.isTransaction) db.exec('rollback')
    throw error
  }
}
