// Reads what is known of a company at a version, from tables that are not listings.

import { attributesShape } from '../listing/shape.ts'
import { type HeadRow, type RegisterNumber, versionEnd } from '../listing/tables.ts'
import type { Dialect, RowReader } from './dialect.ts'
import { firstSegmentOf, headColumns, type HeadColumns, headOf, heldByHead } from './head-tables.ts'

/** A company as its register named it. */
export interface Identity extends RegisterNumber {
  /** The version that made it known. */
  readonly since: number
  /** The version in which any of this last changed. */
  readonly changedIn: number
}

/** The company that had the identifier $1 in the jurisdiction $2 at the version $3, and lost it. */
export const formerCompanySql = `
  select company_id from company_states
  where identifier = $1 and jurisdiction = $2 and since <= $3 and until > $3
    and until < ${versionEnd}`

const identitySql = `
  select jurisdiction, identifier, since, version from company_states
  where company_id = $1 and version <= $2 and until > $2`

/** A company at a version; undefined if it was not known. */
export async function readIdentity(
  db: RowReader,
  companyId: number,
  version: number,
): Promise<Identity | undefined> {
  type Columns = readonly [string | null, string | null, since: number, changedIn: number]
  const [found] = await db.rows<Columns>(identitySql, companyId, version)
  if (found === undefined) return undefined
  const [jurisdiction, identifier, since, changedIn] = found
  return { jurisdiction, identifier, since, changedIn }
}

const lastTraceSql = `
  select max(version) from traces
  where company_id = $1 and listing = $2 and version > $3 and version <= $4`

/** The version in which its number, or the attribute that has its name, last changed. */
export async function readNamedIn(
  db: RowReader,
  companyId: number,
  { changedIn }: Identity,
  version: number,
): Promise<number> {
  const [[last] = [null]] = await db.rows<[version: number | null]>(
    ...([lastTraceSql, companyId, attributesShape.listing, changedIn, version] as const),
  )
  return last ?? changedIn
}

/** A head, and what was read with it of its first segment; else null. */
export interface CompanyHead {
  readonly head: HeadRow
  readonly entries: Uint8Array | null
  /** Only of what sources say. */
  readonly texts: Uint8Array | null
}

/** The heads of a company's listings at a version, by their names. */
export async function readCompanyHeads(
  db: RowReader,
  listings: readonly string[],
  companyId: number,
  version: number,
): Promise<ReadonlyMap<string, CompanyHead>> {
  type Bytes = Uint8Array | null
  type Columns = readonly [...HeadColumns, listing: string, entries: Bytes, texts: Bytes]
  const found = await db.rows<Columns>(headsSql(db.dialect), companyId, listings, version)
  return new Map(
    found.map((row) => {
      const [, , , , , , listing, entries, texts] = row
      return [listing, { head: headOf(row), entries, texts }]
    }),
  )
}

/** Each segment that is read on its own costs as much as three that are read with their heads. */
function headsSql(dialect: Dialect): string {
  const first = dialect.holdsSegments ? heldByHead : firstSegmentOf(dialect, '$1')
  const texts = `case when h.listing = '${attributesShape.listing}' then ${first.texts} end`
  return `
    select ${headColumns}, h.listing, ${first.entries}, ${texts}
    from (${dialect.headsOfCompany('h.*')}) h ${first.join}`
}
