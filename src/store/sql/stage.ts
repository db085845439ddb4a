// The table in which an import's rows are staged, as both stores have it.

import type { Awaitable } from '../awaitable.ts'
import type { Place, RefusedRow, StagedRow } from '../importing.ts'

/** Writes an import's rows into the table `stage`, in order. */
export interface Stage {
  /** Returns a promise only if the caller has to wait: this runs for every row. */
  write(place: Place, row: StagedRow): Promise<void> | undefined
  /** Stages a refused row, which only identifies its record. */
  writeRefused(place: Place, row: RefusedRow): Promise<void> | undefined
  /** Completes the table, which may be read from now on. */
  end(): Awaitable<void>
  /** Appends rows made by the store after all others. */
  append(rows: readonly StagedRow[]): Awaitable<void>
}

/** The stage's columns of filter values. */
export function filterNames(count: number): readonly string[] {
  return Array.from({ length: count }, (_, n) => `filter${n + 1}`)
}
