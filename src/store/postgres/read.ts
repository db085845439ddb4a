// Serves from PostgreSQL: a page is a head and a run of segments, over any connection of a pool.

import type { Pool } from 'pg'
import type { LastImport, StoreReader } from '../reading.ts'
import { createListingReader } from '../serving/listings.ts'
import { createViews, viewBytesUsual } from '../serving/views.ts'
import type { Row } from '../sql/database.ts'
import { findVersion } from '../sql/find-version.ts'
import { lastImportsSql } from '../sql/last-imports.ts'
import { keyColumns, keyRecord } from '../sql/stored-keys.ts'
import { dialect, spreadDialect } from './dialect.ts'
import { preparedRows } from './prepared.ts'
import { createCompanyReader, queriesOf } from './read-companies.ts'
import { createReads } from './reads.ts'

/** `$1` is a key's hash. */
export const findKeySql = `select ${keyColumns} from keys where hash = $1`

/** How a store is served. */
interface ReaderOptions {
  readonly storeId: string
  readonly viewBytesMax?: number
  /** Whether Citus has distributed the tables over several nodes. */
  readonly isSpread?: boolean
}

/** Makes the reader of a store whose tables have been checked. */
export function createReader(
  pool: Pool,
  { storeId, viewBytesMax = viewBytesUsual, isSpread = false }: ReaderOptions,
): StoreReader {
  const reads = createReads(preparedRows(pool))
  const queries = queriesOf(pool, isSpread ? spreadDialect : dialect)
  return {
    storeId,
    ...createListingReader(reads, createViews(viewBytesMax)),
    ...createCompanyReader(pool, reads, isSpread),
    findVersion: (resource, moment) => findVersion(queries, resource, moment),
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
