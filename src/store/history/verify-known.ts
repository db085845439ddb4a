// What a verification knows of versions, sources and companies.

import type { CompanyRow, PastCompanyRow } from '../listing/tables.ts'
import type { RegistryDatabase } from '../registry-connection.ts'
import { readValue } from '../sql/database.ts'
import type { Report } from './faults.ts'

export type Known = Awaited<ReturnType<typeof readKnown>>

/** Reads versions and sources, and companies as they are needed. */
export async function readKnown(db: RegistryDatabase, report: Report) {
  const numbers = async (sql: string) =>
    new Set((await db.rows(sql)).map((row) => Number(Object.values(row)[0])))
  const versions = await numbers('select version from imports')
  const sources = await numbers('select id from sources')
  const pastFrom = Number(await readValue(db, 'select past_from from store'))
  let companies = new Map<number, CompanyRow>()
  let past = new Map<number, PastCompanyRow[]>()

  /** A listing may have become empty in the version that has forgotten its company. */
  function isKnownAt(companyId: number, version: number): boolean {
    const company = companies.get(companyId)
    const former = past.get(companyId) ?? []
    // What is known of earlier versions was pruned.
    if (version <= pastFrom) return company !== undefined || former.length > 0
    if (company !== undefined && company.version <= version) return true
    return former.some((one) => one.version <= version && version <= one.until)
  }

  return {
    hasSource: (source: number) => sources.has(source),
    hasVersion: (version: number) => versions.has(version),
    /** Reads what is known of companies, instead of those before. */
    async read(ids: readonly number[]): Promise<void> {
      companies = new Map((await db.tables.companiesById(ids)).map((one) => [one.id, one]))
      past = Map.groupBy(await db.tables.pastCompanies(ids), ({ companyId }) => companyId)
    },
    checkHead(listing: string, companyId: number, version: number): void {
      const head = `${listing} of company ${companyId}, version ${version}`
      if (!versions.has(version)) report('head versions', `${head}: there is no such version`)
      else if (!isKnownAt(companyId, version)) {
        report('head companies', `${head}: the company is not known then`)
      }
    },
  }
}
