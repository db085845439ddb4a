// Reads the records that an import puts into listings from the staging as they are needed: company
// by company, in the order of the listing.

import { columnValuesOf } from '../../../resources/filters.ts'
import type { Resource } from '../../../resources/resource.ts'
import type { PutReader } from '../../listing/merge-listings.ts'
import type { ListedRecord } from '../../listing/segment.ts'
import { type ListingShape, shapeOf, sortOf } from '../../listing/shape.ts'
import { digestIn, parseFields, recordText, textsIn } from './spool.ts'
import type { Staging } from './staging.ts'

/** What is put into listings: the records of a resource, from a source. */
export interface PutKind {
  readonly resource: Resource
  readonly source: number
}

/** Reads the records of `change` by company; companies have to be asked for in ascending order. */
export function createPutReader(staging: Staging, kind: PutKind): (company: number) => PutReader {
  const shape = shapeOf(kind.resource)
  const puts = readChanges(staging, shape, kind)
  let next = puts.next()
  return (company) => ({
    peek: () => (next.done !== true && next.value[0] === company ? next.value[1] : undefined),
    advance() {
      next = puts.next()
    },
  })
}

function* readChanges(
  staging: Staging,
  shape: ListingShape,
  { resource, source }: PutKind,
): Generator<readonly [company: number, record: ListedRecord]> {
  const by = shape.direction === 'descending' ? 'desc' : 'asc'
  // Looks up each row, where only the row has what orders it.
  const sorted = shape.hasSort ? 'cross join stage s on s.seq = c.seq' : ''
  const order = shape.hasSort ? `s.sort ${by}, c.id ${by}` : `c.id ${by}`
  const rows = staging.read(`
    select c.company_id, c.id, c.at, c.length from change c ${sorted}
    where c.seq is not null order by c.company_id, ${order}`)
  const readValues = columnValuesOf(resource)
  for (const [columns, row] of rows) {
    const [company = 0, id = 0] = columns.map(Number)
    const text = recordText(id, row)
    const sort = sortOf(shape, textsIn(row).sort ?? '')
    const values = readValues(parseFields(text))
    yield [company, { id, sort, source, digest: digestIn(row), values, text }]
  }
}
