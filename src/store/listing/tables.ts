// The seam to a database: heads, segments, ids and companies, by their keys. What they mean is not
// the database's concern.

import type { Awaitable } from '../awaitable.ts'
import type { IdentifyingName } from '../inspecting.ts'

/** What a listing is from a version on, until its next head. */
export interface HeadRow {
  readonly companyId: number
  readonly version: number
  readonly total: number
  /** The JSON text of `meta`, for a listing that has one. */
  readonly meta: string | null
  /** The bytes of its greatest record; 0 without records. */
  readonly largest: number
  readonly directory: string
}

/** Consecutive records of a listing, or, without texts, a node of its directory. */
export interface SegmentRow {
  readonly companyId: number
  readonly segment: number
  readonly entries: Uint8Array
  readonly texts: Uint8Array | null
}

/** Names a segment. */
export interface SegmentKey {
  readonly companyId: number
  readonly segment: number
}

/** A head or a node names a segment that is not there. */
export class MissingSegmentError extends Error {
  constructor({ companyId, segment }: SegmentKey) {
    super(`segment ${segment} of company ${companyId} is missing`)
  }
}

/** A listing of a resource in which a record is. */
export interface ListedId {
  readonly id: number
  readonly companyId: number
  /** The number of the source that has the record. */
  readonly source: number
}

/** A company, as its register names it. */
export interface CompanyRow {
  readonly id: number
  readonly jurisdiction: string | null
  readonly identifier: string | null
  /** The version that has made it known. */
  readonly version: number
}

/** What a company was called, or that it was known, in the versions before `until`. */
export interface PastCompanyRow extends Omit<CompanyRow, 'id'> {
  readonly companyId: number
  readonly until: number
}

/** Reads listings. A segment that is missing is a MissingSegmentError. */
export interface ListingReads {
  /** The head of a listing at a version. */
  head(listing: string, companyId: number, version: number): Awaitable<HeadRow | undefined>
  /** The texts of segments, in the order asked for. */
  texts(companyId: number, segments: readonly number[]): Awaitable<readonly Uint8Array[]>
  /** The indexes of segments, or the directories of nodes, in the order asked for. */
  entries(companyId: number, segments: readonly number[]): Awaitable<readonly Uint8Array[]>
}

/** Companies in ascending order. */
export interface CompanyRange {
  /** Only those above it. */
  readonly after: number
  readonly limit: number
  /** Only those whose listing has changed after this version. */
  readonly since?: number
}

/** Reads and writes listings for work that changes the registry, within its transaction. */
export interface ListingTables extends ListingReads {
  /** The heads at a version of those of the companies that have one, by company. */
  heads(
    listing: string,
    companies: readonly number[],
    version: number,
  ): Awaitable<readonly HeadRow[]>
  /** All heads of a listing, in the order of their versions. */
  headsOf(listing: string, companyId: number): Awaitable<readonly HeadRow[]>
  /** The companies that have or had a listing. */
  companiesWith(listing: string, range: CompanyRange): Awaitable<readonly number[]>
  /** Segments of several companies, by company and segment; `texts` is null where not asked for. */
  segments(keys: readonly SegmentKey[], what: 'entries' | 'both'): Awaitable<readonly SegmentRow[]>
  /** Writes heads; one of the same version is replaced. */
  putHeads(listing: string, rows: readonly HeadRow[]): Awaitable<void>
  putSegments(rows: readonly SegmentRow[]): Awaitable<void>
  dropHeads(
    listing: string,
    heads: readonly Pick<HeadRow, 'companyId' | 'version'>[],
  ): Awaitable<void>
  dropSegments(keys: readonly SegmentKey[]): Awaitable<void>
  /** The greatest number that a segment has had. */
  lastSegment(): Awaitable<number>
  /** Keeps that number, at the end of the work. */
  noteLastSegment(segment: number): Awaitable<void>

  /** The listings in which records with these ids are. */
  whereListed(listing: string, ids: readonly number[]): Awaitable<readonly ListedId[]>
  putIds(listing: string, rows: readonly ListedId[]): Awaitable<void>
  dropIds(listing: string, rows: readonly Omit<ListedId, 'source'>[]): Awaitable<void>
  /** The ids of a source's natural keys that have one. */
  keyIds(
    listing: string,
    source: number,
    keys: readonly string[],
  ): Awaitable<ReadonlyMap<string, number>>
  putKeys(
    listing: string,
    source: number,
    rows: readonly { readonly key: string; readonly id: number }[],
  ): Awaitable<void>
  /** The sources to whose natural keys ids belong. */
  keySources(
    listing: string,
    ids: readonly number[],
  ): Awaitable<readonly Omit<ListedId, 'companyId'>[]>
  /** The greatest id of a record or a natural key below a bound; 0 if there is none. */
  lastId(listing: string, below: number): Awaitable<number>

  companiesByName(names: readonly IdentifyingName[]): Awaitable<readonly CompanyRow[]>
  companiesById(ids: readonly number[]): Awaitable<readonly CompanyRow[]>
  /** The greatest id that a company has or had, below a bound; 0 if there is none. */
  lastCompanyId(below: number): Awaitable<number>
  /** Adds companies; of those that are known, only the name is written. */
  putCompanies(rows: readonly CompanyRow[]): Awaitable<void>
  dropCompanies(ids: readonly number[]): Awaitable<void>
  /** Former states of companies that had one of the names, and are not known now. */
  forgottenByName(names: readonly IdentifyingName[]): Awaitable<readonly PastCompanyRow[]>
  /** Former states of companies, by company and `until`. */
  pastCompanies(ids: readonly number[]): Awaitable<readonly PastCompanyRow[]>
  putPastCompanies(rows: readonly PastCompanyRow[]): Awaitable<void>
}
