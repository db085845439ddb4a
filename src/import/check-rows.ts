// Checks the rows of a source as its import asks for, and describes those that are refused.

import type { CheckRow, SourceRow } from './check-record.ts'
import { refusedDay } from './guard-rails.ts'
import type { ImportRequest } from './import-files.ts'
import { rowPreparer } from './prepare-row.ts'
import { type Problem, Refusal, showValue } from './refusal.ts'

/** What an import says of its rows. */
export type RowRequest = Pick<ImportRequest, 'target' | 'files' | 'mapping' | 'isTrimmed' | 'nulls'>

/**
 * How a row is checked: by its target, and for what this import does not permit.
 *
 * @param latest the latest day that a row may have; undefined for any.
 */
export function rowChecker(request: RowRequest, latest: string | undefined): CheckRow {
  const { check } = request.target
  const { isTrimmed = false, nulls = [], mapping } = request
  // With a mapping, texts of the files mean null, and not what the mapping makes of them.
  const prepare = rowPreparer({ isTrimmed, nulls: mapping === undefined ? nulls : [] })
  const prepared: CheckRow = prepare === undefined ? check : (row) => check(prepare(row))
  if (latest === undefined || !request.target.hasRowDays) return prepared
  return (row) => {
    const checked = prepared(row)
    return checked instanceof Refusal ? checked : (refusedDay(checked.asOf, latest) ?? checked)
  }
}

/** A row at its place; `file` is the index of its file. */
interface PlacedContent {
  readonly file: number
  readonly unit: 'line' | 'row'
  readonly number: number
  readonly row: unknown
}

/** A refused row as it is reported. */
export function problemOf(
  { files, mapping }: RowRequest,
  { file, unit, number, row }: PlacedContent,
  refusal: Refusal,
): Problem {
  const { field, value, line } = refusal
  return {
    file: files[file]?.name ?? '',
    unit,
    number,
    ...(line === undefined ? {} : { line }),
    ...(field === undefined ? {} : { field }),
    ...(value === undefined ? {} : { value: showValue(value) }),
    reason: refusal.reason + adviceOnNull(mapping, refusal, row),
  }
}

/** In SQL, a text joined with a null is null, which surprises where a value is needed. */
function adviceOnNull(mapping: string | undefined, { field }: Refusal, row: unknown): string {
  if (field === undefined || mapping?.includes('||') !== true) return ''
  const isNull = typeof row === 'object' && row !== null && (row as SourceRow)[field] === null
  return isNull ? '; || with a null gives null: use concat() or coalesce()' : ''
}
