// Serves from PostgreSQL: every request is one prepared statement that reads one company.

import type { Pool } from 'pg'
import type { Resource } from '../../resources/resource.ts'
import type { LastImport, StoreReader } from '../reading.ts'
import { greatestLimit } from '../page-size.ts'
import type { Row } from '../sql/database.ts'
import {
  headOf,
  type HeadRow,
  headSql,
  isLeftOut,
  lastImportsSql,
  pageOf,
  type PageRow,
  pageSql,
  type ServingWords,
  sizesSql,
} from '../sql/listing.ts'
import { keyColumns, keyRecord } from '../sql/stored-keys.ts'
import { lockMsOf, type ServingBounds } from './connect.ts'
import { createGate } from './gate.ts'

/** The index returns records in the order in which they are joined, so nothing is sorted. */
export const words: ServingWords = {
  company: '$1',
  offset: '$2::bigint',
  limit: '$3::bigint',
  joined: (range, direction) =>
    `select string_agg(record, ',' order by position ${direction}) from ${range}`,
  empty: "''",
}

/** `$1` is a key's hash. */
export const findKeySql = `select ${keyColumns} from keys where hash = $1`

/** Makes the reader of a store whose tables have been checked. */
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
        head: { name: `head ${resource.name}`, text: headSql(resource, words) },
        page: { name: `page ${resource.name}`, text: pageSql(resource, words) },
        sizes: { name: `sizes ${resource.name}`, text: sizesSql(resource, words) },
      },
    ]),
  )
  const findKey = { name: 'key', text: findKeySql }

  /** The single row of a prepared statement, with its columns as an array. */
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
      const read = () => row<PageRow<string>>(known?.page, [company, offset, limit])
      const found = await (known === undefined ? read() : known.gate.run(read))
      if (found === undefined) return undefined
      const records = found[6]
      return pageOf(found, {
        recordsBetween: (head, tail) => Buffer.from(head + (records ?? '') + tail),
        greatestLimit: isLeftOut(records)
          ? greatestLimit(await row(known?.sizes, [company]), limit)
          : undefined,
      })
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

/** Leaves a quarter of the pool to other resources; pauses as long as it waits for a lock. */
function gateBoundsOf(bounds: ServingBounds) {
  const { pool, waitMs } = bounds
  const most = Math.max(1, pool - Math.max(1, Math.floor(pool / 4)))
  return { most, waitMs, restMs: lockMsOf(bounds) }
}
