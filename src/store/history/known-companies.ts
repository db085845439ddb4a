// Which companies are known after a revert: those that a version in force mentions. Their ids stay
// theirs.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { traceCompanies } from '../changes/trace.ts'
import { inBatches } from '../listing/in-batches.ts'
import type { CompanyRow, ListingTables } from '../listing/tables.ts'
import { readNumbers, type RegistryDatabase } from '../sql/database.ts'

/** The new versions of a revert, and the first one that it takes back. */
interface RevertedSpan {
  readonly first: number
  readonly from: number
  readonly until: number
}

const inForce = 'select version from imports where reverted_by is null'

/** Forgets the companies that no version in force mentions any more; returns their number. */
export async function forgetCompanies(
  db: RegistryDatabase,
  { until }: RevertedSpan,
): Promise<number> {
  const { tables } = db
  const candidates = `select id from companies where version not in (${inForce}) order by id`
  let forgotten = 0
  for await (const { some, mentioned } of eachBatch(db, candidates)) {
    const gone = some.filter((id) => !mentioned.has(id))
    const past = (await tables.companiesById(gone)).map(({ id, ...known }) => {
      return { companyId: id, ...known, until }
    })
    await tables.putPastCompanies(past)
    await tables.dropCompanies(gone)
    await traceCompanies(tables, until, gone)
    forgotten += gone.length
  }
  return forgotten
}

/**
 * Makes companies known again that were known before the reverted versions, and that a version in
 * force mentions again; returns their number.
 */
export async function reviveCompanies(
  db: RegistryDatabase,
  { first, from: version }: RevertedSpan,
): Promise<number> {
  const { tables } = db
  const wasKnown = `version < ${first} and until >= ${first}`
  const candidates = `
    select distinct company_id from companies_past where ${wasKnown} order by company_id`
  let count = 0
  for await (const { some, mentioned } of eachBatch(db, candidates)) {
    const known = new Set((await tables.companiesById(some)).map(({ id }) => id))
    const back = some.filter((id) => mentioned.has(id) && !known.has(id))
    const revived = new Map<number, CompanyRow>()
    for (const past of await tables.pastCompanies(back)) {
      const { companyId: id, jurisdiction, identifier } = past
      if (past.version >= first || past.until < first || revived.has(id)) continue
      revived.set(id, { id, jurisdiction, identifier, version })
    }
    await tables.putCompanies(await withoutTakenNames(tables, [...revived.values()]))
    await traceCompanies(tables, version, back)
    count += back.length
  }
  return count
}

const companiesAtOnce = 1_000

/** The companies that a query finds, some at once, and those of them that are mentioned. */
async function* eachBatch(db: RegistryDatabase, candidates: string) {
  for (const some of inBatches(await readNumbers(db, candidates), companiesAtOnce)) {
    yield { some, mentioned: await findMentioned(db, some) }
    await nextTurn()
  }
}

/**
 * Those of the companies that have records now, or of which an import in force has changed a
 * listing. (A revert in force only brings back what imports in force have said, or takes away.)
 */
async function findMentioned(
  db: RegistryDatabase,
  companies: readonly number[],
): Promise<ReadonlySet<number>> {
  const rows = await db.rows<[company: number]>(
    `select distinct company_id from heads h
     where ${db.dialect.isOneOf('company_id', '$1', 'bigint')}
       and (version in (${inForce} and reverts is null) or total > 0 and not exists (
         select 1 from heads l where l.company_id = h.company_id and l.listing = h.listing
           and l.version > h.version
       ))`,
    companies,
  )
  return new Set(rows.map(([company]) => company))
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
