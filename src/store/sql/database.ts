// A connection to a registry, as used by the logic that both stores share: listings and companies
// are read by their keys, all else by SQL.

import type { Awaitable } from '../awaitable.ts'
import type { LockWait } from '../work-watch.ts'
import { onlyNumber, type Parameter, type RowReader, type RowWriter } from './dialect.ts'
import type { ListingLookups, ListingTables } from '../listing/tables.ts'
import type { RegistryState } from '../reading.ts'
import type { ServingReads } from '../serving/reads.ts'

/** Rows, as arrays of their columns, some at a time. */
export type Batches<Row> = Iterable<readonly Row[]> | AsyncIterable<readonly Row[]>

export interface RegistryDatabase extends RowWriter {
  readonly tables: ListingTables
  /** Runs a statement, and returns the number of changed rows. */
  run(sql: string, ...parameters: readonly Parameter[]): Awaitable<number>
  /** The rows of a query in batches, within a transaction. */
  batches<Row extends readonly unknown[]>(sql: string): Batches<Row>
  /**
   * Runs `work`, which changes keys, in a transaction of its own; rolls back if it throws. Imports
   * go on meanwhile, if the database can lock keys alone.
   */
  withKeysLocked<T>(wait: LockWait, work: () => Promise<T>): Promise<T>
}

/** The first value of the first row; null if there is no row. */
export async function readValue<T = unknown>(
  db: Pick<RowReader, 'rows'>,
  sql: string,
  ...asked: readonly Parameter[]
): Promise<T | null> {
  const [row] = await db.rows<readonly [T | null]>(sql, ...asked)
  return row?.[0] ?? null
}

/** The first value of a query, as a number; 0 if there is none. */
export const numberIn = async (...asked: Parameters<typeof readValue>): Promise<number> =>
  Number(await readValue(...asked))

/** The store's random id (`StoreReader.storeId`). */
export async function readStoreId(db: RowReader): Promise<string> {
  return String(await readValue(db, 'select id from store'))
}

/** The first column of a query as a list of numbers, for work that changes what it finds. */
export async function readNumbers(
  db: Pick<RegistryDatabase, 'batches'>,
  sql: string,
): Promise<number[]> {
  const numbers: number[] = []
  for await (const rows of db.batches<[number]>(sql)) numbers.push(...rows.map(onlyNumber))
  return numbers
}

/** Reads that all see one state of a store, for answers that one statement cannot give. */
export interface Snapshot extends RowReader, Pick<ServingReads, 'change'> {
  /**
   * The state of the registry as a whole.
   *
   * @param company the only one about which more is read in this snapshot: at its node.
   */
  registry(company?: number): Awaitable<RegistryState>
  /** Looks up listings, companies and changes by their keys. */
  readonly tables: ListingLookups
}

/** Runs `work`, whose reads see one state; it may run again if the state changes meanwhile. */
export type InSnapshot = <T>(work: (snapshot: Snapshot) => Promise<T>) => Promise<T>

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
