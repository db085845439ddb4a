// The work of commands on a file: inspecting, changing and restoring it. A server loads none of it.

import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { OperatorError } from '../../config/operator-error.ts'
import { nameUnfinished } from '../../files/unfinished.ts'
import type { Resource } from '../../resources/resource.ts'
import { shellWord } from '../../text/shell-word.ts'
import {
  createInspector,
  type RestoreWatch,
  type StoredChecks,
  type StoreInspector,
  type Verification,
} from '../inspecting.ts'
import { type ImportConnection, readStoreId, type RegistryDatabase } from '../sql/database.ts'
import { lookup, onlyText } from '../sql/dialect.ts'
import { compareWithList, compareWithNew } from '../withholding/list/agreement.ts'
import type { ListPlace } from '../withholding/list/list.ts'
import type { WithholdingPlace } from '../withholding/follow.ts'
import type { LockWait } from '../work-watch.ts'
import { createWriter, type StoreWriter, type Use } from '../writing.ts'
import { backUp } from './backup.ts'
import { compact } from './compact.ts'
import { registryOf } from './database.ts'
import { isDamaged, isUnreadable, storeError } from './errors.ts'
import { openForInspecting, openForWriting, requireFolder } from './open.ts'
import { restore } from './restore.ts'
import { writerOf } from './tables.ts'
import { beginWriting, commit, untilFree } from './transaction.ts'
import { leaveWal, returnToWal, watchLog } from './wal.ts'

/** Inspects an open store, which nothing changes. */
export function inspectorOf(
  connection: DatabaseSync,
  { list, resources }: WithholdingPlace,
): StoreInspector {
  const use: Use = (work) => work(registryOf(connection))
  return createInspector({ use, list }, resources, {
    verify: (checks, onStep) => verify(connection, resources, checks, onStep),
    backup: (path, watch) => backUp(connection, path, watch),
    close: () => connection.close(),
  })
}

/** Opens a file for a command that writes, as `openForWriting` does. */
export async function openWriter(
  db: string,
  place: WithholdingPlace,
  wait?: LockWait,
): Promise<StoreWriter> {
  if (!existsSync(db)) {
    using nothing = new DatabaseSync(':memory:')
    await compareWithNew(writerOf(nothing), place.list)
  }
  const open = () => makeWriter(openForWriting(db, place.resources), db, place)
  return wait === undefined ? open() : untilFree(wait, open)
}

async function makeWriter(
  connection: DatabaseSync,
  db: string,
  { list, resources }: WithholdingPlace,
): Promise<StoreWriter> {
  const access = {
    use: <T>(work: (registry: RegistryDatabase) => Promise<T>) => work(registryOf(connection)),
    openImport: () => openImport(connection),
    compact: (wait: LockWait) => compact(connection, wait),
    close: () => connection.close(),
    list,
  }
  try {
    return await createWriter(access, resources)
  } catch (error) {
    connection.close()
    throw storeError(db, error)
  }
}

/** Restores a copy to a file (`restoreStore`). */
export async function restoreFile(
  db: string,
  copy: string,
  { list, resources }: WithholdingPlace,
  watch: RestoreWatch,
): Promise<string | undefined> {
  requireFolder(db)
  using _log = watchLog(copy)
  using source = openCopy(copy)
  const { faults } = await verify(source, resources, watch.checks, (step) => watch.onCheck(step))
  const [fault] = faults
  if (fault !== undefined) {
    const more = faults.length > 1 ? `, and ${faults.length - 1} more` : ''
    throw new OperatorError(
      `${copy} is damaged (${fault}${more}); restore another backup: dossier verify --db FILE`,
    )
  }
  const own = { ...list, options: `--db ${shellWord(copy)} --withheld ${shellWord(list.name)}` }
  const { behind } = await compareWithList(registryOf(source), own)
  if (behind > 0) return await restoreCaughtUp(source, db, { list, resources }, watch)
  return await restore(source, db, watch, checkOf(source, own, watch))
}

/** Restores a copy of a backup, next to the store, that is first brought up to the list. */
async function restoreCaughtUp(
  source: DatabaseSync,
  db: string,
  place: WithholdingPlace,
  watch: RestoreWatch,
): Promise<string | undefined> {
  // Another restore may be doing the same.
  using copy = nameUnfinished(db, 'withholding')
  const { path } = copy
  await backUp(source, path, watch.copying('copying'))
  const { list, resources } = place
  const text = await list.read(registryOf(source))
  // What orders find in the copy alone is added to the list under the lock of the store.
  let lines = ''
  const append = (_db: unknown, more: string) => {
    lines += more
    return () => undefined
  }
  const own = { resources, list: { ...list, append } }
  const store = await makeWriter(openForWriting(path, resources), path, own)
  await store.compact(watch)
  await store.close()
  using ready = openForInspecting(path)
  const check = checkOf(ready, list, watch)
  return await restore(ready, db, watch, async (replaced) => {
    const now = await list.read(registryOf(ready))
    if (now === text && lines !== '') await list.append(registryOf(ready), lines)
    else if (now !== `${text}${lines}`) throw changedMeanwhile(list)
    await check(replaced)
  })
}

function changedMeanwhile({ name }: ListPlace): OperatorError {
  return new OperatorError(`${name} has changed meanwhile; run the command again`)
}

/**
 * Makes the last check of a copy. It throws an OperatorError if something was withheld since the
 * copy was brought up to the list, if the list lacks what the replaced store withholds, or if that
 * store has got versions that nobody knew of who agreed to what would be lost.
 */
function checkOf(copy: DatabaseSync, list: ListPlace, { lostMax }: RestoreWatch) {
  return async (replaced?: DatabaseSync): Promise<void> => {
    const { behind, registry } = await compareWithList(registryOf(copy), list)
    if (behind > 0) throw changedMeanwhile(list)
    if (replaced === undefined) return
    const store = registryOf(replaced)
    const isSame = (await readStoreId(store).catch(() => undefined)) === registry
    // A copy from before the first order would agree without any list.
    if (isSame) {
      await compareWithList(store, list).catch((error: unknown) => {
        // A damaged store cannot tell.
        if (error instanceof OperatorError) throw error
      })
    }
    const own = await lineagesIn(replaced).catch(() => [])
    const { lost } = relate(own, await lineagesIn(copy))
    if (lost <= lostMax) return
    throw new OperatorError(
      `${replaced.location()} has got another version meanwhile, which would be lost; ` +
        'run the command again',
    )
  }
}

function openCopy(copy: string): DatabaseSync {
  try {
    return openForInspecting(copy)
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    if (/ is (?:not a Dossier store|empty;)/.test(error.message)) {
      throw new OperatorError(`${copy} is not a Dossier store; name a file that backup has made`)
    }
    if (!isDamaged(error)) throw error
    throw new OperatorError(`${copy} is damaged or not a store; restore another backup`)
  }
}

/** How a backup relates to the store that it would replace. */
export interface CopyRelation {
  /** Whether no import of the store is in the copy. */
  readonly isForeign: boolean
  /** The imports of the store that the copy lacks. */
  readonly lost: number
}

/** Compares two files; where one cannot be read, nothing is lost. */
export async function compareFiles(db: string, copy: string): Promise<CopyRelation> {
  const own = await lineagesOf(db).catch(() => [])
  return relate(own, await lineagesOf(copy).catch(() => own))
}

function relate(own: readonly string[], copied: readonly string[]): CopyRelation {
  const others = new Set(copied)
  const lost = own.filter((lineage) => !others.has(lineage)).length
  return { isForeign: lost > 0 && lost === own.length, lost }
}

async function lineagesOf(db: string): Promise<readonly string[]> {
  using _log = watchLog(db)
  using connection = openForInspecting(db)
  return await lineagesIn(connection)
}

const lineagesIn = async (db: DatabaseSync) =>
  lookup(registryOf(db), 'select lineage from imports', onlyText)()

/** Prepares a connection for one change of the registry, until it is committed or discarded. */
function openImport(db: DatabaseSync): ImportConnection {
  let hasWritten = false
  return {
    ...registryOf(db),
    async begin(wait) {
      // There is nothing yet that others could read meanwhile.
      if (db.prepare('select 1 from imports').get() === undefined) leaveWal(db)
      await beginWriting(db, wait)
      hasWritten = true
    },
    commit() {
      commit(db)
      returnToWal(db)
    },
    discard() {
      if (db.isTransaction) db.exec('rollback')
      // A large merge spills into the log before it is committed.
      if (hasWritten) returnToWal(db)
    },
  }
}

const fileDamage = `
  select 'file: ' || integrity_check from pragma_integrity_check where integrity_check <> 'ok'`

async function verify(
  db: DatabaseSync,
  resources: readonly Resource[],
  checks: StoredChecks,
  onStep: (step: string) => void,
): Promise<Verification> {
  const { verifyStore } = await import('../history/verify.ts')
  const verified = {
    ...registryOf(db),
    damageIn: (error: unknown) => (isUnreadable(error) ? error.message : undefined),
    rules: { file: fileDamage },
  }
  db.exec('begin')
  try {
    return await verifyStore(verified, resources, checks, onStep)
  } finally {
    if (db.isTransaction) db.exec('rollback')
  }
}
