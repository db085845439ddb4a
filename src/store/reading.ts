// What is read of a store that is served (`serving/store-reader.ts`), independent of the database.

import type { Resource } from '../resources/resource.ts'
import type { HistoryPoint } from './changes.ts'
import type { Statement } from './companies/attributes.ts'
import type { NamedCompany } from './importing.ts'
import type { PageTexts } from './listing/read-page.ts'
import type { ListingCounts } from './serving/value-counts.ts'

/** The state of a listing at a version, without its records; all read from one snapshot. */
export interface Head {
  readonly total: number
  /** The version in which the listing last changed: the number of that import. */
  readonly version: number
  /** The lineage of that import: identifies this state of the listing in any history. */
  readonly lineage: string
  /** When that import was committed, in milliseconds since 1970. */
  readonly changedAt: number
  /** The version that was asked for, or else the last one. */
  readonly dataVersion: number
  /** The registry's version when this was read: the number of its last import. */
  readonly latestVersion: number
}

/** A range of a selection: records of a listing at a version, filtered and ordered. */
export interface Page extends Head, PageTexts {
  /** The number of records that the selection has. */
  readonly selected: number
  /** The JSON text of `meta`, if the resource has one. */
  readonly meta: string | undefined
}

/** A version that cannot be shown: no import has made it yet, or it was pruned. */
export interface OutsideHistory {
  readonly outside: 'pruned' | 'later'
  readonly earliest: number
  readonly latest: number
}

/** A moment that finds a version (contract 9.2). */
export type Moment =
  /** A day, as `YYYY-MM-DD`: the last version without an import of a later day of the resource. */
  | { readonly asOf: string }
  /** Milliseconds since 1970: the last version committed by then. */
  | { readonly knownAt: number }

/** What a moment finds: a version, or the first moment that finds one. */
export type FoundVersion =
  | { readonly version: number }
  /** A day or a time, like the moment; undefined if nothing was imported. */
  | { readonly first: string | undefined }

/** A company, as a search finds it; its members are those of the API, in their order. */
export interface FoundCompany extends NamedCompany {
  readonly name: string | null
}

/** The state of the registry as a whole, with its last version: 0 before the first import. */
export interface RegistryState extends HistoryPoint {
  /** The earliest version whose state is still completely known; at least 1. */
  readonly earliestVersion: number
}

/** How companies are searched: by their number in a register, or by words of their name. */
export type CompanyQuery =
  | { readonly identifiers: readonly string[]; readonly jurisdiction: string | undefined }
  | { readonly words: readonly string[] }

/** The companies that were found, in their order, in one state of the registry. */
export interface FoundCompanies {
  readonly registry: RegistryState
  /** Undefined if more names match than are allowed (contract 8.2). */
  readonly companies: readonly FoundCompany[] | undefined
}

/** A version of the registry, as clients see it: an import, or a revert (contract 9.4). */
export interface ListedVersion {
  readonly version: number
  /** Milliseconds since 1970. */
  readonly committedAt: number
  /** The name of a resource, or `companies`. */
  readonly resource: string
  readonly source: string
  /** In wire form. */
  readonly asOf: string | null
  readonly inserted: number
  readonly updated: number
  readonly removed: number
  /** The number of records that describe its changes. */
  readonly events: number
}

/** The last imports of sources. */
export interface LastImports {
  /** The registry's version. */
  readonly version: number
  readonly imports: readonly Pick<ListedVersion, 'source' | 'committedAt'>[]
}

/** Up to `limit` versions below `before`. */
export interface VersionRange {
  readonly before: number
  readonly limit: number
}

/** Versions, newest first, in one state of the registry. */
export interface VersionList {
  readonly registry: RegistryState
  readonly versions: readonly ListedVersion[]
}

/** Schedules scans of listings; the store only uses it if it has to scan. */
export interface ScanTurns {
  /** Who asks; requests of one asker for the same view wait together. */
  readonly asker: string
  /** Aborted when the client has gone, or has waited too long. */
  readonly left: AbortSignal
  /**
   * Resolves when a scan may begin, with what to call at its end; rejects if it may not.
   *
   * @param dropped is aborted when no request waits for the scan any more.
   * @param isLong whether it takes more than some milliseconds.
   */
  begin(dropped: AbortSignal, isLong: boolean): Promise<() => void>
}

/** A client's request for a company as a whole. */
export interface CompanyRequest {
  readonly companyId: number
  /** The registry's version; undefined for the last one. */
  readonly version: number | undefined
  /** The listings that the client may read. */
  readonly resources: readonly Resource[]
}

/** What a source says about a company. */
export interface SourceState extends Statement {
  readonly source: string
  /** A JSON object, as text. */
  readonly attributes: string
}

/** A listing of a company, without its records. */
export interface ListingSummary {
  readonly resource: Resource
  readonly total: number
  /** The version in which the listing last changed. */
  readonly version: number
  readonly counts: ListingCounts
}

/** A company as a whole in one state of the registry, present or past (contract 8.4, 9.1). */
export interface CompanyState {
  readonly company: FoundCompany
  /** In the order of their names; undefined if they would be larger than `pageBytesMax`. */
  readonly sources: readonly SourceState[] | undefined
  /** In the order asked for. */
  readonly listings: readonly ListingSummary[]
  /** The lineages of the imports that made this state, joined. */
  readonly lineage: string
  /** When any of it last changed, in milliseconds since 1970. */
  readonly changedAt: number
  readonly registry: RegistryState
}
