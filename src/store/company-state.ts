// A company as a whole, as it is or as it was at a version (contract 8.4, 9.1).

import type { Resource } from '../resources/resource.ts'
import type { FoundCompany, RegistryState } from './reading.ts'
import type { ListingCounts } from './serving/value-counts.ts'

/** What a client asks of a company. */
export interface CompanyRequest {
  readonly companyId: number
  /** The registry's version; undefined for the last one. */
  readonly version: number | undefined
  /** The listings that the client may read. */
  readonly resources: readonly Resource[]
}

/** What a source says about a company. */
export interface SourceState {
  readonly source: string
  /** False if the source's last snapshot lacked the company: the attributes are its last ones. */
  readonly isPresent: boolean
  /** The day since which the source has said so, in wire form. */
  readonly asOf: string | null
  /** The version in which this was last changed. */
  readonly version: number
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

/** A company in one state of the registry. */
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
