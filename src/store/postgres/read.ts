// Serves from PostgreSQL: every request is one prepared statement that reads one company.

import type { Pool } from 'pg'
import type { Resource } from '../../resources/resource.ts'
import type { LastImport, StoreReader } from '../reading.ts'
import type { Row, Values } from '../sql/database.ts'
import type { Dialect } from '../sql/dialect.ts'
import {
  type FrameRow,
  frameSql,
  headOf,
  type HeadRow,
  headSql,
  lastImportsSql,
  pageOf,
  type PieceRow,
  piecesSql,
  rangeOf,
} from '../sql/listing.ts'
import { createSelector } from '../sql/select.ts'
import { viewOf } from '../sql/view.ts'
import { keyColumns, keyRecord } from '../sql/stored-keys.ts'
import { createViews, viewBytesUsual } from '../views.ts'
import { lockMsOf, type ServingBounds } from './connect.ts'
import { dialect as together } from './dialect.ts'
import { createGate } from './gate.ts'
import { bind } from './parameters.ts'
import { createCompanyReader } from './read-companies.ts'

/**
 * SQL that returns a page in one statement, and so from one snapshot: rows of a frame and a piece,
 * in the order served; the piece is null if there is none. A lateral join of one row can only be a
 * nested loop, which keeps the order of the pieces; sorting them would copy all texts.
 */
export function pageSql(resource: Resource): string {
  const isBackwards = resource.order.direction === 'descending'
  const first = isBackwards ? 'greatest(f.total - $2::bigint - $3::bigint, 0)' : '$2::bigint'
  const end = isBackwards ? 'f.total - $2::bigint' : '$2::bigint + $3::bigint'
  const isSmall = '$3::bigint * f.widest <= f.room'
  const pieces = piecesSql(resource, { company, first, end, isSmall, room: 'f.room' })
  return `
    select f.*, p.* from (${frameSql(resource, company)}) f
    left join lateral (${pieces}) p on true`
}

const company = '$1'

/** `$1` is a key's hash. */
export const findKeySql = `select ${keyColumns} from keys where hash = $1`

/** Makes the reader of a store whose tables have been checked. */
export function createReader(
  pool: Pool,
  resources: readonly Resource[],
  {
    storeId,
    bounds,
    viewBytesMax = viewBytesUsual,
    dialect = together,
  }: {
    readonly storeId: string
    readonly bounds: ServingBounds
    readonly viewBytesMax?: number
    /** That of Citus if its tables are spread. */
    readonly dialect?: Dialect
  },
): StoreReader {
  const queries = createQueries(pool, resources, bounds)
  const readWhole: StoreReader['readPage'] = async (resource, company, offset, limit) => {
    const found = await queries.gated(resource, ({ page }) =>
      queries.rows<[...FrameRow, ...unknown[]]>(page, [company, offset, limit]),
    )
    const [row] = found
    if (row === undefined) return undefined
    const frame = row.slice(0, 8) as FrameRow
    const range = rangeOf(resource, frame[0], offset, limit)
    const pieces = found.map((row) => row.slice(8)).filter(isPiece)
    return pageOf(frame, resource, { range, pieces, limit })
  }
  const selector = createSelector(resources, {
    dialect,
    views: createViews(viewBytesMax),
    rows: queries.query,
    makeView: async (resource, { sql, values }) =>
      viewOf(dialect, await queries.query(resource, sql, values)),
    readPage: readWhole,
  })

  return {
    storeId,
    async readHead(resource, company) {
      const [found] = await queries.rows<HeadRow>(queries.statementsOf(resource).head, [company])
      return found && headOf(found)
    },
    readPage: readWhole,
    ...selector,
    ...createCompanyReader(pool, resources, createGate('companies', gateBoundsOf(bounds)), dialect),
    async findKey(hash) {
      const { rows } = await pool.query<Row>({ name: 'key', text: findKeySql, values: [hash] })
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

/** The statements of each resource, and ways to run them through its gate. */
function createQueries(pool: Pool, resources: readonly Resource[], bounds: ServingBounds) {
  const statements = new Map(
    resources.map((resource) => [
      resource,
      {
        gate: createGate(resource.name, gateBoundsOf(bounds)),
        head: { name: `head ${resource.name}`, text: headSql(resource, company) },
        page: { name: `page ${resource.name}`, text: pageSql(resource) },
      },
    ]),
  )
  type Statements = typeof statements extends ReadonlyMap<Resource, infer S> ? S : never

  function statementsOf(resource: Resource): Statements {
    const found = statements.get(resource)
    if (found === undefined) throw new Error('the store was not opened for this resource')
    return found
  }

  function gated<T>(resource: Resource, read: (known: Statements) => Promise<T>): Promise<T> {
    const known = statementsOf(resource)
    return known.gate.run(() => read(known))
  }

  return {
    statementsOf,
    gated,
    /** The rows of a prepared statement, with their columns as arrays. */
    async rows<Row extends unknown[]>(
      statement: { name: string; text: string },
      values: unknown[],
    ): Promise<Row[]> {
      return (await pool.query<Row>({ ...statement, values, rowMode: 'array' })).rows
    },
    /** The rows of a query with named values on the tables of a resource. */
    query: (resource: Resource, sql: string, values: Values): Promise<Row[]> =>
      gated(resource, async () => (await pool.query<Row>(bind(sql, values))).rows),
  }
}

/** Whether a row has a piece: the only row of a page without records has none. */
function isPiece(columns: readonly unknown[]): columns is PieceRow {
  return columns[0] !== null
}

/** Leaves a quarter of the pool to other resources; pauses as long as it waits for a lock. */
function gateBoundsOf(bounds: ServingBounds) {
  const { pool, waitMs } = bounds
  const most = Math.max(1, pool - Math.max(1, Math.floor(pool / 4)))
  return { most, waitMs, restMs: lockMsOf(bounds) }
}
