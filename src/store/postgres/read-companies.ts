// Reads companies from PostgreSQL, apart from their listings.

import type { Pool } from 'pg'
import type { CompanyReader } from '../reading.ts'
import type { Queries, Row } from '../sql/database.ts'
import { findCompanies, readRegistry } from '../sql/find-companies.ts'
import { findNames } from '../sql/inspect.ts'
import { readVersions } from '../sql/versions.ts'
import { dialect } from './dialect.ts'
import { bind } from './parameters.ts'
import { createSnapshots } from './snapshot.ts'

const findCompany = {
  name: 'company',
  text: 'select company_id from company_names where identifier = $1 and jurisdiction = $2',
  rowMode: 'array',
} as const

export function createCompanyReader(pool: Pool): CompanyReader {
  const inSnapshot = createSnapshots(pool)
  return {
    async findCompany([jurisdiction, identifier]) {
      const values = [identifier, jurisdiction]
      const { rows } = await pool.query<[id: number]>({ ...findCompany, values })
      return rows[0]?.[0]
    },
    findNames: (names, limit) => findNames(queriesOf(pool), names, limit),
    findCompanies: (query) => inSnapshot((snapshot) => findCompanies(snapshot, query)),
    readRegistry: () => inSnapshot(readRegistry),
    readVersions: (range) => inSnapshot((snapshot) => readVersions(snapshot, range)),
  }
}

/** Queries that are not prepared, each over any connection of the pool. */
function queriesOf(pool: Pool): Queries {
  return {
    dialect,
    rows: async (sql, values = {}) => (await pool.query<Row>(bind(sql, values))).rows,
  }
}
