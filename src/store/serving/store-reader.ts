// What the serving process, and commands that show what is served, may do with a store, in either
// database: nothing here writes (invariant 3).

import type { Awaitable } from '../awaitable.ts'
import type { ChangesRequest } from '../changes.ts'
import { readChanges } from '../changes/read-changes.ts'
import { type Closable, closing } from '../closing.ts'
import { type CopyRequest, readCopy } from '../exports/read-copy.ts'
import type { IdentifyingName } from '../inspecting.ts'
import type { KeyRecord } from '../keys.ts'
import type {
  CompanyQuery,
  CompanyRequest,
  Moment,
  RegistryState,
  VersionRange,
} from '../reading.ts'
import type { Resource } from '../../resources/resource.ts'
import type { Snapshot } from '../sql/database.ts'
import type { RowReader } from '../sql/dialect.ts'
import { findCompanies } from '../sql/find-companies.ts'
import { createVersionFinder, lastImports, readVersions } from '../sql/versions.ts'
import { readState } from '../withholding/list/agreement.ts'
import { readCompany } from './company.ts'
import { createListingReader } from './listings.ts'
import type { ServingReads } from './reads.ts'
import { createValueCounts } from './value-counts.ts'

type InState<Asked extends readonly unknown[]> = <T>(
  ...work: [...Asked, work: (snapshot: Snapshot) => Promise<T>]
) => Promise<T>

/** How a database is read. Work may run again if the state changes meanwhile. */
export interface ReadingAccess {
  readonly reads: ServingReads
  /** Runs work that sees one state of the registry, apart from its companies. */
  readonly inRegistry: InState<[]>
  /** Runs work that sees one state of companies: of all, or of one. */
  readonly inCompanies: InState<[companyId: number | undefined]>
  /** Runs work on what a company was at a version, which never changes. */
  readonly inVersions: InState<[companyId: number]>
  /** For single queries, which see all that was committed before. */
  readonly fresh: () => RowReader
}

/** The parts of a reader that are specific to a database. */
export interface OwnReading {
  /** The random id of the store, shared by its copies. */
  readonly storeId: string
  /** The id of the company that had a register number at a version, or else has it now. */
  findCompany(name: IdentifyingName, version?: number): Awaitable<number | undefined>
  /** The names that belong to a company, in the order given; at most `limit`. */
  findNames(names: readonly IdentifyingName[], limit: number): Awaitable<readonly IdentifyingName[]>
  readRegistry(): Awaitable<RegistryState>
  findKey(hash: Uint8Array): Awaitable<KeyRecord | undefined>
  /** Resolves if the store responds, else rejects. */
  ping(): Awaitable<void>
  close: Closable['close']
}

export type StoreReader = ReturnType<typeof createStoreReader>

/** Makes the reader of a store. */
export function createStoreReader(access: ReadingAccess, own: OwnReading) {
  const { reads, inRegistry, inCompanies, inVersions, fresh } = access
  const countListings = createValueCounts()
  const findVersion = createVersionFinder()
  return {
    ...createListingReader(reads),
    ...own,
    findCompanies: (query: CompanyQuery) =>
      inCompanies(undefined, (snapshot) => findCompanies(snapshot, query)),
    /** A company as a whole; undefined if it is or was not in the registry. */
    readCompany: (asked: CompanyRequest) =>
      inVersions(asked.companyId, (snapshot) => readCompany(snapshot, asked, countListings)),
    /** A page of what has changed between two versions. */
    readChanges: (asked: ChangesRequest) =>
      inCompanies(asked.companyId, (snapshot) => readChanges(snapshot, asked)),
    /** A part of all records of a resource, or of all companies, at a version. */
    readCopy: (asked: CopyRequest) =>
      inCompanies(undefined, (snapshot) => readCopy(snapshot, asked)),
    readVersions: (range: VersionRange) => inRegistry((snapshot) => readVersions(snapshot, range)),
    /** The version that a moment finds by the imports that count for a resource, or by all. */
    findVersion: (resource: Resource | undefined, moment: Moment) =>
      inRegistry((snapshot) => findVersion(snapshot, resource, moment)),
    /** The state of the list of what is withheld with which the store agrees. */
    withheldState: () => readState(fresh()),
    /** The last import of each source that was not removed since, newest first; at most 100. */
    lastImports: () => lastImports(fresh()),
    ...closing(() => own.close()),
  }
}
