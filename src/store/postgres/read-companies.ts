// Reads companies from PostgreSQL, apart from their listings.

import type { Pool } from 'pg'
import { readChanges } from '../changes/read-changes.ts'
import type { CompanyReader } from '../reading.ts'
import { readCompany } from '../serving/company.ts'
import type { ServingReads } from '../serving/reads.ts'
import { createKeptCounts } from '../serving/value-counts.ts'
import type { Queries, Row } from '../sql/database.ts'
import type { Dialect } from '../sql/dialect.ts'
import { findCompanies, readRegistry } from '../sql/find-companies.ts'
import { findVersion } from '../sql/find-version.ts'
import { findNames } from '../sql/inspect.ts'
import { readVersions } from '../sql/versions.ts'
import { companyPlace } from './citus-gate.ts'
import { dialect, spreadDialect } from './dialect.ts'
import { bind } from './parameters.ts'
import { rowsIn, withConnection } from './pool-rows.ts'
import type { SpreadReading } from './reads.ts'
import { createSnapshots } from './snapshot.ts'

const findCompanySql =
  'select company_id from company_names where identifier = $1 and jurisdiction = $2'

export function createCompanyReader(
  pool: Pool,
  reads: ServingReads,
  { gate, even }: SpreadReading,
): CompanyReader {
  const { inSnapshot, acrossNodes, ofVersions } = createSnapshots(pool, reads, even)
  const rows = rowsIn(pool)
  const queries = queriesOf(pool, even === undefined ? dialect : spreadDialect)
  const kept = createKeptCounts()
  return {
    findCompany: ([jurisdiction, identifier]) =>
      gate({ table: 'company_names', value: identifier }, async () => {
        const [row] = await rows<[id: number]>(findCompanySql, identifier, jurisdiction)
        return row?.[0]
      }),
    findNames: (names, limit) => gate(undefined, () => findNames(queries, names, limit)),
    findCompanies: (query) =>
      gate(undefined, () => acrossNodes((snapshot) => findCompanies(snapshot, query))),
    // What a company was at a version never changes.
    readCompany: async (asked) =>
      gate(companyPlace(asked.companyId), async () =>
        reads.now(() => readCompany(ofVersions, asked, kept)),
      ),
    findRegistryVersion: (moment) => findVersion(queries, undefined, moment),
    readRegistry: () => readRegistry(ofVersions),
    readChanges: (asked) => {
      const { companyId } = asked
      const place = companyId === undefined ? undefined : companyPlace(companyId)
      return gate(place, () => acrossNodes((snapshot) => readChanges(snapshot, asked)))
    },
    readVersions: (range) => inSnapshot((snapshot) => readVersions(snapshot, range)),
  }
}

/** Queries that are not prepared, each over any connection of the pool. */
export function queriesOf(pool: Pool, dialect: Dialect): Queries {
  return {
    dialect,
    rows: (sql, values = {}) =>
      withConnection(pool, async (client) => (await client.query<Row>(bind(sql, values))).rows),
  }
}
