// Serves from PostgreSQL: a page is a head and a run of segments, over any connection of a pool.

import type { Client, Pool } from 'pg'
import { readChanges } from '../changes/read-changes.ts'
import { readCopy } from '../exports/read-copy.ts'
import { closing } from '../closing.ts'
import type { StoreReader, CompanyReader } from '../reading.ts'
import { readCompany } from '../serving/company.ts'
import { createListingReader } from '../serving/listings.ts'
import type { ServingReads } from '../serving/reads.ts'
import { createValueCounts } from '../serving/value-counts.ts'
import { comparable } from '../sql/dialect.ts'
import { findCompanies, findNames } from '../sql/find-companies.ts'
import { formerCompanySql } from '../sql/read-company.ts'
import { findVersion, lastImports, readRegistry, readVersions } from '../sql/versions.ts'
import { type KeyColumns, keyColumns, keyRecord } from '../sql/stored-keys.ts'
import { readState } from '../withholding/list/agreement.ts'
import { createEvenState } from './citus/even.ts'
import { createGate, openGate, companyPlace, type Place } from './citus/gate.ts'
import type { NodeRole } from './citus/nodes.ts'
import { withConnection } from './connect.ts'
import { rowsIn, createSnapshots } from './pool-rows.ts'
import { createReads, type DistributedReading } from './reads.ts'

/** `$1` is a key's hash. */
export const findKeySql = `select ${keyColumns} from keys where hash = $1`

/** How a store is served. */
interface ReaderOptions {
  readonly storeId: string
  /** On which node of Citus it is read, if that has distributed its tables. */
  readonly role?: NodeRole | undefined
  /** Throws if a session can no longer read its tables. */
  readonly check: (client: Client) => Promise<void>
}

/** Makes the reader of a store whose tables have been checked. */
export function createReader(pool: Pool, { storeId, role, check }: ReaderOptions): StoreReader {
  const reading =
    role === undefined
      ? { gate: openGate, even: undefined }
      : { gate: createGate(pool), even: createEvenState(pool, role === 'worker') }
  const reads = createReads(pool, reading)
  const queries = { rows: rowsIn(pool) }
  return {
    storeId,
    ...createListingReader(reads),
    ...createCompanyReader(pool, reads, reading),
    findVersion: (resource, moment) => findVersion(queries, resource, moment),
    withheldState: () => readState(queries),
    async findKey(hash) {
      const [row] = await queries.rows<KeyColumns>(findKeySql, hash)
      return row && keyRecord(row)
    },
    lastImports: () => lastImports(queries),
    ping: () => withConnection(pool, check),
    ...closing(() => pool.end()),
  }
}

const findCompanySql =
  'select company_id from company_names where identifier = $1 and jurisdiction = $2'

function createCompanyReader(
  pool: Pool,
  reads: ServingReads,
  { gate, even }: DistributedReading,
): CompanyReader {
  const { inSnapshot, acrossNodes, ofVersions } = createSnapshots(pool, reads, even)
  const rows = rowsIn(pool)
  const countListings = createValueCounts()
  return {
    async findCompany([jurisdiction, identifier], version) {
      const find = (place: Place | undefined, sql: string, ...more: number[]) =>
        gate(place, async () => {
          const [row] = await rows<[id: number]>(sql, identifier, jurisdiction, ...more)
          return row?.[0]
        })
      const former =
        version === undefined
          ? undefined
          : await find(undefined, formerCompanySql, comparable(version))
      return former ?? find({ table: 'company_names', value: identifier }, findCompanySql)
    },
    findNames: (names, limit) => gate(undefined, () => findNames(ofVersions, names, limit)),
    findCompanies: (query) =>
      gate(undefined, () => acrossNodes((snapshot) => findCompanies(snapshot, query))),
    // What a company was at a version never changes.
    readCompany: async (asked) =>
      gate(companyPlace(asked.companyId), async () =>
        reads.now(() => readCompany(ofVersions, asked, countListings)),
      ),
    readRegistry: () => readRegistry(ofVersions),
    readChanges: (asked) => {
      const { companyId } = asked
      const place = companyId === undefined ? undefined : companyPlace(companyId)
      return gate(place, () => acrossNodes((snapshot) => readChanges(snapshot, asked)))
    },
    readCopy: (asked) =>
      gate(undefined, () => acrossNodes((snapshot) => readCopy(snapshot, asked))),
    readVersions: (range) => inSnapshot((snapshot) => readVersions(snapshot, range)),
  }
}
