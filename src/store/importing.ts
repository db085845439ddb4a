// What an import asks of a store, whichever database is behind it.

import type { Resource } from '../resources/resource.ts'
import type { Awaitable } from './awaitable.ts'
import type { LoadTarget } from './load-target.ts'
import type { LockWait } from './lock-wait.ts'

/** A checked row on its way into the store. */
export interface StagedRow {
  readonly companyId: number | null
  readonly companyJurisdiction: string | null
  readonly companyIdentifier: string | null
  readonly id: number | null
  /** The natural key by which the store finds or assigns the id, where that is null. */
  readonly key: string | null
  /** The value that the listing is ordered by before `id`; empty where that is `id` alone. */
  readonly sort: string
  readonly digest: string
  /** The JSON text of a record's fields after its id, or of a company's attributes. */
  readonly content: string
  /** The day of which the source says this, in the form of the wire; null where it says none. */
  readonly asOf: string | null
}

/** The identity of a refused row: a snapshot must not take its record for absent. */
export type RefusedRow = Pick<StagedRow, 'id' | 'key' | 'companyJurisdiction' | 'companyIdentifier'>

/** Where a row stands: the index of its file among the import's, and its line or row. */
export interface Place {
  readonly file: number
  readonly number: number
}

/** A row that only the store could find fault with. */
export interface StagedProblem extends Place {
  readonly field: string
  readonly value: unknown
  readonly reason: string
  readonly row: StagedRow
}

/** What a source said of a company before an import, or says after it. */
export interface ListingState {
  /** False where a snapshot of the source lacked the company. */
  readonly isPresent: boolean
  /** JSON texts: the its attributes, or its records of a listing, by what is imported. */
  readonly texts: readonly string[]
}

/** What an import changes of one company that its source has spoken of before. */
export interface Difference {
  readonly companyId: number
  readonly companyJurisdiction: string | null
  readonly companyIdentifier: string | null
  /** The day of the change, in the form of the wire. */
  readonly asOf: string
  readonly before: ListingState
  readonly after: ListingState
}

/** How what an import changes is recorded: as records of another resource, in one transaction. */
export interface Recording {
  readonly resource: Resource
  /** The source of those records, apart from all that an operator can name. */
  readonly source: string
  /** The records of one difference, in the order in which they are to get their ids. */
  record(difference: Difference): readonly StagedRow[]
}

/** What is imported, whose it is, and how. */
export interface ImportPlan extends LockWait {
  readonly target: LoadTarget
  readonly source: string
  /** The rows are all that the source has: what they lack is removed. */
  readonly isSnapshot: boolean
  readonly knownCompaniesOnly: boolean
  /** The day of the extract, in the form of the wire; without it, the latest day of its rows. */
  readonly asOf: string | undefined
  /** Undefined where changes are not recorded; nor are they without a day. */
  readonly recording: Recording | undefined
  readonly startedAt: number
  /** What a place's number counts, for messages. */
  readonly unit: 'line' | 'row'
}

/** How many rows met which end; `refused` counts only those that the store refused. */
export interface MergeCounts {
  readonly inserted: number
  readonly updated: number
  readonly unchanged: number
  readonly refused: number
  readonly removed: number
  readonly companiesCreated: number
  /** The records that tell what this import changed. */
  readonly recorded: number
}

/** What became of all rows: read = inserted + updated + unchanged + refused. */
export interface ImportCounts extends MergeCounts {
  readonly read: number
}

/** A file that was imported, for the log of imports. */
export interface ImportedFile {
  readonly name: string
  readonly bytes: number
  readonly sha256: string
}

/**
 * One import, in this order: `stage` any number of times, `prepare`, then `commit` or `discard`.
 * Before `commit` has ended, no reader sees anything of it.
 */
export interface ImportSession {
  stage(place: Place, row: StagedRow): Awaitable<void>
  /** Notes a row that was refused, so that a snapshot does not remove what it stands for. */
  stageRefused(place: Place, row: RefusedRow): Awaitable<void>
  /**
   * Waits for its turn, merges the staged rows, and gives those that the store refuses.
   *
   * @throws OperatorError where the source has been imported as of a later day.
   */
  prepare(onProblem: (problem: StagedProblem) => void): Promise<MergeCounts>
  /** Makes it the registry's next version, whose number it returns. */
  commit(counts: ImportCounts, files: readonly ImportedFile[]): Awaitable<number>
  discard(): Awaitable<void>
}

/** Where an import begins. */
export interface ImportStore {
  beginImport(plan: ImportPlan): Awaitable<ImportSession>
}
