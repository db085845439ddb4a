// Reads what is known of a company at a version, from tables that are not listings.

import type { HeadRow } from '../listing/tables.ts'
import type { Snapshot } from './database.ts'

/** A company as its register named it. */
export interface Identity {
  readonly jurisdiction: string | null
  readonly identifier: string | null
  /** The version that had made it known. */
  readonly since: number
  /** The version in which any of this last changed. */
  readonly changedIn: number
}

type IdentityRow = readonly [
  jurisdiction: string | null,
  identifier: string | null,
  since: number,
  until: number | null,
]

// It may have been told its register only later.
const identitySql = `
  select k.jurisdiction, k.identifier, k.since, (
    select max(p.until) from companies_past p where p.company_id = $1 and p.until <= $2
  )
  from (
    select
      case when p.until is null then c.jurisdiction else p.jurisdiction end as jurisdiction,
      case when p.until is null then c.identifier else p.identifier end as identifier,
      case when p.until is null then c.version else p.version end as since
    from (select 1 as one) o
    left join companies c on c.id = $1 and c.version <= $2
    left join companies_past p on p.company_id = $1 and p.version <= $2 and p.until > $2
    order by p.until limit 1
  ) k
  where k.since is not null`

/** A company at a version; undefined if it was not known. */
export async function readIdentity(
  snapshot: Snapshot,
  companyId: number,
  version: number,
): Promise<Identity | undefined> {
  const [row] = await snapshot.rows<IdentityRow>(identitySql, companyId, version)
  if (row === undefined) return undefined
  const [jurisdiction, identifier, since, until] = row
  return { jurisdiction, identifier, since, changedIn: Math.max(since, until ?? 0) }
}

type CompanyHeadRow = readonly [
  listing: string,
  version: number,
  total: number,
  meta: string | null,
  largest: number,
  directory: string,
]

const headsSql = `
  select h.listing, h.version, h.total, h.meta, h.largest, h.directory
  from heads h where h.company_id = $1 and h.version = (
    select max(l.version) from heads l
    where l.company_id = $1 and l.listing = h.listing and l.version <= $2
  )`

/** The heads of a company's listings at a version, by their names. */
export async function readCompanyHeads(
  snapshot: Snapshot,
  companyId: number,
  version: number,
): Promise<ReadonlyMap<string, HeadRow>> {
  const rows = await snapshot.rows<CompanyHeadRow>(headsSql, companyId, version)
  return new Map(
    rows.map(([listing, version, total, meta, largest, directory]) => [
      listing,
      { companyId, version, total, meta, largest, directory },
    ]),
  )
}
