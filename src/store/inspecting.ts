// What operators may read of a store in either database, and how they watch copies and restores.

import { closing } from './closing.ts'
import type { Resource } from '../resources/resource.ts'
import { listSources, readLastSeen } from './history/sources.ts'
import { readStoreId } from './sql/database.ts'
import { listImports, readImport, readRecipes } from './sql/import-log.ts'
import { listKeys } from './sql/stored-keys.ts'
import { compareWithList } from './withholding/list/agreement.ts'
import type { WritingAccess } from './writing.ts'
import type { Awaitable } from './awaitable.ts'
import type { EarlierImport, ImportCounts, LoggedDifference, Recipe } from './importing.ts'
import type { LockWait } from './work-watch.ts'

/** A committed import, as logged. */
export interface LoggedImport extends EarlierImport {
  /** What was loaded: the name of a resource, or `companies`. */
  readonly target: string
  readonly source: string
  readonly startedAt: number
  readonly committedAt: number
  readonly counts: Omit<ImportCounts, 'recorded' | 'erased' | 'withheld'>
  /** The number of records that describe its changes, by resource. */
  readonly recorded: Readonly<Record<string, number>>
  /** The versions that this one takes back; undefined for an import, none for a withholding. */
  readonly reverts: readonly number[] | undefined
  /** The version that has taken this one back. */
  readonly revertedBy: number | undefined
}

/** A committed import with what it has changed. */
export interface ShownImport extends LoggedImport {
  /** Undefined unless files were imported. */
  readonly difference: LoggedDifference | undefined
}

/** An import in force: no revert has taken it back. */
export type SourceImport = Pick<LoggedImport, 'version' | 'committedAt' | 'asOf'>

/** What a source has of one target. */
export interface SourceSummary {
  readonly source: string
  readonly target: string
  /** The number of its records, or of its companies. */
  readonly records: number
  readonly companies: number
  /** In the order of their versions; none for recorded changes. */
  readonly imports: readonly SourceImport[]
}

export interface SourceRecipe {
  /** The name of a resource, or `companies`. */
  readonly target: string
  /** The imports in force, in the order of their versions. */
  readonly imports: readonly EarlierImport[]
  readonly last: EarlierImport
  /** The recipe of the last import. */
  readonly recipe: Recipe
}

/** The name of a company: its id, or its jurisdiction and identifier. */
export type CompanyName = number | IdentifyingName

/** The name of a company in its register. */
export type IdentifyingName = readonly [jurisdiction: string, identifier: string]

/** A record's text, and what is stored along with it. */
export interface StoredRecord {
  readonly id: number
  readonly text: string
  /** In seconds since 1970; 0 if the resource is ordered by id alone. */
  readonly sort: number
  readonly digest: Uint8Array
  /** The values of the columns of its listing's shape. */
  readonly values: readonly unknown[]
}

/** The checks of stored texts in a verification; each returns the fault, or undefined. */
export interface StoredChecks {
  checkRecord(resource: Resource, stored: StoredRecord): string | undefined
  checkAttributes(attributes: string, digest: Uint8Array): string | undefined
}

export interface Verification {
  /** The number of items checked, by name: companies, their names, records by resource. */
  readonly counts: Readonly<Record<string, number>>
  /** The number of past states checked, of companies and of the listings of each resource. */
  readonly pastStates: Readonly<Record<string, number>>
  /** One sentence per fault; of each kind, the first `faultsShownMax`. */
  readonly faults: readonly string[]
}

/** Progress and cancellation of a copy. */
export interface CopyWatch {
  onProgress(bytes: number, totalBytes: number): void
  readonly signal: AbortSignal
}

export type StoreInspector = ReturnType<typeof createInspector>

/**
 * Creates the reader of a store for an operator; it changes nothing.
 *
 * @param own the parts specific to a database.
 */
export function createInspector(
  { use, list }: Pick<WritingAccess, 'use' | 'list'>,
  resources: readonly Resource[],
  own: OwnInspection,
) {
  return {
    readStoreId: () => use(readStoreId),
    listKeys: () => use(listKeys),
    listName: list.name,
    /** Its entries: orders, and those that ended some. */
    readWithheld: async () => (await use((db) => compareWithList(db, list))).list.entries,
    listImports: (limit: number) => use((db) => listImports(db, limit)),
    readImport: (version: number) => use((db) => readImport(db, version)),
    listSources: () => use((db) => listSources(db, resources)),
    readRecipes: (source: string) => use((db) => readRecipes(db, source)),
    readLastSeen: (companyId: number) => use((db) => readLastSeen(db, companyId)),
    ...own,
    ...closing(() => own.close()),
  }
}

/** The parts of inspecting that are specific to a database. */
export interface OwnInspection {
  /**
   * Checks everything that is stored, in one snapshot.
   *
   * @param onStep is called often with what is being checked; what it throws ends the work.
   */
  verify(checks: StoredChecks, onStep: (step: string) => void): Promise<Verification>
  /** Copies the store as one snapshot into a new file, and returns the copy's size in bytes. */
  backup(path: string, watch: CopyWatch): Promise<number>
  close(): Awaitable<void>
}

/** Progress and cancellation of a restore. */
export interface RestoreWatch extends LockWait {
  /** In milliseconds since 1970. */
  readonly startedAt: number
  /** How many versions of the replaced store may be lost. */
  readonly lostMax: number
  readonly checks: StoredChecks
  /** Called often with what is being checked; throwing in it ends the restore. */
  onCheck(step: string): void
  /** The watch of a copy, by the name of the step. */
  copying(step: string): CopyWatch
}
