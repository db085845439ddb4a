// The records that an import puts into listings, company by company and in the order of each
// listing, read from the staging as they are needed.

import type { Resource } from '../../../resources/resource.ts'
import { compareOrder } from '../../listing/merge.ts'
import type { PutReader } from '../../listing/merge-listings.ts'
import type { ListedRecord } from '../../listing/segment.ts'
import { columnValuesOf, type ListingShape, sortOf } from '../../listing/shape.ts'
import { digestIn, parseFields, recordText, textsIn } from './spool.ts'
import type { Staging } from './staging.ts'

/** What is put into listings: the records of a resource, from a source. */
export interface PutKind {
  readonly resource: Resource
  readonly shape: ListingShape
  readonly source: number
}

/** A record, and the company into whose listing it is put. */
export interface Put {
  readonly companyId: number
  readonly record: ListedRecord
}

/** The records of `change`. */
export function* readChanges(staging: Staging, kind: PutKind): Generator<Put> {
  const { direction, hasSort } = kind.shape
  const by = direction === 'descending' ? 'desc' : 'asc'
  const order = hasSort ? `s.sort ${by}, c.id ${by}` : `c.id ${by}`
  const rows = staging.read(`
    select c.company_id, c.id, s.at, s.length from change c cross join stage s on s.seq = c.seq
    order by c.company_id, ${order}`)
  const readRecord = recordReader(kind)
  for (const [[company, id], row] of rows) {
    yield { companyId: Number(company), record: readRecord(Number(id), row) }
  }
}

/** Reads records of a company, those of the companies before it having been read. */
export function createPutReader(
  shape: ListingShape,
  puts: Iterator<Put>,
): (company: number) => PutReader {
  let next = puts.next()
  return (company) => ({
    take(before, most = Infinity) {
      const taken: ListedRecord[] = []
      while (next.done !== true && taken.length < most) {
        const { companyId, record } = next.value
        if (companyId !== company) break
        if (before !== undefined && compareOrder(shape, record, before) >= 0) break
        taken.push(record)
        next = puts.next()
      }
      return taken
    },
  })
}

/** Makes a function that returns the record of a row. */
function recordReader({ resource, shape, source }: PutKind) {
  const readValues = columnValuesOf(resource)
  return (id: number, row: Buffer): ListedRecord => {
    const text = recordText(id, row)
    const sort = sortOf(shape, textsIn(row).sort ?? '')
    return { id, sort, source, digest: digestIn(row), values: readValues(parseFields(text)), text }
  }
}
