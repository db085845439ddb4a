// What a client wants of a listing: which records, in which order, as of which version.

import type { Resource } from '../resources/resource.ts'

/** Values from `from` to `to`, both included; undefined is no bound. */
export interface Interval {
  readonly from: string | number | undefined
  readonly to: string | number | undefined
}

/** A field whose value has to be in one of the intervals; null stands for the value null. */
export interface Filter {
  readonly field: string
  readonly anyOf: readonly (Interval | null)[]
}

/** Records are ordered by the field, then by id, in one direction; null is last in both. */
export interface SortOrder {
  readonly field: string
  readonly direction: 'ascending' | 'descending'
}

export interface Selection {
  readonly resource: Resource
  readonly companyId: number
  /** The registry's version; undefined for the last one. */
  readonly version: number | undefined
  /** A record has to pass all of them. */
  readonly filters: readonly Filter[]
  /** Undefined for the order of the resource. */
  readonly sort: SortOrder | undefined
  /** Names the filters and the order: equal texts mean equal filters and an equal order. */
  readonly query: string
}

/** Whether every record is selected, in the order of the resource. */
export function isWhole({ filters, sort }: Selection): boolean {
  return filters.length === 0 && sort === undefined
}

/** The whole listing, in the order of its resource. */
export function wholeListing(resource: Resource, companyId: number): Selection {
  return { resource, companyId, version: undefined, filters: [], sort: undefined, query: '' }
}
