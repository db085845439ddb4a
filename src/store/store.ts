// The seam: what the rest of Dossier asks of a store, whichever database is behind it.

import type { Resource } from '../resources/resource.ts'

/** A value that a store may have at once or have to wait for. */
export type Awaitable<T> = T | Promise<T>

/** What a listing is like, without its records; all of one snapshot. */
export interface Head {
  readonly total: number
  /** The version in which the listing last changed: the number of that import. */
  readonly version: number
  /** What that import drew: names this state of the listing in any history (`lineage.ts`). */
  readonly lineage: string
  /** When that import was committed, in milliseconds since 1970. */
  readonly changedAt: number
  /** The registry's version that this was read from: the number of its last import. */
  readonly dataVersion: number
}

/**
 * How many blanks stand before and after a page's records: room for what is sent around them, so
 * that nobody has to copy them.
 */
export const room = { before: 32, after: 256 } as const

/** A range of a listing, with the head of the same snapshot. */
export interface Page extends Head {
  /**
   * The records' JSON texts, joined by commas, as UTF-8, with `room` around them, all of it the
   * caller's to write over; undefined where the range is empty.
   */
  readonly records: Uint8Array | undefined
  /** The JSON text of `meta`, for a resource that has one. */
  readonly meta: string | undefined
  /**
   * Where the page would be larger than `pageBytesMax` and was not put together: the greatest
   * limit with which any page of the listing fits, 0 where none does. Else undefined.
   */
  readonly greatestLimit: number | undefined
}

/** A key as the store knows it: everything but the key itself. */
export interface KeyRecord {
  readonly id: number
  readonly name: string
  /** The first and last characters of the key, by which its owner recognises it. */
  readonly hint: string
  /** Names of resources; undefined means all of them. */
  readonly scopes: readonly string[] | undefined
  readonly createdAt: number
  /** Milliseconds since 1970; undefined means never. */
  readonly expiresAt: number | undefined
  readonly revokedAt: number | undefined
  /** How often it may ask, such as 600/300s, or `none`; undefined means as often as any key. */
  readonly rate: string | undefined
}

/** The last import of a source. */
export interface LastImport {
  readonly source: string
  /** The registry's version that it made. */
  readonly version: number
  /** Milliseconds since 1970. */
  readonly committedAt: number
}

/** What the serving process may do with a store: nothing here writes (invariant 3). */
export interface StoreReader {
  /** Made at random with the store, and kept by its copies. */
  readonly storeId: string
  /** The head of a listing; undefined where the registry does not know the company. */
  readHead(resource: Resource, companyId: number): Awaitable<Head | undefined>
  /**
   * `limit` records after the first `offset` ones, in the listing's order, with the head; undefined
   * where the registry does not know the company.
   */
  readPage(
    resource: Resource,
    companyId: number,
    offset: number,
    limit: number,
  ): Awaitable<Page | undefined>
  findKey(hash: Uint8Array): Awaitable<KeyRecord | undefined>
  /** The last import of each source, the latest first; of the latest hundred. */
  lastImports(): Awaitable<readonly LastImport[]>
  /** Resolves where the store answers, rejects where it does not. */
  ping(): Awaitable<void>
  close(): Awaitable<void>
}

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
export interface Standing {
  /** False where a snapshot of the source lacked the company. */
  readonly isPresent: boolean
  /** JSON texts: the attributes where companies are imported, else its records of the listing. */
  readonly texts: readonly string[]
}

/** What an import changes of one company that its source has spoken of before. */
export interface Difference {
  readonly companyId: number
  readonly companyJurisdiction: string | null
  readonly companyIdentifier: string | null
  /** The day of the change, in the form of the wire. */
  readonly asOf: string
  readonly before: Standing
  readonly after: Standing
}

/** How what an import changes is recorded: as records of another resource, in one transaction. */
export interface Recording {
  readonly resource: Resource
  /** The source of those records, apart from all that an operator can name. */
  readonly source: string
  /** The records of one difference, in the order in which they are to get their ids. */
  record(difference: Difference): readonly StagedRow[]
}

/** How a writer waits for its turn: there is one writer at a time. */
export interface Turn {
  /** Called once if there is another writer to wait for. */
  readonly onWait: () => void
  /** Ends the waiting, with its reason; absent where nothing does. */
  readonly signal?: AbortSignal
}

/** What is imported, whose it is, and how. */
export interface ImportPlan extends Turn {
  /** The resource; undefined for companies. */
  readonly resource: Resource | undefined
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

/** A key to be stored. */
export interface NewKey extends Omit<KeyRecord, 'id' | 'revokedAt'> {
  readonly hash: Uint8Array
}

/** A key that takes the place of another one of its name. */
export interface Rotation {
  /** Scopes and rate are those of the key that is replaced. */
  readonly key: Omit<NewKey, 'scopes' | 'rate'>
  /** When every other key of the name ends at the latest, in milliseconds since 1970. */
  readonly othersEndAt: number
}

/** One committed import, as the log has it. */
export interface LoggedImport {
  /** The version of the registry that it made. */
  readonly version: number
  /** The resource's name, or `companies`. */
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
  /** One sentence for each fault, the first `faultsToldMax` of each kind. */
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

/** What a pruning forgot. */
export interface Pruned {
  /** The earliest version of which everything is still known. */
  readonly earliestVersion: number
  /** How many former states were forgotten, by what they were states of. */
  readonly forgotten: Readonly<Record<string, number>>
}

/** What the commands that change a store may do with it. */
export interface StoreWriter {
  /** What `StoreReader` has as `storeId`. */
  readStoreId(): Awaitable<string>
  beginImport(plan: ImportPlan): Awaitable<ImportSession>
  /** @throws OperatorError where a key of that name is in use. */
  addKey(key: NewKey, turn: Turn): Promise<void>
  listKeys(): Awaitable<readonly KeyRecord[]>
  /**
   * Adds a key beside the one of its name that is in use, and gives that one an end.
   *
   * @param rotate is given the youngest key of the name that is in use.
   * @returns false where there is none.
   */
  rotateKey(
    name: string,
    now: number,
    rotate: (replaced: KeyRecord) => Rotation,
    turn: Turn,
  ): Promise<boolean>
  /** Revokes every key of that name; false where there is none in use. */
  revokeKey(name: string, now: number, turn: Turn): Promise<boolean>
  /** Forgets what stood only in versions that were replaced before `before`, in milliseconds. */
  prune(before: number, turn: Turn): Promise<Pruned>
  close(): Awaitable<void>
}
