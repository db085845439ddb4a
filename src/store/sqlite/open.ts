// Opens a store file, and reports each possible fault of it in one line.

import { randomBytes } from 'node:crypto'
import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { DatabaseSync } from 'node:sqlite'
import type { Resource } from '../../resources/resource.ts'
import { OperatorError } from '../../config/operator-error.ts'
import { isAbsent } from '../../files/absent.ts'
import { makeFile } from '../../files/new-file.ts'
import { readStart } from '../../files/file-start.ts'
import { otherFormat } from '../sql/schema.ts'
import { isUnwritable, onFile, storeError } from './errors.ts'
import { applicationId, createTables, createViews, filePragma, schemaVersion } from './schema.ts'
import { pragma, writeAtOnce } from './statements.ts'
import { watchFiles } from './transaction.ts'
import { enterWal, sizeOf } from './wal.ts'

/** A temporary store, deleted when it is closed. */
export const memory = ':memory:'

/** How long a statement waits for another process, in milliseconds. */
export const busyMs = 5_000

/** Opens a store for serving. Nothing is created, and nothing can be written. */
export function openForReading(path: string): DatabaseSync {
  const db = openUnmapped(path)
  db.exec(mappingPragma)
  // Without the log and its index of other processes, a server would stay on its state, and accept
  // revoked keys. The path may be a link, beside whose target they are.
  const logs = ['-wal', '-shm'].map((ending) => `${db.location() ?? path}${ending}`)
  const files = [path, ...logs.filter((file) => existsSync(file))]
  watchFiles(db, files, 'while being served; restart the server')
  return db
}

/** The end of a file's URL: how SQLite opens it. */
type How = '' | '?immutable=1'

function openUnmapped(path: string, how: How = ''): DatabaseSync {
  if (isMissing(path)) {
    throw new OperatorError(`${path} does not exist; create it with: dossier import`)
  }
  const db = openFile(path, true, how)
  db.exec(readerPragma)
  return db
}

/**
 * Opens a store for reading while servers use it, or as it is on a disk or in a folder that cannot
 * be written, where SQLite could not make the files of the log. A command reads most pages once:
 * they are not mapped, since mapped pages count as memory of the process.
 */
export function openForInspecting(path: string): DatabaseSync {
  return openAsItIs(path, (how) => openUnmapped(path, how))
}

/**
 * Opens a file for reading; where SQLite could not make the files of its log, as it is.
 *
 * @param open takes what follows the file in its URL.
 * @throws OperatorError if changes are in the log alone; else what `open` throws.
 */
export function openAsItIs(path: string, open: (how: How) => DatabaseSync): DatabaseSync {
  try {
    return open('')
  } catch (error) {
    if (!isUnwritable(error)) throw error
    // What a killed import has written in part must not be read as if it were complete.
    if (sizeOf(`${path}-journal`) > 0) throw error
  }
  if (sizeOf(`${path}-wal`) > 0) {
    throw new OperatorError(
      `${path}-wal has changes that are not in the file yet, and cannot be read here; ` +
        'copy both files to a folder that this user may write',
    )
  }
  // Nobody can write it from here, and its log is empty: nothing has to be locked.
  return open('?immutable=1')
}

/** @throws OperatorError if this user cannot tell, as in a folder that must not be entered. */
export function isMissing(path: string): boolean {
  return onFile(path, () => isAbsent(path))
}

/** Whether a file has no content, as of `mktemp`: an import makes it a store. */
export function isEmpty(path: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat?.isFile() === true && stat.size === 0
}

/** @throws OperatorError if there is no folder for a store. */
export function requireFolder(path: string): void {
  if (onFile(path, () => isAbsent(dirname(resolve(path))))) {
    throw new OperatorError(`${path}: the folder does not exist; create it first`)
  }
}

/** Opens a store for a command that writes, and creates the file if it does not exist. */
export function openForWriting(path: string, resources: readonly Resource[]): DatabaseSync {
  if (path !== memory) requireFolder(path)
  const db = openFile(path, false)
  try {
    // A command that was killed while creating the file may have left it without tables.
    const isNew = isBlank(db)
    db.exec(writerPragmas)
    if (isNew) create(db, resources)
    else {
      // A first import that was killed may have left it without a log.
      enterWal(db, busyMs)
      addViews(db, resources)
    }
    if (path !== memory) watchFiles(db, [path], 'meanwhile; run the command again')
    return db
  } catch (error) {
    db.close()
    throw storeError(path, error)
  }
}

// Durable commits, whatever the default; deleted content overwritten, in the file and in its free
// pages; sorting on a second core; memory that does not grow with the import.
const writerPragmas = `
  pragma synchronous = full;
  pragma main.secure_delete = on;
  pragma threads = 2;
  pragma cache_size = -8192;
  pragma temp.cache_size = -8192;
`

// Mapped pages are read without a copy and a system call each: a server of random pages from 500 MB
// answers 6,000 requests/s instead of 3,700. SQLite maps at most this much, and copies the rest.
const mappingPragma = 'pragma mmap_size = 2147418112'
const readerPragma = 'pragma cache_size = -16384'

function openFile(path: string, readOnly: boolean, how = ''): DatabaseSync {
  let db: DatabaseSync | undefined
  try {
    if (path !== memory) onFile(path, () => checkFile(path, readOnly))
    // A URL of the absolute path, because SQLite would parse `file:…` as a URL.
    const at = path === memory ? path : new URL(`${pathToFileURL(path).href}${how}`)
    db = new DatabaseSync(at, { readOnly, timeout: busyMs })
    if (!isBlank(db)) checkVersion(db, path)
    else if (readOnly) throw new OperatorError(`${path} is empty; load it with: dossier import`)
    return db
  } catch (error) {
    db?.close()
    throw storeError(path, error)
  }
}

/** Creates a new file, or refuses one that SQLite would take for an empty store or bad disk. */
function checkFile(path: string, readOnly: boolean): void {
  if (!readOnly) makeFile(path)
  // SQLite would open a file that cannot be written, and fail at the first change.
  accessSync(path, readOnly ? constants.R_OK : constants.R_OK | constants.W_OK)
  const stat = statSync(path)
  const isLikeStore = () => readStart(path, signature.length).toString('latin1') === signature
  if (!stat.isFile() || (stat.size > 0 && !isLikeStore())) {
    throw new OperatorError(`${path} is not a Dossier store; check --db`)
  }
}

const signature = 'SQLite format 3\0'

/** Whether the file has no content yet; another process may be about to create the store. */
export function isBlank(db: DatabaseSync): boolean {
  // Tables and application id are committed together, perhaps between these two reads.
  const hasTables = db.prepare('select 1 from sqlite_schema').get() !== undefined
  return !hasTables && pragma(db, 'application_id') === 0
}

function checkVersion(db: DatabaseSync, path: string): void {
  if (pragma(db, 'application_id') !== applicationId) {
    throw new OperatorError(`${path} is not a Dossier store; check --db`)
  }
  const version = pragma(db, 'user_version')
  if (version !== schemaVersion) throw otherFormat(path, version, schemaVersion)
  refuseTriggers(db, path)
}

/** A trigger in a copy from elsewhere could undo what a command reports, such as a revocation. */
function refuseTriggers(db: DatabaseSync, path: string): void {
  const found = db.prepare(`select name from sqlite_schema where type = 'trigger'`).get()
  if (found === undefined) return
  throw new OperatorError(
    `${path} has a trigger, ${JSON.stringify(found['name'])}, which no version of Dossier makes: ` +
      'it can undo what commands report; restore a copy that you trust, or drop the trigger',
  )
}

/** Creates tables and views in one transaction, so that a kill leaves no store. */
function create(db: DatabaseSync, resources: readonly Resource[]): void {
  // Another process may do the same at the same time, which is harmless.
  db.exec(filePragma)
  enterWal(db, busyMs)
  writeAtOnce(db, () => {
    // It may have created the store while this one waited for the lock.
    if (!isBlank(db)) return
    db.exec(createTables(randomBytes(6).toString('hex')))
    db.exec(resources.map(createViews).join(''))
  })
}

/** Creates the views of resources that are new since the store was made. */
function addViews(db: DatabaseSync, resources: readonly Resource[]): void {
  const views = db.prepare(`select name from sqlite_schema where type = 'view'`).all()
  const present = new Set(views.map(({ name }) => name))
  const added = resources.filter(({ name }) => !present.has(`${name}_view`))
  if (added.length > 0) writeAtOnce(db, () => db.exec(added.map(createViews).join('')))
}
