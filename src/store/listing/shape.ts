// The shape of a listing: how its records are ordered, and what is stored of each besides its text;
// and its `meta`: how many of its records have each type (contract 3.7).

import { shapeColumns, type ShapeColumn } from '../../resources/filters.ts'
import type { Resource } from '../../resources/resource.ts'
import { readMoment } from '../../text/moment.ts'
import { byCodePoint } from '../record-texts.ts'
import type { ListedRecord, WantedParts } from './segment.ts'

export interface ListingShape {
  /** The name of a resource, or `companies` for what sources say about a company. */
  readonly listing: string
  /** The direction of the order by value and id. */
  readonly direction: 'ascending' | 'descending'
  /** Whether records are ordered by a value before their id: seconds since 1970. */
  readonly hasSort: boolean
  readonly columns: readonly ShapeColumn[]
  /** The column whose values `meta` counts (contract 3.7). */
  readonly metaColumn: number | undefined
}

const shapes = new WeakMap<Resource, ListingShape>()

/** The shape of a resource's listings. */
export function shapeOf(resource: Resource): ListingShape {
  let shape = shapes.get(resource)
  if (shape === undefined) {
    shape = makeShape(resource)
    shapes.set(resource, shape)
  }
  return shape
}

function makeShape(resource: Resource): ListingShape {
  const { name, order, metaOf } = resource
  const columns = shapeColumns(resource)
  const metaColumn = columns.findIndex(({ field }) => field === metaOf)
  return {
    listing: name,
    direction: order.direction,
    hasSort: order.by !== 'id',
    columns,
    metaColumn: metaColumn < 0 ? undefined : metaColumn,
  }
}

/** The order value of a record, from the timestamp that its resource is ordered by. */
export function sortOf({ hasSort }: ListingShape, moment: string): number {
  return hasSort ? readMoment(moment) / 1_000 : 0
}

/** Whether records are ordered by their ids alone, ascending. */
export const isInIdOrder = ({ hasSort, direction }: ListingShape): boolean =>
  !hasSort && direction === 'ascending'

/** What sources say about a company: a record for each source, with its number as the id. */
export const attributesShape: ListingShape = {
  listing: 'companies',
  direction: 'ascending',
  hasSort: false,
  columns: [
    { field: 'version', type: 'integer' },
    { field: 'as_of', type: 'text' },
    { field: 'is_present', type: 'integer' },
    // Null if it equals the version.
    { field: 'said_in', type: 'integer' },
  ],
  metaColumn: undefined,
}

/** What a comparison needs of an index: columns only for what sources say. */
export const comparedParts = (shape: ListingShape): WantedParts | undefined =>
  shape === attributesShape ? undefined : { ids: true, sources: true }

/** The JSON text of `meta`: by count descending, then by the bytes of the type. */
export function metaText(counts: ReadonlyMap<string, number>): string {
  const sorted = [...counts].sort(
    ([a, countOfA], [b, countOfB]) => countOfB - countOfA || byCodePoint(a, b),
  )
  return JSON.stringify(sorted.map(([type, count]) => ({ type, count })))
}

export function parseMeta(text: string): Map<string, number> {
  const entries = JSON.parse(text) as readonly { readonly type: string; readonly count: number }[]
  return new Map(entries.map(({ type, count }) => [type, count]))
}

/** The `meta` of a listing; null for a shape without one. */
export function metaOf(
  { metaColumn }: ListingShape,
  types: ReadonlyMap<string, number>,
): string | null {
  return metaColumn === undefined ? null : metaText(types)
}

/** How many of some records have each type; empty for a shape without `meta`. */
export function typesOf(
  { metaColumn }: ListingShape,
  records: readonly Pick<ListedRecord, 'values'>[],
): Map<string, number> {
  const types = new Map<string, number>()
  if (metaColumn === undefined) return types
  for (const { values } of records) addToCount(types, values[metaColumn] ?? null, 1)
  return types
}

/** Adds to the count of a type, which is removed at 0; null is not a type. */
export function addToCount(counts: Map<string, number>, type: unknown, by: number): void {
  if (typeof type !== 'string') return
  const now = (counts.get(type) ?? 0) + by
  if (now > 0) counts.set(type, now)
  else counts.delete(type)
}
