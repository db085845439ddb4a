// Finds, names and creates the companies to which the rows of an import refer.

import { traceCompanies } from '../changes/trace.ts'
import { assignedIdMin, lastBeforeAssigned } from '../sql/assigned-ids.ts'
import { inBatches } from '../listing/in-batches.ts'
import { type CompanyRow, type ListingTables, versionEnd } from '../listing/tables.ts'
import type { ImportContext } from './context.ts'
import { companyIdIn } from './staging/spool.ts'
import type { Staging } from './staging/staging.ts'

const batchLength = 5_000

/** The companies that rows name by their ids, in ascending order. */
export function* givenCompanies(staging: Staging): Generator<number> {
  if (staging.isLoaded()) {
    const given = staging.iterate(
      'select distinct given_company from stage where given_company is not null order by 1',
    )
    for (const [company] of given) yield Number(company)
    return
  }
  const cut = staging.cut()
  if (cut !== undefined) {
    yield* cut.companies()
    return
  }
  let last = 0
  for (const { bytes } of staging.spooled()) {
    const company = companyIdIn(bytes)
    if (company !== last) yield company
    last = company
  }
}

/**
 * Copies the registry's companies that rows name into `companies`, and former names into
 * `forgotten`.
 */
async function copyCompanies(staging: Staging, tables: ListingTables): Promise<void> {
  const copy = (rows: readonly CompanyRow[]) => {
    for (const row of rows) {
      staging.insert('companies', row.id, row.jurisdiction, row.identifier, 0, 0, row.since)
    }
  }
  for (const ids of inBatches(givenCompanies(staging), batchLength)) {
    copy(await tables.companiesById(ids))
  }
  if (!staging.facts.hasNames) return
  if ((await tables.lastCompanyId(Number.MAX_SAFE_INTEGER)) === 0) return
  const names = staging.iterate(
    `select distinct jurisdiction, identifier from stage
     where jurisdiction is not null and identifier is not null`,
  )
  for (const batch of inBatches(names, batchLength)) {
    const asked = batch.map((row) => row as readonly [string, string])
    const found = await tables.companiesByName(asked)
    copy(found)
    if (found.length === asked.length) continue
    const forgotten = await tables.forgottenByName(asked)
    for (const { id, jurisdiction, identifier } of forgotten) {
      staging.insert('forgotten', id, jurisdiction, identifier)
    }
    // Records may have mentioned them meanwhile, by their ids.
    copy(await tables.companiesById(forgotten.map(({ id }) => id)))
  }
}

/**
 * The companies with a jurisdiction and identifier that no company has yet, each once. A forgotten
 * company gets its former id.
 */
const createReference = `
  create table reference as
    select coalesce(given_company, f.company_id) as id, s.jurisdiction, s.identifier,
      min(seq) as seq
    from stage s
    left join (select distinct company_id, jurisdiction, identifier from forgotten) f
      on f.jurisdiction = s.jurisdiction and f.identifier = s.identifier
    where s.identifier is not null and at is not null
      and not exists (
        select 1 from companies n
        where n.jurisdiction = s.jurisdiction and n.identifier = s.identifier
      )
    group by 1, 2, 3`

/** Names a company that was known only by its id, unless another company has the name. */
const nameCompanies = `
  update or ignore companies set jurisdiction = r.jurisdiction, identifier = r.identifier,
    is_named = 1
  from reference r where r.id = companies.id and companies.jurisdiction is null`

const createWithId = `
  insert or ignore into companies (id, jurisdiction, identifier, is_new)
    select id, jurisdiction, identifier, 1 from reference where id is not null order by seq`

/** The names of companies that get assigned ids. */
const withoutId = `
  from reference r
  where r.id is null and not exists (
    select 1 from companies c
    where c.jurisdiction = r.jurisdiction and c.identifier = r.identifier
  )`

const createByName = `
  insert into companies (id, jurisdiction, identifier, is_new)
    select $lastId + row_number() over (order by min(seq)), jurisdiction, identifier, 1
    ${withoutId}
    group by jurisdiction, identifier`

const countByName = `select count(*) ${withoutId}`
const lastMade = 'select max(id) from companies where id < ?'
const lastGiven = 'select max(given_company) from stage where given_company < ?'

const createById = `
  insert or ignore into companies (id, is_new)
    select distinct given_company, 1 from stage
    where identifier is null and given_company is not null`

/** If all rows name companies by id alone, creates those that the rows are the first to name. */
export async function makeById(staging: Staging, tables: ListingTables): Promise<void> {
  for (const ids of inBatches(givenCompanies(staging), batchLength)) {
    const known = new Set((await tables.companiesById(ids)).map(({ id }) => id))
    const made = ids.filter((id) => !known.has(id))
    for (const id of made) staging.insert('companies', id, null, null, 1, 0, null)
  }
}

/** Names and creates companies in the staging; `writeCompanies` brings them to the registry. */
export async function makeCompanies({ staging, tables, plan }: ImportContext): Promise<void> {
  await copyCompanies(staging, tables)
  if (staging.facts.hasNames) staging.run([createReference, nameCompanies])
  if (plan.knownCompaniesOnly) return
  if (staging.facts.hasNames) {
    staging.run(createWithId)
    const needed = { most: staging.facts.rows, count: () => Number(staging.value(countByName)) }
    const lastId = await lastBeforeAssigned(needed, async (below) => {
      const [made, given] = [lastMade, lastGiven].map((sql) => Number(staging.value(sql, below)))
      return Math.max(assignedIdMin - 1, made ?? 0, given ?? 0, await tables.lastCompanyId(below))
    })
    staging.run(createByName, { lastId })
  }
  // Only a source of companies has to name those that it creates.
  if (plan.target.resource !== undefined) staging.run(createById)
}

const dropRefusedCompanies = [
  `delete from companies where is_new and id not in (
    select company_id from stage where company_id is not null and digest is not null
  )`,
  `update companies set jurisdiction = null, identifier = null, is_named = 0
    where exists (select 1 from refused) and (is_new or is_named)
      and (jurisdiction, identifier) not in (
        select jurisdiction, identifier from stage
        where identifier is not null and at is not null and seq not in (select seq from refused)
      )`,
]

/**
 * Drops the companies, and the register numbers, that only refused rows give; returns how many new
 * companies are left.
 */
export function countCreated(staging: Staging): number {
  // Unless the rows are in the table, none of them was refused.
  if (staging.isLoaded()) staging.run(dropRefusedCompanies)
  return Number(staging.value('select count(*) from companies where is_new'))
}

type ChangedCompany = [number, string | null, string | null, number | null, number, number]

/** Writes the named and the new companies to the registry. */
export async function writeCompanies(context: ImportContext): Promise<void> {
  const { staging, tables, version, plan } = context
  const changed = staging.iterate(
    `select id, jurisdiction, identifier, version, is_named,
       exists (select 1 from change c where c.company_id = companies.id)
     from companies where is_new or is_named order by id`,
  )
  for (const batch of inBatches(changed, batchLength)) {
    const named: number[] = []
    const traced: number[] = []
    const rows = batch.map((row): CompanyRow => {
      const [id, jurisdiction, identifier, known, isNamed, isChanged] = row as ChangedCompany
      // If the source says something new about the company, the head shows the change.
      if (plan.target.resource !== undefined || !isChanged) traced.push(id)
      if (isNamed) named.push(id)
      const since = known ?? version
      return { id, jurisdiction, identifier, since, version, until: versionEnd }
    })
    // They were known without a name until now.
    await tables.endCompanies(named, version)
    await tables.putCompanies(rows)
    await traceCompanies(tables, version, traced)
  }
}
