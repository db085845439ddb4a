// The interface between an import and a store, independent of the database.

import type { ImportedFile } from '../files/source-file.ts'
import type { Resource } from '../resources/resource.ts'
import type { CompanyRow } from './listing/tables.ts'
import type { WorkWatch } from './work-watch.ts'

/** A checked row on its way into the store. */
export interface StagedRow {
  readonly companyId: number | null
  readonly companyJurisdiction: string | null
  readonly companyIdentifier: string | null
  readonly id: number | null
  /** The natural key by which the store finds or assigns the id; null if there is an id. */
  readonly key: string | null
  /** The value by which the listing is ordered before `id`; empty if it is ordered by `id` only. */
  readonly sort: string
  /** As `digestOf` makes it. */
  readonly digest: string
  /**
   * The JSON text of a record's fields after its id, or of a company's attributes; as bytes, if the
   * source has it so.
   */
  readonly content: string | Buffer
  /** `content`, parsed, if that is at hand. */
  readonly fields?: Readonly<Record<string, unknown>> | undefined
  /** The day on which the source's statement holds, in wire form; null if the row has none. */
  readonly asOf: string | null
}

/** The identity of a refused row: a snapshot must not treat its record as absent. */
export type RefusedRow = Pick<StagedRow, 'id' | 'key' | 'companyJurisdiction' | 'companyIdentifier'>

/** The place of a row: the index of its file among the import's, and its line or row number. */
export interface Place {
  readonly file: number
  readonly number: number
}

/** A row that the store refuses, although it passed the checks of single rows. */
export interface StagedProblem extends Place {
  readonly field: string
  readonly value: unknown
  readonly reason: string
  readonly row: StagedRow
}

/** A source's statement about a company, before or after an import. */
export interface ListingState {
  /** False if the source's snapshot lacked the company. */
  readonly isPresent: boolean
  /** JSON texts: the company's attributes, or its records, depending on what is imported. */
  readonly texts: readonly string[]
}

/** A company, as its register names it. */
export type NamedCompany = Pick<CompanyRow, 'id' | 'jurisdiction' | 'identifier'>

/** What an import changes in one company that the source had mentioned before. */
export interface Difference {
  readonly company: NamedCompany
  /** The day of the change, in wire form. */
  readonly asOf: string
  readonly before: ListingState
  readonly after: ListingState
}

/** How an import's changes are recorded: as records of another resource, in one transaction. */
export interface Recording {
  readonly resource: Resource
  /** The source of those records; differs from every name that an operator can choose. */
  readonly source: string
  /** The records of one difference, in the order in which they get their ids. */
  record(difference: Difference): readonly StagedRow[]
}

/** The name of `Recording.source` for the changes of a target from a source. */
export const recordingSource = (source: string, target: string) => `${source}/${target}`

/** Whether a source is one of recorded changes. */
export const isRecordingSource = (source: string) => source.includes('/')

/** Two values of an attribute; null for none. */
export interface ValueChange {
  /** The company's name in its register; left out where the company is clear. */
  readonly company?: string
  readonly before: string | null
  readonly after: string | null
}

/** How many values of an attribute, or of a field, an import changes. */
export interface AttributeDifference {
  readonly name: string
  /** From one value to another. */
  readonly changed: number
  readonly appeared: number
  readonly gone: number
  /** The first ten changes between different values, by the numbers of their companies. */
  readonly examples: readonly ValueChange[]
}

export interface CompanyList {
  readonly count: number
  /** The first ten. */
  readonly names: readonly string[]
}

/** How many attributes a difference has: each company may have other ones. */
export const attributesMax = 10_000

/** What an import changes, besides the counts of its rows. */
export interface ImportDifference {
  /** One in so many changed rows was compared; above 1, the counts of values are estimates. */
  readonly oneOf: number
  /** Attributes with changes, those with the most changes first, of the first `attributesMax`. */
  readonly attributes: readonly AttributeDifference[]
  /** The companies that the source, or the registry, has from now on. */
  readonly come: CompanyList
  /** The companies that a snapshot lacks. */
  readonly go: CompanyList
}

/** What the log keeps of the difference that an import made. */
export interface LoggedDifference extends ImportDifference {
  /** The rows of its files, if a mapping read them; undefined without one. */
  readonly rowsOfFiles?: number | undefined
  /** The number of rows that the source had before, and how many of them have changed. */
  readonly known: number
  readonly updated: number
  /** The columns with one value in all rows. */
  readonly same: readonly { readonly name: string; readonly value: string }[]
}

/** How an import is done, so that the next one can be done like it. */
export interface Recipe {
  /** The options of the command that apply to the next extract, too. */
  readonly options: readonly string[]
  /** The text of the mapping; undefined without one. */
  readonly mapping?: string | undefined
}

/** An earlier import of the same target from the same source, in force. */
export interface EarlierImport {
  readonly version: number
  /** In wire form. */
  readonly asOf: string | undefined
  readonly isSnapshot: boolean
  readonly files: readonly ImportedFile[]
}

/** What the log says about a source before an import. */
export interface Earlier {
  /** Every attribute that the source has had. */
  readonly attributes: readonly string[]
  /** What the last import has changed. */
  readonly difference: LoggedDifference | undefined
  /** In the order of their versions. */
  readonly imports: readonly EarlierImport[]
  /** How the last of them was done. */
  readonly recipe: Recipe | undefined
  /** The last version that removed everything that the source had; 0 if there is none. */
  readonly removedIn: number
}

/** What an import loads, as a store sees it. */
export interface LoadTarget {
  /** Its name on the command line and in the log of imports. */
  readonly name: string
  /** The resource whose records are loaded; undefined for companies with their attributes. */
  readonly resource: Resource | undefined
}

export interface ImportPlan extends WorkWatch {
  readonly target: LoadTarget
  readonly source: string
  /** The attribute with the names of companies, kept for the source; undefined to leave it. */
  readonly nameAttribute?: string | undefined
  /** Whether the rows are all that the source has; records missing from them are removed. */
  readonly isSnapshot: boolean
  /** Whether an operator only removes the source's data: its register has not said so. */
  readonly isRemoval?: boolean
  readonly knownCompaniesOnly: boolean
  /** The day of the extract, in wire form; if undefined, the latest day in its rows. */
  readonly asOf: string | undefined
  /** Undefined to record no changes; without a day, none are recorded either. */
  readonly recording: Recording | undefined
  /** Whether the source was not named, so that it may be the wrong one. */
  readonly isSourceAssumed?: boolean
  /**
   * If the import's own source is assumed or new, and there are others, receives how many of its
   * first companies sources have, by their names, and how many were looked up. It is called before
   * anything is written; if it throws, the import fails.
   */
  readonly onLikeSources?: (counts: ReadonlyMap<string, number>, sampled: number) => void
  /** Kept in the log; undefined unless files are imported. */
  readonly recipe?: Recipe | undefined
  /**
   * Receives the earlier imports and the day of this one, in wire form, before anything is written;
   * the day is null if neither the plan nor a row has one. If it throws, the import fails.
   */
  readonly onEarlier?: (earlier: Earlier, asOf: string | null) => void
  readonly startedAt: number
  /** The names of the files, for messages. */
  readonly fileNames?: readonly string[]
  /** The unit of a place's number, for messages. */
  readonly unit: 'line' | 'row'
}

/** Numbers of rows by outcome; `refused` counts only those that the store refused. */
export interface MergeCounts {
  readonly inserted: number
  /** A record that changes in several listings counts in each, even where no row is for it. */
  readonly updated: number
  readonly unchanged: number
  readonly refused: number
  readonly removed: number
  readonly companiesCreated: number
  /** The number of records that describe this import's changes. */
  readonly recorded: number
  /** Rows that have no other outcome, since their records or companies are erased. */
  readonly erased: number
  /** Rows with something that is withheld, erased ones included. */
  readonly withheld: number
}

export interface Merged {
  readonly counts: MergeCounts
  readonly difference: ImportDifference
  /** How many records the source had before. */
  readonly held: number
  /** Companies that rows name; undefined unless many of them are new. */
  readonly companiesNamed: number | undefined
}

/** What the log keeps of an import that is committed. */
export interface ImportOutcome {
  readonly counts: ImportCounts
  readonly files: readonly ImportedFile[]
  /** The attributes that the source has for the first time. */
  readonly attributes?: readonly string[]
  readonly difference?: LoggedDifference | undefined
}

/**
 * Outcomes of all rows: read = inserted + updated + unchanged + refused + erased, unless a
 * record changes in listings of companies that no row names.
 */
export interface ImportCounts extends MergeCounts {
  readonly read: number
}
