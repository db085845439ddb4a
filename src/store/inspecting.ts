// What an operator may see of a store, whichever database is behind it; nothing here changes it.

import type { Resource } from '../resources/resource.ts'
import type { Awaitable } from './awaitable.ts'
import type { ImportCounts, ImportedFile } from './importing.ts'

/** One committed import, as the log has it. */
export interface LoggedImport {
  /** The version of the registry that it made. */
  readonly version: number
  /** What was loaded: the name of a resource, or `companies`. */
  readonly target: string
  readonly source: string
  readonly isSnapshot: boolean
  /** In the form of the wire. */
  readonly asOf: string | undefined
  readonly startedAt: number
  readonly committedAt: number
  readonly files: readonly ImportedFile[]
  readonly counts: Omit<ImportCounts, 'recorded'>
  /** How many records of which resource tell what it changed. */
  readonly recorded: Readonly<Record<string, number>>
}

/** What a source says of a company. */
export interface CompanyAttributes {
  readonly source: string
  /** False where the source's last snapshot lacked the company: this is what it said before. */
  readonly isPresent: boolean
  readonly asOf: string | undefined
  /** The version since which it says so. */
  readonly version: number
  readonly attributes: Readonly<Record<string, unknown>>
}

/** A company as an operator sees it. */
export interface CompanyRecord {
  readonly id: number
  readonly jurisdiction: string | undefined
  readonly identifier: string | undefined
  readonly attributes: readonly CompanyAttributes[]
}

/** What names a company: its id, or its jurisdiction and identifier. */
export type CompanyName = number | IdentifyingName

/** What names a company in its register. */
export type IdentifyingName = readonly [jurisdiction: string, identifier: string]

/** What a verification holds stored texts against; each gives what is wrong with one, if it is. */
export interface StoredChecks {
  /** @param sort and digest are what the store keeps beside the record. */
  checkRecord(resource: Resource, record: string, sort: string, digest: string): string | undefined
  checkAttributes(attributes: string, digest: string): string | undefined
}

/** What a verification has looked at, and what it found wrong. */
export interface Verification {
  /** Counts of what was looked at, by name. */
  readonly counts: Readonly<Record<string, number>>
  /** One sentence for each fault, the first `faultsShownMax` of each kind. */
  readonly faults: readonly string[]
  /** What was not looked at, and why; a sentence each. */
  readonly notes: readonly string[]
}

/** Who waits for a copy: is told of it, and may give it up. */
export interface CopyWatch {
  onProgress(bytes: number, totalBytes: number): void
  readonly signal: AbortSignal
}

/** What an operator may see of a store; nothing here changes it. */
export interface StoreInspector {
  /** The last `limit` imports, the newest first. */
  listImports(limit: number): Awaitable<readonly LoggedImport[]>
  findCompany(name: CompanyName): Awaitable<CompanyRecord | undefined>
  /** The first `limit` of these names that companies have, in the order given. */
  findNames(names: readonly IdentifyingName[], limit: number): Awaitable<IdentifyingName[]>
  /** Looks at everything that is stored, in one snapshot. */
  verify(checks: StoredChecks, onStep: (step: string) => void): Promise<Verification>
  /** Copies the store as one snapshot into a new file; gives the copy's bytes. */
  backup(path: string, watch: CopyWatch): Promise<number>
  close(): Awaitable<void>
}
