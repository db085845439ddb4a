// The forms of the answers that the explorer reads (contract sections 3, 8 and 9).

import type { Counters } from './api.ts'
import type { ResourceDescription, Row } from './resources.ts'

export interface FoundCompany {
  readonly id: number
  readonly jurisdiction: string | null
  readonly identifier: string | null
  readonly name: string | null
}

export interface CompaniesAnswer extends Counters {
  readonly companies: readonly FoundCompany[]
}

export interface CompanySource {
  readonly source: string
  readonly present: boolean
  readonly as_of: string | null
  readonly version: number
  readonly attributes: Readonly<Record<string, unknown>>
}

export interface ValueCount {
  readonly value: string | number | null
  readonly count: number
}

export interface ListingSummary {
  readonly total: number
  readonly version: number
  /** By field; a field with many values is left out. */
  readonly counts: Readonly<Record<string, readonly ValueCount[]>>
}

export interface Company extends FoundCompany {
  readonly sources: readonly CompanySource[]
  /** By resource; a resource that the key may not read is left out. */
  readonly listings: Readonly<Record<string, ListingSummary>>
}

export interface CompanyAnswer {
  readonly company: Company
}

export interface KeyAnswer {
  readonly key: { readonly scopes: readonly string[] }
}

export interface Version {
  readonly version: number
  readonly committed_at: string
  readonly resource: string
  readonly source: string
  readonly as_of: string | null
  /** How many changes it recorded. */
  readonly events: number
}

export interface VersionsAnswer {
  readonly versions: readonly Version[]
  readonly earliest_version: number
}

export interface ChangesAnswer {
  readonly changes: readonly {
    readonly id: number
    /** Null if the record is gone. */
    readonly record: Row | null
  }[]
  /** The cursor of the next page. */
  readonly next: string | null
}

export interface MetaEntry {
  readonly type: string
  readonly count: number
}

export type ListingAnswer = Counters & Readonly<Record<string, unknown>>

/** The records of a page of a listing. */
export function rowsOf(resource: ResourceDescription, answer: ListingAnswer): readonly Row[] {
  return (answer[resource.name] ?? []) as readonly Row[]
}

/** The counts of kinds of a listing that has them. */
export function metaOf(answer: ListingAnswer): readonly MetaEntry[] {
  return (answer['meta'] ?? []) as readonly MetaEntry[]
}
