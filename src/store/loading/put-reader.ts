// The records that an import puts into a listing, in its order, read from the staging as they are
// needed.

import { filterColumns } from '../../resources/filters.ts'
import type { Resource } from '../../resources/resource.ts'
import { compareOrder } from '../listing/merge.ts'
import type { PutReader } from '../listing/merge-window.ts'
import type { ColumnValue, ListedRecord } from '../listing/segment.ts'
import type { ListingShape } from '../listing/shape.ts'
import type { Staging, StagedValue } from './staging.ts'

/** What is put into listings: the records of a resource, from a source. */
export interface PutKind {
  readonly resource: Resource
  readonly shape: ListingShape
  readonly source: number
}

/** Up to this many rows are read at once, which costs less. */
const rowsAtOnce = 20_000

/** Reads the changed records of companies, given their number. */
export function readPuts(
  staging: Staging,
  kind: PutKind,
): (company: number, count: number) => PutReader {
  const sql = putsSql(kind)
  return (company, count) => {
    const read = count <= rowsAtOnce ? staging.rows : staging.iterate
    const rows = read(sql, company)[Symbol.iterator]()
    let next = rows.next()
    let record = next.done === true ? undefined : recordOf(next.value, kind)
    return {
      take(before, most = Infinity) {
        const taken: ListedRecord[] = []
        while (record !== undefined && taken.length < most) {
          if (before !== undefined && compareOrder(kind.shape, record, before) >= 0) break
          taken.push(record)
          next = rows.next()
          record = next.done === true ? undefined : recordOf(next.value, kind)
        }
        return taken
      },
    }
  }
}

function putsSql({ resource, shape }: PutKind): string {
  const filters = filterColumns(resource)
  const columns = shape.columns.map(({ field }) => {
    const at = filters.findIndex((one) => one.field === field)
    return at < 0 ? `cast(s.content as text) ->> '${field}'` : `s.filter${at + 1}`
  })
  const direction = shape.direction === 'descending' ? 'desc' : 'asc'
  const order = shape.hasSort ? `s.sort ${direction}, c.id ${direction}` : `c.id ${direction}`
  return `
    select c.id, s.sort, s.digest, s.content${columns.map((one) => `, ${one}`).join('')}
    from change c cross join stage s on s.seq = c.seq
    where c.company_id = ? order by ${order}`
}

function recordOf(row: readonly StagedValue[], { shape, source }: PutKind): ListedRecord {
  const [id, sort, digest, content, ...values] = row
  return {
    id: id as number,
    sort: shape.hasSort ? Date.parse(sort as string) / 1_000 : 0,
    source,
    digest: digest as Uint8Array,
    values: values as ColumnValue[],
    text: textOf(id as number, content as Uint8Array),
  }
}

/** A record's text: its id, which the store may have assigned, and its other fields. */
export function textOf(id: number, content: Uint8Array): Buffer {
  const head = `{"id":${id},`
  const text = Buffer.allocUnsafe(head.length + content.length - 1)
  text.write(head, 'latin1')
  text.set(content.subarray(1), head.length)
  return text
}
