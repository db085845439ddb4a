// The seam to a database: heads, segments, ids and companies, by their keys. The database knows
// nothing of their meaning.

import type { Awaitable } from '../awaitable.ts'
import type { IdentifyingName } from '../inspecting.ts'

/** What a listing is from a version on, until its next head. */
export interface HeadRow {
  readonly companyId: number
  readonly version: number
  readonly total: number
  /** The JSON text of `meta`, for a listing that has one. */
  readonly meta: string | null
  /** The bytes of its largest record; 0 without records. */
  readonly largest: number
  readonly directory: string
}

/** Consecutive records of a listing, or, without texts, a node of its directory. */
export interface SegmentRow extends SegmentKey {
  readonly entries: Uint8Array
  readonly texts: Uint8Array | null
}

export interface SegmentKey {
  readonly companyId: number
  readonly segment: number
}

/** What is read of a segment. */
export type SegmentParts = 'entries' | 'both' | 'unchecked'

/** A segment that is no node. */
export interface WholeSegment extends SegmentRow {
  readonly texts: Uint8Array
}

/** A segment as it is read: certainly with its texts only if `both` were asked for. */
type ReadSegment<Parts extends SegmentParts> = Parts extends 'both' ? WholeSegment : SegmentRow

/** A part of the texts of a segment, in bytes. */
export interface TextRange extends SegmentKey {
  readonly from: number
  readonly length: number
}

/** What a head or a node names is not as it was written. */
export class DamagedStoreError extends Error {}

/** A head or a node names a segment that does not exist. */
export class MissingSegmentError extends DamagedStoreError {
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

/** The natural key of a record. */
export interface RecordKey {
  readonly id: number
  readonly source: number
  readonly key: string
}

/** How a register names a company; null for one that no register has named. */
export interface RegisterNumber {
  readonly jurisdiction: string | null
  readonly identifier: string | null
}

/** Above every version: until then, what is present holds. */
export const versionEnd = 2_147_483_647

/** How a register names a company, from a version on until before another one. */
export interface CompanyRow extends RegisterNumber {
  readonly id: number
  /** The version that made it known. */
  readonly since: number
  readonly version: number
  readonly until: number
}

/**
 * A change of a record that heads do not show, but that clients need to know:
 *
 * - `look`: it may have changed apart from its listing, such as a company that got a name;
 * - `put`: it has changed in every version that it is in;
 * - `remove`: it was removed, and the head that had it was pruned;
 * - `erase`: it was removed from every version.
 */
export type TraceKind = 'look' | 'put' | 'remove' | 'erase'

/** A trace of a change, in the version that made it. In a company's trace, the id is its own. */
export interface TraceRow {
  readonly companyId: number
  readonly version: number
  readonly id: number
  /** The order value; 0 if there is none. */
  readonly sort: number
  readonly kind: TraceKind
}

/** The versions after `since`, up to `until`. */
export interface VersionSpan {
  readonly since: number
  readonly until: number
}

/** Changes of listings in a span of versions, in the order of version and company. */
export interface ChangedRange extends VersionSpan {
  /** Only changes after this place, which is not before the span. */
  readonly after: ChangedPlace
  /** Only changes up to this place; all of the span if undefined. */
  readonly upTo?: ChangedPlace | undefined
  /** How many changes are examined. */
  readonly limit: number
}

/** A listing, by its last change in a span of versions. */
export interface ChangedPlace {
  readonly version: number
  readonly companyId: number
}

/** A head or traces of a listing in a span of versions. */
export interface ChangedListing extends ChangedPlace {
  /** Whether this is the listing's only head in the span. */
  readonly isOnly: boolean
  /** Whether this is the listing's last change in the span. */
  readonly isLast: boolean
}

/** Reads listings. A segment that is missing is a MissingSegmentError. */
export interface ListingReads {
  /** The texts of segments, in the order asked for. */
  texts(companyId: number, segments: readonly number[]): Awaitable<readonly Uint8Array[]>
  /** The indexes of segments, or the directories of nodes, in the order asked for. */
  entries(companyId: number, segments: readonly number[]): Awaitable<readonly Uint8Array[]>
  /** Frees the memory of texts that are no longer needed, where they share it with nothing else. */
  readonly free?: (texts: readonly Uint8Array[]) => void
}

/** What a source is called, and the attribute in which it names companies at a version. */
export interface NamingSource {
  readonly name: string
  readonly nameAttribute: string
}

/**
 * What sources say about a company, with the first segment of that: most have no other. As texts,
 * since bytes of each company on their own would take longer to read.
 */
export interface CompanyStatements {
  readonly companyId: number
  /** The version in which any of it last changed. */
  readonly version: number
  /** How many sources say something. */
  readonly total: number
  /** In hexadecimal digits; empty if there is none. */
  readonly entries: string
  readonly texts: string | null
}

/** Companies in ascending order. */
export interface CompanyRange {
  /** Only companies with greater ids. */
  readonly after: number
  readonly limit: number
}

/** Looks up the listings of many companies by one statement. */
export interface ListingLookups extends ListingReads {
  /** The heads that companies have at a version, by company. */
  heads(
    listing: string,
    companies: readonly number[],
    version: number,
  ): Awaitable<readonly HeadRow[]>
  /** The heads of companies in a span of versions, or all, by company and version. */
  headsOf(
    listing: string,
    companies: readonly number[],
    span?: VersionSpan,
  ): Awaitable<readonly HeadRow[]>
  /** Whether any company has or had a listing. */
  hasHeads(listing: string): Awaitable<boolean>
  /** The companies that have or had a listing. */
  companiesWith(listing: string, range: CompanyRange): Awaitable<readonly number[]>
  /**
   * Segments of several companies, in the order asked for; `texts` is null unless asked for.
   *
   * @throws DamagedStoreError if `both` are asked for, and one is missing, or they do not match, so
   *   that what is damaged is not copied as if it were sound.
   */
  segments<Parts extends SegmentParts>(
    keys: readonly SegmentKey[],
    what: Parts,
  ): Awaitable<readonly ReadSegment<Parts>[]>
  /** Parts of the texts of segments, in the order asked for. */
  textRanges(ranges: readonly TextRange[]): Awaitable<readonly Uint8Array[]>
  /** All sources, by number, as they name companies at a version: the last one if undefined. */
  sources(version?: number): Awaitable<ReadonlyMap<number, NamingSource>>
  /** The companies that are known now. */
  companiesById(ids: readonly number[]): Awaitable<readonly CompanyRow[]>
  /** All states of companies, by company and version; of erased ones, a state without a name. */
  statesById(ids: readonly number[]): Awaitable<readonly CompanyRow[]>
  /**
   * What sources say about companies at a version; nothing of those that no source ever named.
   * `texts` is null unless asked for.
   */
  companyStatements(
    ids: readonly number[],
    version: number,
    what: 'entries' | 'both',
  ): Awaitable<readonly CompanyStatements[]>
  /** All states of the next companies: of fewer if some have several. */
  nextCompanies(range: CompanyRange): Awaitable<readonly CompanyRow[]>
  /** Heads in a span of versions. */
  changedHeads(listing: string, range: ChangedRange): Awaitable<readonly ChangedListing[]>
  /** Traces in a span of versions; where a listing has a head there, none is its last change. */
  changedTraces(listing: string, range: ChangedRange): Awaitable<readonly ChangedListing[]>
  /** The traces of companies' listings in a span of versions, by company, version and id. */
  traces(
    listing: string,
    companies: readonly number[],
    span: VersionSpan,
  ): Awaitable<readonly TraceRow[]>
}

/** Reads and writes listings for work that changes the registry, within its transaction. */
export interface ListingTables extends ListingLookups {
  /** The companies that have a segment, present or past, whose texts contain any of the needles. */
  companiesHolding(needles: readonly Uint8Array[]): Awaitable<ReadonlySet<number>>
  /** Writes traces; of several of one record in one version, the last one is kept. */
  putTraces(listing: string, rows: readonly TraceRow[]): Awaitable<void>
  /** The companies that have traces of records with these ids. */
  whereTraced(listing: string, ids: readonly number[]): Awaitable<readonly number[]>
  /**
   * Writes heads; those of the same versions have to be dropped before.
   *
   * @param segments new ones, which are written, too; a head may hold its only segment itself.
   */
  putHeads(
    listing: string,
    rows: readonly HeadRow[],
    segments?: readonly SegmentRow[],
  ): Awaitable<void>
  /** Drops heads. Segments that they hold are kept, unless they were dropped before. */
  dropHeads(listing: string, heads: readonly HeadRow[]): Awaitable<void>
  dropSegments(keys: readonly SegmentKey[]): Awaitable<void>
  /** The greatest number that a segment has had. */
  lastSegment(): Awaitable<number>
  /** Stores that number, at the end of the work. */
  noteLastSegment(segment: number): Awaitable<void>

  /** The listings in which records with these ids are. */
  whereListed(listing: string, ids: readonly number[]): Awaitable<readonly ListedId[]>
  putIds(listing: string, rows: readonly ListedId[]): Awaitable<void>
  dropIds(listing: string, rows: readonly Omit<ListedId, 'source'>[]): Awaitable<void>
  /** The ids that natural keys of a source have. */
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
  /** The natural keys to which ids belong. */
  recordKeys(listing: string, ids: readonly number[]): Awaitable<readonly RecordKey[]>
  /** Gives ids other natural keys, of the same sources. */
  changeKeys(listing: string, rows: readonly RecordKey[]): Awaitable<void>
  /** The greatest id of a record below a bound, or of any natural key; 0 if there is none. */
  lastId(listing: string, below: number): Awaitable<number>

  companiesByName(names: readonly IdentifyingName[]): Awaitable<readonly CompanyRow[]>
  /** The greatest id that a company has or had, below a bound; 0 if there is none. */
  lastCompanyId(below: number): Awaitable<number>
  /** Adds states of companies, which have no other one then. */
  putCompanies(rows: readonly CompanyRow[]): Awaitable<void>
  /** Makes the present states of companies past: they end before a version. */
  endCompanies(ids: readonly number[], version: number): Awaitable<void>
  /** Drops all states of companies. */
  dropCompanies(ids: readonly number[]): Awaitable<void>
  /**
   * Former states of companies that had one of the names, and are not known now, or have lost the
   * name for which they were given their ids.
   */
  forgottenByName(names: readonly IdentifyingName[]): Awaitable<readonly CompanyRow[]>
}
