// Look-ups, as functions of their parameters.

import { after } from '../awaitable.ts'
import type { Parameter, RowReader } from './dialect.ts'

/** Makes a look-up of rows, each as `of` makes it of its columns. */
export function lookup<T>(db: RowReader, sql: string, of: (columns: never) => T) {
  return (...asked: readonly Parameter[]) =>
    after(db.rows<never>(sql, ...asked), (rows) => rows.map((row) => of(row)))
}

/** The number in a row of one. */
export const onlyNumber = ([number]: readonly [number]) => number

/** The first value of a query; 0 if there is none. */
export async function numberIn(
  db: RowReader,
  sql: string,
  ...asked: readonly Parameter[]
): Promise<number> {
  const [row] = await db.rows<readonly [number | null]>(sql, ...asked)
  return row?.[0] ?? 0
}

/** A version as PostgreSQL can compare it. */
export const comparable = (version: number) => Math.min(version, 2 ** 31 - 1)
