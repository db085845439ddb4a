// The interfaces for commands, built from the logic that both stores share and a store's own
// access.

import type { Resource } from '../../resources/resource.ts'
import type { Awaitable } from '../awaitable.ts'
import { closing } from '../closing.ts'
import { prune } from '../history/prune.ts'
import { revert } from '../history/revert.ts'
import { listSources, readLastSeen } from '../history/sources.ts'
import { beginImport } from '../loading/session.ts'
import type { StoreInspector } from '../inspecting.ts'
import type { LockWait } from '../work-watch.ts'
import {
  type ImportConnection,
  type RegistryDatabase,
  type Database,
  readValue,
} from './database.ts'
import type { Compacted, StoreWriter } from '../writing.ts'
import { compareWithList } from '../withholding/agreement.ts'
import { createGate } from '../withholding/gate.ts'
import type { ListPlace } from '../withholding/list.ts'
import { adopt, bringUp, lift, withhold } from '../withholding/withhold.ts'
import { lastWithheld } from './versions.ts'
import { findNames, listImports, readImport, readRecipes } from './inspect.ts'
import { addKey, listKeys, revokeKey, rotateKey } from './stored-keys.ts'

/** Runs `work` with a connection of its own. */
export type Use = <T>(work: (db: RegistryDatabase) => Promise<T>) => Promise<T>

/** How a store is opened for changes. */
export interface WritingAccess {
  readonly use: Use
  /** Opens a connection for one change of the registry. */
  openImport(): Awaitable<ImportConnection>
  compact(wait: LockWait): Promise<Compacted>
  close(): Awaitable<void>
  /** Where the list of what is withheld is. */
  readonly list: ListPlace
}

/**
 * Makes a writer of a store, which is brought up to the list of what is withheld before.
 *
 * @throws OperatorError if the store and its list do not agree.
 */
export async function createWriter(
  access: WritingAccess,
  resources: readonly Resource[],
): Promise<StoreWriter> {
  const { use, list } = access
  const compare = () => use((db) => compareWithList(db, list))
  const place = { list, resources }
  const patient = { onWait: () => undefined }
  let caughtUp = 0
  const { behind, isForeign } = await compare()
  if (behind > 0 && !isForeign) {
    caughtUp = await bringUp(() => access.openImport(), place, patient)
  }
  return {
    readStoreId: () => use(readStoreId),
    caughtUp,
    beginImport: async (plan) => {
      const gate = createGate((await compare()).list, plan)
      const db = await access.openImport()
      try {
        return await beginImport(db, plan, gate)
      } catch (error) {
        await db.discard()
        throw error
      }
    },
    withhold: async (request) => withhold(await access.openImport(), place, request),
    lift: async (request) => lift(await access.openImport(), place, request),
    adopt: async (request) => adopt(await access.openImport(), place, request),
    lastWithheld: () => use(lastWithheld),
    readWithheld: async () => (await compare()).list?.entries ?? [],
    addKey: (key, ...rest) => use((db) => addKey(db, key, ...rest)),
    rotateKey: (name, now, ...rest) => use((db) => rotateKey(db, name, now, ...rest)),
    listKeys: () => use(listKeys),
    revokeKey: (name, now, wait) => use((db) => revokeKey(db, name, now, wait)),
    prune: (before, wait, isDryRun = false) =>
      use((db) => prune(db, resources, { before, isDryRun }, wait)),
    compact: (wait) => access.compact(wait),
    revert: async (plan) => revert(await access.openImport(), resources, plan),
    ...closing(() => access.close()),
  }
}

/** @param own the parts specific to a database. */
export function createInspector(
  use: Use,
  resources: readonly Resource[],
  own: Pick<StoreInspector, 'verify' | 'backup' | 'close'>,
): StoreInspector {
  return {
    listImports: (limit) => use((db) => listImports(db, limit)),
    readImport: (version) => use((db) => readImport(db, version)),
    listSources: () => use((db) => listSources(db, resources)),
    readRecipes: (source) => use((db) => readRecipes(db, source)),
    readLastSeen: (companyId) => use((db) => readLastSeen(db, companyId)),
    findNames: (names, limit) => use((db) => findNames(db, names, limit)),
    ...own,
    ...closing(own.close),
  }
}

/** @returns the store's random id (`StoreReader.storeId`). */
export async function readStoreId(db: Database): Promise<string> {
  return String(await readValue(db, 'select id from store'))
}
