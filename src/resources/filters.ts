// The fields that a store keeps next to a record's text, so that listings can be filtered by them
// (contract 10.1), and their types counted (contract 3.7).

import { readMoment } from '../text/moment.ts'
import type { FieldKind } from './field.ts'
import type { Resource } from './resource.ts'

/** What is kept of each record, so that nothing has to read its text. */
export interface ShapeColumn {
  readonly field: string
  /** Text is compared by code point; a timestamp is an integer, in the field's own precision. */
  readonly type: 'text' | 'integer'
}

type FilterValue = string | number | null

/**
 * The columns of a resource's filters, in the order of its fields, then that of the types that
 * `meta` counts, unless they are filtered, too. The id, and the field by which the resource is
 * ordered, have none: every record has these values anyway.
 */
export function shapeColumns({ fields, order, metaOf }: Resource): readonly ShapeColumn[] {
  const names = filterFields({ fields }).filter((field) => field !== 'id' && field !== order.by)
  const kept = new Set(metaOf === undefined ? names : [...names, metaOf])
  return [...kept].map((field) => ({
    field,
    type: fields[field]?.kind === 'text' ? 'text' : 'integer',
  }))
}

/** Makes a function that returns a record's values for `shapeColumns`, in the same order. */
export function columnValuesOf(
  resource: Resource,
): (record: Readonly<Record<string, unknown>>) => readonly FilterValue[] {
  const readers = shapeColumns(resource).map(({ field }) => ({
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

/** The fields by which a resource's listings can be filtered. */
export function filterFields({ fields }: Pick<Resource, 'fields'>): readonly string[] {
  return Object.entries(fields)
    .filter(([, { filter }]) => filter !== undefined)
    .map(([field]) => field)
}
