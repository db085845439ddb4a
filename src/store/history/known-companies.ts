// Which companies are known after a revert: those that come back are known again, and those that no
// version in force mentions are forgotten. Their ids stay theirs.

import { traceCompanies } from '../changes/trace.ts'
import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  inBatches,
  type CompanyRow,
  type ListingTables,
  type PastCompanyRow,
} from '../listing/tables.ts'
import { type Database, readNumbers, type RegistryDatabase } from '../sql/database.ts'
import type { RevertGroup } from './reverted-versions.ts'

const companiesAtOnce = 1_000

/** The revert that makes companies known again. */
export interface Revival {
  readonly version: number
  /** The first of the versions that it takes back. */
  readonly first: number
}

/**
 * Makes those of the companies known again that were known before the reverted versions.
 *
 * @returns their number.
 */
export async function reviveCompanies(
  tables: ListingTables,
  companies: readonly number[],
  { version, first }: Revival,
): Promise<number> {
  if (companies.length === 0) return 0
  const known = new Set((await tables.companiesById(companies)).map(({ id }) => id))
  const unknown = companies.filter((id) => !known.has(id))
  if (unknown.length === 0) return 0
  const revived = new Map<number, CompanyRow>()
  for (const past of await tables.pastCompanies(unknown)) {
    const { companyId: id, jurisdiction, identifier } = past
    const wasKnown = past.version < first && past.until >= first
    if (wasKnown && !revived.has(id)) revived.set(id, { id, jurisdiction, identifier, version })
  }
  await tables.putCompanies(await withoutTakenNames(tables, [...revived.values()]))
  await traceCompanies(tables, version, [...revived.keys()])
  return revived.size
}

/** Another company may have got the name. */
async function withoutTakenNames(
  tables: ListingTables,
  companies: readonly CompanyRow[],
): Promise<readonly CompanyRow[]> {
  const nameOf = ({ jurisdiction, identifier }: CompanyRow) =>
    jurisdiction === null || identifier === null ? [] : [[jurisdiction, identifier] as const]
  const taken = new Set(
    (await tables.companiesByName(companies.flatMap(nameOf))).map((one) =>
      JSON.stringify(nameOf(one)),
    ),
  )
  return companies.map((one) => {
    const name = JSON.stringify(nameOf(one))
    const isTaken = taken.has(name)
    if (one.identifier !== null) taken.add(name)
    return isTaken ? { ...one, jurisdiction: null, identifier: null } : one
  })
}

/** Makes the companies known again that reverts among the reverted versions have forgotten. */
export async function reviveForgotten(
  db: RegistryDatabase,
  { versions }: RevertGroup,
  revival: Revival,
): Promise<number> {
  const reverts = versions.filter((one) => one.reverts.length > 0).map(({ version }) => version)
  if (reverts.length === 0) return 0
  const found = await readNumbers(
    db,
    `select company_id from companies_past where until in (${reverts.join(', ')})`,
  )
  let revived = 0
  for (const some of inBatches(found, companiesAtOnce)) {
    revived += await reviveCompanies(db.tables, some, revival)
    await nextTurn()
  }
  return revived
}

/**
 * Forgets the companies that no version in force mentions.
 *
 * @param version the last one, in which they are not known any more.
 * @returns their number.
 */
export async function forgetCompanies(db: RegistryDatabase, version: number): Promise<number> {
  const { tables } = db
  const inForce = 'select version from imports where reverted_by is null'
  const imports = await db.rows(`${inForce} and reverts is null`)
  const mentioning = new Set(imports.map((row) => Number(row['version'])))
  const candidates = await readNumbers(
    db,
    `select id from companies where version not in (${inForce}) order by id`,
  )
  let forgotten = 0
  for (const some of inBatches(candidates, companiesAtOnce)) {
    const mentioned = await findMentioned(db, some, mentioning)
    const gone = some.filter((id) => !mentioned.has(id))
    const past = (await tables.companiesById(gone)).map(({ id, ...known }): PastCompanyRow => ({
      companyId: id,
      ...known,
      until: version,
    }))
    await tables.putPastCompanies(past)
    await tables.dropCompanies(gone)
    await traceCompanies(tables, version, gone)
    forgotten += gone.length
    await nextTurn()
  }
  return forgotten
}

/**
 * Those of the companies that have records now, or of which an import in force has changed a
 * listing. (A revert in force only brings back what imports in force have said, or takes away.)
 */
async function findMentioned(
  db: Database,
  companies: readonly number[],
  mentioning: ReadonlySet<number>,
): Promise<ReadonlySet<number>> {
  const rows = await db.rows(
    `select company_id, listing, version, total from heads
     where ${db.dialect.isOneOf('company_id', '$ids', 'bigint')}
     order by company_id, listing, version`,
    { ids: companies },
  )
  const mentioned = new Set<number>()
  for (const [at, row] of rows.entries()) {
    const next = rows[at + 1]
    const isLast =
      next?.['company_id'] !== row['company_id'] || next?.['listing'] !== row['listing']
    const hasRecords = isLast && Number(row['total']) > 0
    if (hasRecords || mentioning.has(Number(row['version']))) {
      mentioned.add(Number(row['company_id']))
    }
  }
  return mentioned
}
