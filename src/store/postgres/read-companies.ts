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
import { dialect, spreadDialect } from './dialect.ts'
import { bind } from './parameters.ts'
import { createSnapshots } from './snapshot.ts'

const findCompany = {
  name: 'company',
  text: 'select company_id from company_names where identifier = $1 and jurisdiction = $2',
  rowMode: 'array',
} as const

export function createCompanyReader(
  pool: Pool,
  reads: ServingReads,
  isSpread: boolean,
): CompanyReader {
  const { inSnapshot, acrossNodes, ofVersions } = createSnapshots(pool, reads, isSpread)
  const queries = queriesOf(pool, isSpread ? spreadDialect : dialect)
  const kept = createKeptCounts()
  return {
    async findCompany([jurisdiction, identifier]) {
      const values = [identifier, jurisdiction]
      const { rows } = await pool.query<[id: number]>({ ...findCompany, values })
      return rows[0]?.[0]
    },
    findNames: (names, limit) => findNames(queries, names, limit),
    findCompanies: (query) => {
      const look = acrossNodes(['companies', 'words' in query ? 'words' : 'company_names'])
      return look((snapshot) => findCompanies(snapshot, query))
    },
    // What a company was at a version never changes.
    readCompany: async (asked) => reads.now(() => readCompany(ofVersions, asked, kept)),
    findRegistryVersion: (moment) => findVersion(queries, undefined, moment),
    readRegistry: () => readRegistry(ofVersions),
    readChanges: (asked) => {
      const look = asked.companyId === undefined ? acrossNodes(['companies']) : inSnapshot
      return look((snapshot) => readChanges(snapshot, asked))
    },
    readVersions: (range) => inSnapshot((snapshot) => readVersions(snapshot, range)),
  }
}

/** Queries that are not prepared, each over any connection of the pool. */
export function queriesOf(pool: Pool, dialect: Dialect): Queries {
  return {
    dialect,
    rows: async (sql, values = {}) => (await pool.query<Row>(bind(sql, values))).rows,
  }
}
