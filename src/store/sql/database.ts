// A connection to a registry, as used by the logic that both stores share: its listings and
// companies by their keys, all else by SQL.

import type { Awaitable } from '../awaitable.ts'
import type { LockWait } from '../work-watch.ts'
import type { Dialect, RowReader, RowWriter } from './dialect.ts'
import type { ListingLookups, ListingTables } from '../listing/tables.ts'
import type { ServingReads } from '../serving/reads.ts'

export type Value = string | number | bigint | boolean | Uint8Array | null

/** A row, by column names. A truth value is a boolean or a number, depending on the database. */
export type Row = Readonly<Record<string, Value>>

/** The values of a statement's parameters (`$name`), by name; lists are for `isOneOf`. */
export type Values = Readonly<Record<string, Value | readonly string[] | readonly number[]>>

export interface Database {
  readonly dialect: Dialect
  /** Runs a statement, and returns the number of changed rows. */
  run(sql: string, values?: Values): Awaitable<number>
  /** All rows of a query. */
  rows(sql: string, values?: Values): Awaitable<readonly Row[]>
  /** The rows of a query in batches, within a transaction. */
  batches(sql: string): Iterable<readonly Row[]> | AsyncIterable<readonly Row[]>
  /**
   * Runs `work`, which changes keys, in a transaction of its own; rolls back if it throws. Imports
   * go on meanwhile, if the database can lock keys alone.
   */
  withKeysLocked<T>(wait: LockWait, work: () => Promise<T>): Promise<T>
}

/** What queries need of a database. */
export type Queries = Pick<Database, 'dialect' | 'rows'>

/** The first value of the first row; undefined if there is no row. */
export async function readValue(
  db: Queries,
  sql: string,
  values?: Values,
): Promise<Value | undefined> {
  const [row] = await db.rows(sql, values)
  return row && Object.values(row)[0]
}

/** The store's random id (`StoreReader.storeId`). */
export async function readStoreId(db: Queries): Promise<string> {
  return String(await readValue(db, 'select id from store'))
}

/** The first column of a query as a list of numbers, since what is found is changed afterwards. */
export async function readNumbers(db: Pick<Database, 'batches'>, sql: string): Promise<number[]> {
  const numbers: number[] = []
  for await (const rows of db.batches(sql)) {
    for (const row of rows) numbers.push(Number(Object.values(row)[0]))
  }
  return numbers
}

/** The value of a column that may be null. */
export function optionalText(value: Value | undefined): string | undefined {
  return value === null || value === undefined ? undefined : String(value)
}

export function optionalNumber(value: Value | undefined): number | undefined {
  return value === null || value === undefined ? undefined : Number(value)
}

/** Reads that all see one state of a store, for answers that one statement cannot give. */
export interface Snapshot extends RowReader, Pick<ServingReads, 'change'> {
  /** Looks up listings, companies and changes by their keys. */
  readonly tables: ListingLookups
}

/** Runs `work`, whose reads see one state; it may run again if the state changes meanwhile. */
export type InSnapshot = <T>(work: (snapshot: Snapshot) => Promise<T>) => Promise<T>

export interface RegistryDatabase extends Database, Pick<RowWriter, 'insert' | 'drop'> {
  readonly tables: ListingTables
}

/** A connection that changes the registry, in one transaction. */
export interface ImportConnection extends RegistryDatabase {
  /** Begins the transaction, as soon as no other process holds the write lock. */
  begin(wait: LockWait): Promise<void>
  /**
   * Commits it, and cleans up. If this throws, nothing was changed, except for UnknownOutcomeError.
   */
  commit(): Awaitable<void>
  /** Ends the work; nothing is changed. */
  discard(): Awaitable<void>
}
