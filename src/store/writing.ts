// What commands that change a store may do with it, in either database.

import type { Resource } from '../resources/resource.ts'
import type { Awaitable } from './awaitable.ts'
import { closing } from './closing.ts'
import type { ImportPlan } from './importing.ts'
import { type ImportConnection, type RegistryDatabase, readStoreId } from './sql/database.ts'
import { addKey, listKeys, revokeKey, rotateKey } from './sql/stored-keys.ts'
import { compareWithList, readState } from './withholding/list/agreement.ts'
import { createGate } from './withholding/gate.ts'
import type { ListPlace } from './withholding/list/list.ts'
import type { FindingImport } from './withholding/finds.ts'
import type { EntryRequest, LiftRequest, WithholdRequest } from './withholding/withhold.ts'
import type { LockWait, WorkWatch } from './work-watch.ts'

// Loaded on demand: no command needs all of it, and loading it takes as long as some 1,000 rows.
const loading = () => import('./loading/session.ts')
const withholding = () => import('./withholding/withhold.ts')
const pruning = () => import('./history/prune.ts')
const reverting = () => import('./history/revert.ts')

/** Runs `work` with a connection of its own. */
export type Use = <T>(work: (db: RegistryDatabase) => Promise<T>) => Promise<T>

/** How a store is opened for changes. */
export interface WritingAccess {
  readonly use: Use
  /** Opens a connection for one change of the registry. */
  openImport(): Awaitable<ImportConnection>
  /**
   * Frees the space of deleted rows, and leaves nothing of them in the store's files, as far as the
   * database can do that while others read.
   */
  compact(wait: LockWait): Promise<Compacted>
  close(): Awaitable<void>
  readonly list: ListPlace
}

export type StoreWriter = Awaited<ReturnType<typeof createWriter>>

/** Makes a writer of a store, which is first brought up to the list of what is withheld. */
export async function createWriter(access: WritingAccess, resources: readonly Resource[]) {
  const { use, list } = access
  const compare = () => use((db) => compareWithList(db, list))
  const place = { list, resources }
  const { behind, isForeign } = await compare()
  const isToCatchUp = behind > 0 && !isForeign
  const change = async <T>(work: (db: ImportConnection) => Promise<T>) => {
    const db = await access.openImport()
    try {
      return await work(db)
    } catch (error) {
      await db.discard()
      throw error
    }
  }
  return {
    readStoreId: () => use(readStoreId),
    /** How many entries of the list of what is withheld the store lacked when it was opened. */
    caughtUp: isToCatchUp
      ? await change(async (db) => (await withholding()).bringUp(db, place))
      : 0,
    async beginImport(plan: ImportPlan) {
      const { list } = await compare()
      const gate = await use((db) => createGate(db, list, plan))
      const commit = (db: ImportConnection, found: FindingImport) =>
        withholding().then(({ commitWithFinds }) => commitWithFinds(db, place, found))
      return change(async (db) => (await loading()).beginImport(db, plan, gate, commit))
    },
    withhold: (request: WithholdRequest) =>
      change(async (db) => (await withholding()).withhold(db, place, request)),
    lift: (request: LiftRequest) =>
      change(async (db) => (await withholding()).lift(db, place, request)),
    adopt: (request: EntryRequest) =>
      change(async (db) => (await withholding()).adopt(db, place, request)),
    withheldState: () => use(readState),
    addKey: (...key: KeyArguments<typeof addKey>) => use((db) => addKey(db, ...key)),
    rotateKey: (...key: KeyArguments<typeof rotateKey>) => use((db) => rotateKey(db, ...key)),
    listKeys: () => use(listKeys),
    revokeKey: (...key: KeyArguments<typeof revokeKey>) => use((db) => revokeKey(db, ...key)),
    /** @param isDryRun only reports what it would delete. */
    prune: (before: number, watch: WorkWatch, isDryRun = false) =>
      change(async (db) => (await pruning()).prune(db, resources, { before, isDryRun }, watch)),
    compact: (wait: LockWait) => access.compact(wait),
    revert: (plan: RevertPlan) =>
      change(async (db) => (await reverting()).revert(db, resources, plan)),
    ...closing(() => access.close()),
  }
}

/** The parameters of a change of keys besides the database. */
type KeyArguments<F> = F extends (db: RegistryDatabase, ...rest: infer R) => unknown ? R : never

export interface Pruned {
  /** The earliest version whose state is still completely known. */
  readonly earliestVersion: number
  /** The number of deleted past states, by kind. */
  readonly forgotten: Readonly<Record<string, number>>
}

/** The result of compacting: sizes in bytes, of all that the store takes. */
export interface Compacted {
  readonly bytesBefore: number
  readonly bytesAfter: number
  /** What is still to be freed, or was not tried: one sentence each. */
  readonly notes: readonly string[]
}

/** What to take back. */
export type RevertRange =
  /** A version; if asked for, with the later ones of its source and target. */
  | { readonly version: number; readonly isWithLater: boolean }
  /** Every version after this one. */
  | { readonly to: number }

export interface RevertPlan extends WorkWatch {
  readonly range: RevertRange
  readonly isDryRun: boolean
  /** In milliseconds since 1970. */
  readonly startedAt: number
}

/** What was taken back of one source and target, as a version of its own. */
export interface Reverted {
  /** The version that does it; undefined in a dry run. */
  readonly version: number | undefined
  readonly target: string
  readonly source: string
  /** The versions taken back, including those that were reverted before. */
  readonly reverts: readonly number[]
  /** Numbers of records or companies: they are back, as they were before, or gone. */
  readonly restored: number
  readonly updated: number
  readonly removed: number
  /** How many records that described the changes are back, and gone, by resource. */
  readonly recorded: Readonly<Record<string, { restored: number; removed: number }>>
}

/** The result of a revert: one entry per source and target, in the order of their versions. */
export interface RevertReport {
  readonly reverted: readonly Reverted[]
  /** The number of companies that are unknown again, and of those that are known again. */
  readonly companiesForgotten: number
  readonly companiesRevived: number
}
