// Serving from PostgreSQL: every request is one prepared statement that touches one company.

import type { Pool } from 'pg'
import type { Resource } from '../../resources/resource.ts'
import type { LastImport, Page, StoreReader } from '../reading.ts'
import {
  boundedMeta,
  boundedRecords,
  greatestLimit,
  isLeftOut,
  pageFits,
  sizesColumns,
} from '../page-size.ts'
import type { Row } from '../sql/database.ts'
import { headColumns, headOf, type HeadRow, headTables, lastImportsSql } from '../sql/listing.ts'
import { keyColumns, keyRecord } from '../sql/stored-keys.ts'
import { lockMsOf, type ServingBounds } from './connect.ts'
import { createGate } from './gate.ts'

/** The head of a listing: `$1` is the company. */
export function headSql({ name }: Resource): string {
  return `select ${headColumns} ${headTables(name, '$1')}`
}

/**
 * Records and head in one statement, so from one snapshot (ARCHITECTURE.md, idea 4): `$1` is the
 * company, `$2` the offset, `$3` the limit. The index gives the records in the order in which they
 * are joined, so nothing is sorted. Records that do not fit into a page are not read
 * (`page-size.ts`).
 */
export function pageSql({ name, order, metaOf }: Resource): string {
  // A listing that is served backwards: its first record has the highest position.
  const isBackwards = order.direction === 'descending'
  const first = isBackwards ? 'coalesce(h.total, 0) - $2::bigint - $3::bigint' : '$2::bigint'
  const range = `${name} r
      where r.company_id = $1
        and r.position >= ${first} and r.position < ${first} + $3::bigint`
  const records = `(
      select string_agg(r.record, ',' order by r.position ${isBackwards ? 'desc' : 'asc'})
      from ${range}
    )`
  return `
    select ${headColumns}, ${metaOf === undefined ? 'null' : boundedMeta},
      ${boundedRecords(pageFits('$3::bigint', range), records, "''")} ${headTables(name, '$1')}`
}

/** `$1` is a key's hash. */
export const findKeySql = `select ${keyColumns} from keys where hash = $1`

type PageRow = [...HeadRow, meta: string | null, records: string | null]

/** Makes the serving side of a store whose tables have been checked. */
export function createReader(
  pool: Pool,
  resources: readonly Resource[],
  { storeId, bounds }: { readonly storeId: string; readonly bounds: ServingBounds },
): StoreReader {
  const statements = new Map(
    resources.map((resource) => [
      resource,
      {
        gate: createGate(resource.name, gateBoundsOf(bounds)),
        head: { name: `head ${resource.name}`, text: headSql(resource) },
        page: { name: `page ${resource.name}`, text: pageSql(resource) },
        sizes: {
          name: `sizes ${resource.name}`,
          text: `select ${sizesColumns} ${headTables(resource.name, '$1')}`,
        },
      },
    ]),
  )
  const findKey = { name: 'key', text: findKeySql }

  /** The one row of a prepared statement, its columns as an array. */
  async function row<Row extends unknown[]>(
    statement: { name: string; text: string } | undefined,
    values: unknown[],
  ): Promise<Row | undefined> {
    if (statement === undefined) throw new Error('the store was not opened for this resource')
    const { rows } = await pool.query<Row>({ ...statement, values, rowMode: 'array' })
    return rows[0]
  }

  return {
    storeId,
    async readHead(resource, company) {
      const found = await row<HeadRow>(statements.get(resource)?.head, [company])
      return found && headOf(found)
    },
    async readPage(resource, company, offset, limit) {
      const known = statements.get(resource)
      const read = () => row<PageRow>(known?.page, [company, offset, limit])
      const found = await (known === undefined ? read() : known.gate.run(read))
      if (found === undefined || !isLeftOut(found[6])) return found && pageOf(found, undefined)
      return pageOf(found, greatestLimit(await row(known?.sizes, [company]), limit))
    },
    async findKey(hash) {
      const { rows } = await pool.query<Row>({ ...findKey, values: [hash] })
      return rows[0] && keyRecord(rows[0])
    },
    async lastImports() {
      return (await pool.query<LastImport>(lastImportsSql)).rows
    },
    async ping() {
      await pool.query('select from store')
    },
    close: () => pool.end(),
  }
}

/** A listing leaves a quarter of the pool to the others, and waits for a lock no longer than it. */
function gateBoundsOf(bounds: ServingBounds) {
  const { pool, waitMs } = bounds
  const most = Math.max(1, pool - Math.max(1, Math.floor(pool / 4)))
  return { most, waitMs, restMs: lockMsOf(bounds) }
}

/** @param limit is that which fits, where the page was left out. */
function pageOf(row: PageRow, limit: number | undefined): Page {
  const [total, version, changedAt, dataVersion, lineage, meta, records] = row
  return {
    ...headOf([total, version, changedAt, dataVersion, lineage]),
    meta: meta ?? undefined,
    recordsBetween: (head, tail) => Buffer.from(head + (records ?? '') + tail),
    greatestLimit: limit,
  }
}
