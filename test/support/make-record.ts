// Valid records derived from a resource's declaration, so that any new
// resource is tested.

import { exampleRecord } from '../../scripts/openapi/records.ts'
import type { Resource } from '../../src/resources/resource.ts'

/** A record in wire form: all of its fields, in the order of the declaration. */
export type WireRecord = Readonly<Record<string, unknown>> & { readonly id: number }

/** A record made of the examples in the declaration; `overrides` replace some of them. */
export function makeRecord(
  resource: Resource,
  overrides: Readonly<Record<string, unknown>> & { readonly id?: number } = {},
): WireRecord {
  const { id, ...example } = exampleRecord(resource)
  return { id: Number(id), ...example, ...overrides }
}

/** Records with the ids from `firstId` on. */
export function makeRecords(resource: Resource, count: number, firstId = 1): WireRecord[] {
  return Array.from({ length: count }, (_, index) => makeRecord(resource, { id: firstId + index }))
}

/** Records in the order of their listing (contract 3.6), computed independently. */
export function inOrder(resource: Resource, records: readonly WireRecord[]): WireRecord[] {
  const { by, direction } = resource.order
  const way = direction === 'ascending' ? 1 : -1
  return records.toSorted((a, b) => {
    const [left, right] = [String(a[by]), String(b[by])]
    // Timestamps of one form and length: their order as text is their order in time.
    if (by !== 'id' && left !== right) return left < right ? -way : way
    return (a.id - b.id) * way
  })
}

/** The expected `meta` of a listing (contract 3.7); undefined for a resource without one. */
export function metaOf(
  resource: Resource,
  records: readonly WireRecord[],
): { type: string; count: number }[] | undefined {
  const { metaOf: field } = resource
  if (field === undefined) return undefined
  const groups = Map.groupBy(records, (record) => String(record[field]))
  return [...groups]
    .map(([type, { length: count }]) => ({ type, count }))
    .toSorted((a, b) => b.count - a.count || byCodePoint(a.type, b.type))
}

/** Ascending by Unicode code point, unlike locale or UTF-16 order. */
function byCodePoint(a: string, b: string): number {
  const [left, right] = [Array.from(a), Array.from(b)]
  for (const [index, character] of left.entries()) {
    const other = right[index]
    if (other === undefined) return 1
    if (character !== other) return (character.codePointAt(0) ?? 0) - (other.codePointAt(0) ?? 0)
  }
  return left.length - right.length
}
