// Serves from PostgreSQL: a page is a head and a run of segments, over any connection of a pool.

import type { Pool, QueryConfig, QueryResultRow } from 'pg'
import type { LastImport, StoreReader } from '../reading.ts'
import { createListingReader } from '../serving/listings.ts'
import { createViews, viewBytesUsual } from '../serving/views.ts'
import type { Row } from '../sql/database.ts'
import { findVersion } from '../sql/find-version.ts'
import { lastImportsSql } from '../sql/last-imports.ts'
import { keyColumns, keyRecord } from '../sql/stored-keys.ts'
import { dialect } from './dialect.ts'
import { createEvenState } from './citus-even.ts'
import { createGate, openGate } from './citus-gate.ts'
import { withConnection } from './pool-rows.ts'
import { createCompanyReader, queriesOf } from './read-companies.ts'
import type { Spread } from './migrate.ts'
import { createReads } from './reads.ts'

/** `$1` is a key's hash. */
export const findKeySql = `select ${keyColumns} from keys where hash = $1`

/** How a store is served. */
interface ReaderOptions {
  readonly storeId: string
  readonly viewBytesMax?: number
  /** On which node of Citus it is read, if that has spread its tables. */
  readonly spread?: Spread | undefined
}

/** Makes the reader of a store whose tables have been checked. */
export function createReader(
  pool: Pool,
  { storeId, viewBytesMax = viewBytesUsual, spread }: ReaderOptions,
): StoreReader {
  const reading =
    spread === undefined
      ? { gate: openGate, even: undefined }
      : { gate: createGate(pool), even: createEvenState(pool, spread === 'worker') }
  const reads = createReads(pool, reading)
  const queries = queriesOf(pool, dialect)
  const query = <R extends QueryResultRow>(config: QueryConfig) =>
    withConnection(pool, async (client) => (await client.query<R>(config)).rows)
  return {
    storeId,
    ...createListingReader(reads, createViews(viewBytesMax)),
    ...createCompanyReader(pool, reads, reading),
    findVersion: (resource, moment) => findVersion(queries, resource, moment),
    async findKey(hash) {
      const [row] = await query<Row>({ name: 'key', text: findKeySql, values: [hash] })
      return row && keyRecord(row)
    },
    lastImports: () => query<LastImport>({ text: lastImportsSql }),
    async ping() {
      await query({ text: 'select from store' })
    },
    close: () => pool.end(),
  }
}
