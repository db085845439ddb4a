// Reads companies from PostgreSQL, apart from their listings.

import type { Pool } from 'pg'
import type { Resource } from '../../resources/resource.ts'
import type { CompanyReader } from '../reading.ts'
import type { CountRow } from '../sql/count-values.ts'
import type { Queries, Row } from '../sql/database.ts'
import { findCompanies, readRegistry } from '../sql/find-companies.ts'
import type { Dialect } from '../sql/dialect.ts'
import { findVersion } from '../sql/find-version.ts'
import { findNames } from '../sql/inspect.ts'
import { readCompany } from '../sql/read-company.ts'
import type { CompanyFrom } from '../sql/read-company.ts'
import { createKeptCounts } from '../value-counts.ts'
import { readVersions } from '../sql/versions.ts'
import type { Gate } from './gate.ts'
import { bind } from './parameters.ts'
import { createSnapshots } from './snapshot.ts'

const findCompany = {
  name: 'company',
  text: 'select company_id from company_names where identifier = $1 and jurisdiction = $2',
  rowMode: 'array',
} as const

/** @param gate that of reading companies as a whole, which reads the tables of every listing. */
export function createCompanyReader(
  pool: Pool,
  resources: readonly Resource[],
  gate: Gate,
  dialect: Dialect,
): CompanyReader {
  const { inSnapshot, acrossNodes, ofOneQuery } = createSnapshots(pool, dialect)
  const from: CompanyFrom = {
    resources,
    inSnapshot: (work) => gate.run(() => inSnapshot(work)),
    kept: createKeptCounts(),
    readLong: async (snapshot, { sql, values }) => snapshot.rows<CountRow>(sql, ...values),
  }
  return {
    async findCompany([jurisdiction, identifier]) {
      const values = [identifier, jurisdiction]
      const { rows } = await pool.query<[id: number]>({ ...findCompany, values })
      return rows[0]?.[0]
    },
    findNames: (names, limit) => findNames(queriesOf(pool, dialect), names, limit),
    findCompanies: (query) => {
      const look = acrossNodes(['companies', 'words' in query ? 'words' : 'company_names'])
      return look((snapshot) => findCompanies(snapshot, query))
    },
    readCompany: (asked) => readCompany(from, asked),
    findRegistryVersion: (moment) => findVersion(queriesOf(pool, dialect), undefined, moment),
    readRegistry: () => readRegistry(ofOneQuery),
    readVersions: (range) => inSnapshot((snapshot) => readVersions(snapshot, range)),
  }
}

/** Queries that are not prepared, each over any connection of the pool. */
function queriesOf(pool: Pool, dialect: Dialect): Queries {
  return {
    dialect,
    rows: async (sql, values = {}) => (await pool.query<Row>(bind(sql, values))).rows,
  }
}
