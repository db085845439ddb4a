// Reads what is known of a company at a version, from tables that are not listings.

import type { HeadRow, RegisterNumber } from '../listing/tables.ts'
import type { Snapshot } from './database.ts'
import { headColumns, type HeadColumns, headOf } from './head-tables.ts'

/** A company as its register named it. */
export interface Identity extends RegisterNumber {
  /** The version that made it known. */
  readonly since: number
  /** The version in which any of this last changed. */
  readonly changedIn: number
}

/** The company that had the identifier $1 in the jurisdiction $2 at the version $3, and lost it. */
export const formerCompanySql = `
  select company_id from companies_past
  where identifier = $1 and jurisdiction = $2 and version <= $3 and until > $3`

/** A company at a version; undefined if it was not known. */
export async function readIdentity(
  { tables }: Snapshot,
  companyId: number,
  version: number,
): Promise<Identity | undefined> {
  // In this order: a state that is replaced meanwhile is then found among the former ones.
  const [now] = await tables.companiesById([companyId])
  const past = await tables.pastCompanies([companyId])
  const then = [...past, ...(now === undefined ? [] : [{ ...now, until: Infinity }])].find(
    (state) => state.version <= version && state.until > version,
  )
  if (then === undefined) return undefined
  const { jurisdiction, identifier, version: since } = then
  // Its identifier may have become known only later.
  const changes = past.map(({ until }) => until).filter((until) => until <= version)
  return { jurisdiction, identifier, since, changedIn: Math.max(since, ...changes) }
}

/** The heads of a company's listings at a version, by their names. */
export async function readCompanyHeads(
  snapshot: Snapshot,
  listings: readonly string[],
  companyId: number,
  version: number,
): Promise<ReadonlyMap<string, HeadRow>> {
  type Columns = readonly [...HeadColumns, listing: string]
  const sql = snapshot.dialect.headsOfCompany(`${headColumns}, h.listing`)
  const rows = await snapshot.rows<Columns>(sql, companyId, listings, version)
  return new Map(rows.map((row) => [row[6], headOf(row)]))
}
