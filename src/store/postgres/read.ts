// Serving from PostgreSQL: every request is one prepared statement that touches one company.

import type { Pool } from 'pg'
import type { Resource } from '../../resources/resource.ts'
import { type Head, type LastImport, type Page, room, type StoreReader } from '../store.ts'
import {
  boundedMeta,
  boundedRecords,
  greatestLimit,
  isLeftOut,
  pageFits,
  sizesColumns,
} from '../page-size.ts'
import { findKeySql, keyRecord, type KeyRow } from './keys.ts'

// What a listing without records would have: the company's own version, and no meta.
const headColumns = `
  coalesce(h.total, 0), coalesce(h.version, c.version), i.committed_at,
  (select max(version) from imports), i.lineage`

const headTables = (name: string) => `
  from companies c
  left join heads h on h.company_id = $1 and h.resource = '${name}'
  join imports i on i.version = coalesce(h.version, c.version)
  where c.id = $1`

/** The head of a listing: `$1` is the company. */
export function headSql({ name }: Resource): string {
  return `select ${headColumns} ${headTables(name)}`
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
      ${boundedRecords(pageFits('$3::bigint', range), records, "''")} ${headTables(name)}`
}

/** The last import of each source. */
export const lastImportsSql = `
  select s.name as source, i.version, i.committed_at as "committedAt"
  from (
    select distinct on (source_id) source_id, version, committed_at
    from imports order by source_id, version desc
  ) i
  join sources s on s.id = i.source_id
  order by i.version desc limit 100`

export { findKeySql } from './keys.ts'

type HeadRow = [
  total: number,
  version: number,
  changedAt: number,
  dataVersion: number,
  lineage: string,
]
type PageRow = [...HeadRow, meta: string | null, records: string | null]

/** Makes the serving side of a store whose tables have been checked. */
export function createReader(
  pool: Pool,
  resources: readonly Resource[],
  storeId: string,
): StoreReader {
  const statements = new Map(
    resources.map((resource) => [
      resource,
      {
        head: { name: `head ${resource.name}`, text: headSql(resource) },
        page: { name: `page ${resource.name}`, text: pageSql(resource) },
        sizes: {
          name: `sizes ${resource.name}`,
          text: `select ${sizesColumns} ${headTables(resource.name)}`,
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
      const prepared = statements.get(resource)
      const found = await row<PageRow>(prepared?.page, [company, offset, limit])
      if (found === undefined) return undefined
      const isOversized = isLeftOut(found[6])
      const sizes = isOversized ? await row(prepared?.sizes, [company]) : undefined
      return pageOf(found, isOversized ? greatestLimit(sizes, limit) : undefined)
    },
    async findKey(hash) {
      const found = await row<KeyRow>(findKey, [Buffer.from(hash)])
      return found && keyRecord(found)
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

/** The records as bytes, with blanks before and after them. */
function withRoom(records: string): Buffer {
  const bytes = Buffer.allocUnsafe(room.before + Buffer.byteLength(records) + room.after)
  bytes.fill(' ', 0, room.before).write(records, room.before)
  return bytes.fill(' ', bytes.length - room.after)
}

function headOf([total, version, changedAt, dataVersion, lineage]: HeadRow): Head {
  return { total, version, lineage, changedAt, dataVersion }
}

/** @param limit is that which fits, where the page was left out. */
function pageOf(row: PageRow, limit: number | undefined): Page {
  const [total, version, changedAt, dataVersion, lineage, meta, records] = row
  return {
    ...headOf([total, version, changedAt, dataVersion, lineage]),
    meta: meta ?? undefined,
    records: records === null || limit !== undefined ? undefined : withRoom(records),
    greatestLimit: limit,
  }
}
