// Checks the rows of a source as its import asks for, and describes those that are refused.

import { checkDay } from './check-company.ts'
import type { CheckRow } from './check-record.ts'
import { refusedDay } from '../guard-rails.ts'
import type { ImportRequest } from '../import-files.ts'
import {
  type Fault,
  isObject,
  type Problem,
  Refusal,
  refuseForAll,
  showValue,
  type SourceRow,
} from '../../files/refusal.ts'
import type { Place } from '../../store/importing.ts'

/** The part of an import's request that concerns its rows. */
export type RowRequest = Pick<ImportRequest, 'target' | 'files' | 'mapping' | 'texts'>

/**
 * How a prepared row is checked: by its target, and for what this import does not permit.
 *
 * @param latest the latest day that a row may have; undefined for any.
 */
export function rowChecker({ target }: RowRequest, latest: string | undefined): CheckRow {
  const { check } = target
  // Only rows of companies may have days of their own.
  if (target.resource !== undefined) return check
  return (row) => {
    const checked = check(row)
    if (!(checked instanceof Refusal)) return refusedDay(checked.asOf, latest) ?? checked
    const day = checkDay(row)
    return refuseForAll([checked, day instanceof Refusal ? undefined : refusedDay(day, latest)])
  }
}

/** Makes what removes outer blanks and texts that mean null from rows. */
export function rowPreparer({ texts, mapping }: RowRequest): (row: SourceRow) => SourceRow {
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
  const { line } = refusal
  const faultOf = (fault: Refusal): Fault => ({
    ...(fault.field === undefined ? {} : { field: fault.field }),
    ...(fault.value === undefined ? {} : { value: showValue(fault.value) }),
    reason: fault.reason,
  })
  const also = refusal.also.map(faultOf)
  return {
    file: files[file]?.name ?? '',
    unit,
    number,
    ...(line === undefined ? {} : { line }),
    ...faultOf(refusal),
    ...(also.length === 0 ? {} : { also }),
  }
}
