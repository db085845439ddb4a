// The fields that a store keeps beside a record's text, so that listings can be filtered by them
// (contract 10.1).

import { readMoment } from '../text/moment.ts'
import type { FieldKind } from './field.ts'
import type { Resource } from './resource.ts'

/** A column with the values of one field. */
interface FilterColumn {
  readonly field: string
  /** Its name; a prefix keeps it apart from the columns that every resource has. */
  readonly column: string
  /** Text is compared by code point; a timestamp is an integer, in the field's own precision. */
  readonly type: 'text' | 'integer'
}

export type FilterValue = string | number | null

/**
 * The columns of a resource's filters, in the order of its fields. The field by which the resource
 * is ordered has none: every record has that value anyway.
 */
export function filterColumns({ fields, order }: Resource): readonly FilterColumn[] {
  return Object.entries(fields)
    .filter(([field, { filter }]) => filter !== undefined && field !== order.by)
    .map(([field, { kind }]) => ({
      field,
      column: `filter_${field}`,
      type: kind === 'text' ? 'text' : 'integer',
    }))
}

/** Makes a function that returns a record's values for `filterColumns`, in the same order. */
export function filterValuesOf(
  resource: Resource,
): (record: Readonly<Record<string, unknown>>) => readonly FilterValue[] {
  const readers = filterColumns(resource).map(({ field }) => ({
    field,
    read: readerOf(resource.fields[field]?.kind),
  }))
  return (record) => {
    // A loop costs less than a closure for each column, and an import passes here for each record.
    const values: FilterValue[] = []
    for (const { field, read } of readers) {
      const value = record[field]
      if (value === null || value === undefined) values.push(null)
      else values.push(read === undefined ? (value as FilterValue) : read(value as string))
    }
    return values
  }
}

/** How a value in wire form is read; undefined if it is taken as it is. */
function readerOf(kind: FieldKind | undefined): ((value: string) => number) | undefined {
  if (kind === 'timestamp') return (value) => readMoment(value) / 1_000
  return kind === 'timestamp_ms' ? readMoment : undefined
}

/** The fields by which a resource's listings can be ordered, besides their usual order. */
export function sortFields({ fields }: Resource): readonly string[] {
  return Object.entries(fields)
    .filter(([, { filter, sortable }]) => filter === 'range' || sortable)
    .map(([field]) => field)
}

/** The fields by which they can be filtered. */
export function filterFields({ fields }: Resource): readonly string[] {
  return Object.entries(fields)
    .filter(([, { filter }]) => filter !== undefined)
    .map(([field]) => field)
}
