// Extracts for tests, and the changes that the store has recorded.

import { changeResource } from '../../src/resources/index.ts'
import { type ImportOptions, importRows, query } from './import-rows.ts'

/** A company of an extract: an identifier, and attributes. */
export type ExtractRow = Readonly<Record<string, unknown>> & { readonly identifier: string }

/** Imports an extract of companies as `dossier import companies FILE --as-of DAY` would. */
export function importExtract(
  db: string,
  day: string | undefined,
  rows: readonly ExtractRow[],
  options: ImportOptions = {},
) {
  return importRows(
    db,
    'companies',
    rows.map((row) => ({ jurisdiction: 'XX', ...row })),
    { ...recordedOn(day), ...options },
  )
}

/** Options of an import of an extract of a day, whose changes are recorded. */
export const recordedOn = (day: string | undefined) => ({
  asOf: day && `${day}T00:00:00Z`,
  recordIn: changeResource,
})

/** A recorded change in wire form, without its id. */
export interface RecordedChange {
  readonly identifier: string | null
  readonly date: string
  readonly attr: string
  readonly before: string | null
  readonly after: string | null
}

/** All recorded changes in the order in which they were recorded. */
export function changesIn(db: string, where = 'true'): RecordedChange[] {
  return query(
    db,
    `select identifier, date, attr, before, after from events_view where ${where} order by id`,
  ).map((row) => ({ ...row }) as unknown as RecordedChange)
}

/** Recorded changes as short texts: `identifier attr: before → after`. */
export function told(db: string, where?: string): string[] {
  return changesIn(db, where).map(
    ({ identifier, attr, before, after }) =>
      `${identifier ?? ''} ${attr}: ${before ?? '(none)'} → ${after ?? '(none)'}`,
  )
}
