// Shows the first rows of a source, checked, without a store, for those who write a mapping.

import { problemOf, type RowRequest, rowChecker } from './rows/check-rows.ts'
import type { ImportRequest } from './import-files.ts'
import { latestMoment } from './guard-rails.ts'
import { openSource, parseJson } from '../files/read-source.ts'
import { isBlank } from '../text/blank.ts'
import { type Problem, Refusal, type SourceRow } from '../files/refusal.ts'

export interface ShowRequest extends RowRequest, Pick<ImportRequest, 'mappingFolders' | 'signal'> {
  /** How many rows. */
  readonly rows: number
  /** Receives the columns of the files, before anything can fail in the mapping. */
  readonly onColumns: (columns: readonly ShownColumn[]) => void
}

/** A column of the files, and its first values. */
export interface ShownColumn {
  readonly name: string
  readonly values: readonly unknown[]
}

/** A row as it would be imported, or why it would be refused. */
export interface ShownRow {
  readonly file: string
  readonly unit: 'line' | 'row'
  readonly number: number
  /** As checked, in the columns of a source; as read if it would be refused. */
  readonly row: unknown
  /** The columns that the mapping returns without a value, as a misspelt path does. */
  readonly nulls?: readonly string[]
  readonly refused?: Problem
}

/**
 * Reads the first rows of files, maps and checks them.
 *
 * @throws OperatorError if the source cannot be read, or the mapping fails.
 */
export async function showRows(request: ShowRequest): Promise<ShownRow[]> {
  const { target, files, mapping, onColumns } = request
  const source = openSource({
    ...request,
    showing: {
      rows: request.rows,
      onView(columns, texts) {
        const rows = texts.map((text) => parseJson(text) as SourceRow)
        onColumns(columnsOf(columns, rows))
      },
    },
    onBytes: () => undefined,
  })
  const check = rowChecker(request, latestMoment(Date.now()))
  const read: SourceRow[] = []
  const shown: ShownRow[] = []
  for await (const batch of source.batches) {
    for (const placed of Iterator.from(batch).take(request.rows - shown.length)) {
      const { file, number, row } = placed
      const place = { file: files[file]?.name ?? '', unit: source.unit, number }
      if (!(row instanceof Refusal)) read.push(row)
      const { checked } = check(placed)
      const nulls = mapping === undefined || row instanceof Refusal ? {} : nullsOf(row)
      if (checked instanceof Refusal) {
        const content = row instanceof Refusal ? row.row : row
        const refused = problemOf(request, { file, number }, source.unit, checked)
        shown.push({ ...place, row: content, ...nulls, refused })
      } else shown.push({ ...place, row: target.rowOf(checked), ...nulls })
    }
    // With a mapping, the columns are known only after all refused rows of the files.
    if (shown.length >= request.rows && mapping === undefined) break
  }
  if (mapping === undefined) {
    const names = [...source.found.columns, ...read.flatMap((row) => Object.keys(row))]
    onColumns(columnsOf([...new Set(names)], read))
  }
  return shown
}

function nullsOf(row: SourceRow): Pick<ShownRow, 'nulls'> {
  const nulls = Object.keys(row).filter((name) => isBlank(row[name]))
  return nulls.length === 0 ? {} : { nulls }
}

function columnsOf(names: readonly string[], rows: readonly SourceRow[]): ShownColumn[] {
  return names.map((name) => ({ name, values: rows.map((row) => row[name] ?? null) }))
}
