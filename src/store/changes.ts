// The interface for following the registry: what has changed between two of its versions
// (contract 12.1 to 12.5).

import type { Resource } from '../resources/resource.ts'
import type { RegistryState } from './reading.ts'

/** A version in one history. */
export interface HistoryPoint {
  readonly version: number
  /** The lineage of its import; empty for version 0. */
  readonly lineage: string
  /** When it was committed, in milliseconds since 1970; undefined for version 0. */
  readonly committedAt: number | undefined
}

/** Where a page of changes ends: a listing, by its last change, and a record in it. */
export interface ChangesPlace {
  /** The name of a resource, or `companies`. */
  readonly listing: string
  readonly version: number
  readonly companyId: number
  /** The last record that was sent, by its place in the listing; undefined at its end. */
  readonly record: { readonly sort: number; readonly id: number } | undefined
}

/** A version as a client names it: its lineage is checked if it is given. */
export interface NamedPoint {
  readonly version: number
  readonly lineage?: string | undefined
  readonly committedAt?: number | undefined
}

/** Which changes a client asks for. */
export interface ChangesRequest {
  readonly since: NamedPoint
  /** The last version if undefined. */
  readonly until: NamedPoint | undefined
  /** Only changes after this place. */
  readonly after: ChangesPlace | undefined
  /** Whether companies are asked for. */
  readonly hasCompanies: boolean
  readonly resources: readonly Resource[]
  /** Only changes of this company. */
  readonly companyId: number | undefined
  readonly limit: number
}

/** Consecutive records of a listing, or companies, that last changed in the same version. */
export interface Change {
  /** The name of their resource, or `companies`. */
  readonly listing: string
  /** Undefined for companies, which have ids of their own. */
  readonly companyId: number | undefined
  readonly ids: Numbers
  /** The version in which they last changed. */
  readonly version: number
  readonly kind: 'put' | 'remove' | 'erase'
  /** The length of each text in bytes; 0 if the record is gone. */
  readonly lengths: Numbers
  /** Their texts as they are served, joined by commas; undefined if they are gone. */
  readonly texts: Uint8Array | undefined
}

/** A list of numbers: an array, or part of a decoded index. */
export type Numbers = readonly number[] | Float64Array | Uint32Array

export interface ChangesPage {
  readonly registry: RegistryState
  readonly since: HistoryPoint
  readonly until: HistoryPoint
  readonly changes: readonly Change[]
  /** Where the next page begins; undefined if there are no more changes. */
  readonly next: ChangesPlace | undefined
  /** Frees the memory of the texts, which nothing reads any longer. */
  readonly free: (() => void) | undefined
}

/** Why changes between two versions cannot be reported. */
export interface NoChanges {
  /**
   * - `elsewhere`: a version belongs to another history;
   * - `later`: there is no such version yet;
   * - `pruned`: the state at the end is no longer known;
   * - `backwards`: the end is before the beginning;
   * - `unknown`: there has never been such a company.
   */
  readonly none: 'elsewhere' | 'later' | 'pruned' | 'backwards' | 'unknown'
  readonly version: number
  readonly registry: RegistryState
}
