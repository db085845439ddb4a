// The differences between the SQL of the two databases in the statements that both stores share,
// and look-ups over them.

import { after, type Awaitable } from '../awaitable.ts'
import { versionEnd } from '../listing/tables.ts'

/** A database's dialect. Expressions in arguments are inserted into the SQL unchanged. */
export interface Dialect {
  /** Reads the last heads `h` until version $3 of the listing $1, of the companies $2. */
  headsInForce(columns: string): string
  /** Reads the last heads `h` until version $3 of the company $1, of the listings $2. */
  headsOfCompany(columns: string): string
  /** Whether heads hold their only segments (head-tables.ts). */
  readonly holdsSegments: boolean
  /** Whether a row is a segment in the lists of companies $1 and of segments' numbers $2. */
  readonly isOfSegments: string
  /**
   * Reads parts of texts: of each, its place in the list $1, and its bytes. The list is JSON: of
   * each part, company, segment, the first byte, from 1, and the number of bytes.
   */
  readonly textRanges: string
  /** Makes a table be read by an index, where the planner might choose another one. */
  useIndex(name: string): string
  /** Bytes as hexadecimal digits. */
  hexOf(bytes: string): string
  /** Bytes as the text that they are in UTF-8. */
  textOf(bytes: string): string
  /** The function for the place of bytes within others, from 1; 0 if there is none. */
  readonly placeOfBytes: string
  /** The table that finds a company by name, and its column with the company's id. */
  readonly companyNames: { readonly table: string; readonly id: string }
  /** Whether a column has one of the values of a list, which is a parameter of its own. */
  isOneOf(column: string, list: string, type: 'text' | 'bigint'): string
  /**
   * Ends a query on tables that every node has, so that the node of company $1 answers it. Empty if
   * there are no nodes.
   */
  readonly atCompany: string
}

/** A value of a parameter, or a list for `isOneOf` of the dialect. */
export type Parameter = Cell | boolean | readonly string[] | readonly number[]

/** Runs statements that read. */
export interface RowReader {
  readonly dialect: Dialect
  /**
   * The rows of a query, as arrays of their columns. The statement is prepared once.
   *
   * @param sql has its parameters as `$1`, `$2` …
   */
  rows<Row extends readonly unknown[]>(
    sql: string,
    ...parameters: readonly Parameter[]
  ): Awaitable<readonly Row[]>
}

/** Where rows are written. */
export interface Target {
  readonly table: string
  /** Columns with one value in all of the rows, such as the name of a listing. */
  readonly fixed?: Readonly<Record<string, string>>
  /** The other columns, in the order of a row's values. */
  readonly columns: readonly string[]
  /** If rows with this key may exist: what is replaced in them. Otherwise, they are an error. */
  readonly replacing?: { readonly key: readonly string[]; readonly columns: readonly string[] }
}

export type Cell = string | number | Uint8Array | null

/** Writes rows, within the transaction of the caller. */
export interface RowWriter extends RowReader {
  insert(into: Target, rows: readonly (readonly Cell[])[]): Awaitable<void>
  /** Deletes the rows with the values given, of which none is null. */
  drop(from: Target, rows: readonly (readonly (string | number)[])[]): Awaitable<void>
}

/** The clause of an insertion for rows that already exist. */
export function onConflict({ key, columns }: NonNullable<Target['replacing']>): string {
  const set = columns.map((column) => `${column} = excluded.${column}`)
  return `on conflict (${key.join(', ')}) do update set ${set.join(', ')}`
}

/** Makes a look-up of rows; `of` makes the result from the columns of each. */
export function lookup<T>(db: RowReader, sql: string, of: (columns: never) => T) {
  return (...asked: readonly Parameter[]) =>
    after(db.rows<never>(sql, ...asked), (rows) => rows.map((row) => of(row)))
}

/** The number in a row with one column. */
export const onlyNumber = ([number]: readonly [number]) => number

/** The text in a row with one column. */
export const onlyText = ([text]: readonly [string]) => text

/** A version as PostgreSQL can compare it. */
export const comparable = (version: number) => Math.min(version, versionEnd - 1)
