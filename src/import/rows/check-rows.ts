// Checks the rows of a source as its import asks for, and describes those that are refused.

import type { ImportRequest } from '../import-files.ts'
import {
  type Fault,
  isObject,
  type PlacedRow,
  type Problem,
  Refusal,
  showValue,
  type SourceRow,
} from '../../files/refusal.ts'
import type { Place } from '../../store/importing.ts'

/** The part of an import's request that concerns its rows. */
export type RowRequest = Pick<ImportRequest, 'target' | 'files' | 'mapping' | 'texts'>

/**
 * Makes what prepares and checks rows.
 *
 * @param latest the latest day that a row may have; undefined for any.
 * @returns the row as prepared, and as checked.
 */
export function rowChecker(request: RowRequest, latest: string | undefined) {
  const { check } = request.target
  const prepare = rowPreparer(request)
  return ({ row: given, text }: PlacedRow) => {
    if (given instanceof Refusal) return { row: given, checked: given }
    const row = prepare(given)
    return { row, checked: check(row, row === given ? text : undefined, latest) }
  }
}

/** Makes what removes outer blanks and texts that mean null from rows. */
function rowPreparer({ texts, mapping }: RowRequest): (row: SourceRow) => SourceRow {
  const { isTrimmed } = texts
  // With a mapping, these are texts of the files that mean null, not of its result.
  const empty = new Set(mapping === undefined ? texts.nulls : [])
  if (!isTrimmed && empty.size === 0) return (row) => row
  function prepared(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(prepared)
    if (isObject(value) && !JSON.isRawJSON(value)) return preparedMembers(value)
    if (typeof value !== 'string') return value
    const text = isTrimmed ? value.trim() : value
    return empty.has(text) ? null : text
  }
  function preparedMembers(row: SourceRow): SourceRow {
    const entries = Object.entries(row)
    return Object.fromEntries(entries.map(([name, value]) => [name, prepared(value)]))
  }
  return preparedMembers
}

/** A refused row as it is reported. */
export function problemOf(
  { files }: Pick<RowRequest, 'files'>,
  { file, number }: Place,
  unit: 'line' | 'row',
  refusal: Refusal,
): Problem {
  const { line, also } = refusal
  const faultOf = ({ field, value, reason }: Refusal): Fault => {
    return { field, value: value === undefined ? undefined : showValue(value), reason }
  }
  return {
    ...{ file: files[file]?.name ?? '', unit, number, line },
    ...faultOf(refusal),
    also: also.length === 0 ? undefined : also.map(faultOf),
  }
}
