// A connection to a database, as the logic that both stores share uses it.

import type { Awaitable } from '../awaitable.ts'
import type { LockWait } from '../lock-wait.ts'
import type { Dialect } from './dialect.ts'

export type Value = string | number | bigint | boolean | Uint8Array | null

/** A row, by the names of its columns. Truth is a boolean or a number, as the database has it. */
export type Row = Readonly<Record<string, Value>>

/** The values of a statement, by the names that it has for them: `$name`. */
export type Values = Readonly<Record<string, Value>>

/** What a transaction keeps others from: writing at all, or writing keys where that can be told. */
export type Lock = 'registry' | 'keys'

export interface Database {
  readonly dialect: Dialect
  /** Runs a statement; gives how many rows it has changed. */
  run(sql: string, values?: Values): Awaitable<number>
  /** All rows of a query. */
  rows(sql: string, values?: Values): Awaitable<readonly Row[]>
  /**
   * The rows of a query some at a time, within a transaction.
   *
   * @param values are never from outside: not every database can bind them here.
   */
  batches(sql: string, values?: Values): Iterable<readonly Row[]> | AsyncIterable<readonly Row[]>
  /** Runs `work` in a transaction of its own when it is its turn; a throw in it changes nothing. */
  inTransaction<T>(lock: Lock, wait: LockWait, work: () => Promise<T>): Promise<T>
}

/** The first value of the first row; undefined where there is no row. */
export async function readValue(
  db: Database,
  sql: string,
  values?: Values,
): Promise<Value | undefined> {
  const [row] = await db.rows(sql, values)
  return row && Object.values(row)[0]
}

/** What a column says that may be null. */
export function optionalText(value: Value | undefined): string | undefined {
  return value === null || value === undefined ? undefined : String(value)
}

export function optionalNumber(value: Value | undefined): number | undefined {
  return value === null || value === undefined ? undefined : Number(value)
}
