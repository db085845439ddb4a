// Which companies are known after a revert: those that a version in force mentions, and by which
// register number. They keep their ids.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { traceCompanies } from '../changes/trace.ts'
import { inBatches } from '../listing/in-batches.ts'
import { attributesShape } from '../listing/shape.ts'
import type { CompanyRow, ListingTables, PastCompanyRow } from '../listing/tables.ts'
import { assignedIdMin } from '../sql/assigned-ids.ts'
import { readNumbers, type RegistryDatabase } from '../sql/database.ts'

/** The new versions of a revert, and the first one that it takes back. */
interface RevertedSpan {
  readonly first: number
  readonly from: number
  readonly until: number
}

/** The imports in force. Reverts only bring back what these have said, or remove it. */
const inForce = 'select version from imports where reverts is null and reverted_by is null'

/** Forgets the companies that no import in force mentions any more; returns their number. */
export async function forgetCompanies(
  db: RegistryDatabase,
  { until }: RevertedSpan,
): Promise<number> {
  const { tables } = db
  const candidates = `select id from companies where version not in (${inForce}) order by id`
  let forgotten = 0
  for await (const some of eachBatch(db, candidates)) {
    const mentioned = await findMentioned(db, some)
    const gone = some.filter((id) => !mentioned.has(id))
    const former = await tables.companiesById(gone)
    await tables.dropCompanies(gone)
    await noteStates(tables, former, former, until)
    forgotten += gone.length
  }
  return forgotten
}

/**
 * Companies that no import in force made known, or gave their register number, and those of which
 * the sources say something else now.
 */
const mayBeUnnamed = (from: number) => `
  select id from companies where version not in (${inForce})
  union
  select company_id from companies_past where jurisdiction is null and until not in (${inForce})
  union
  select company_id from heads where listing = '${attributesShape.listing}' and version >= ${from}
  order by 1`

/**
 * Takes the register number from companies that stay known, but are no longer named.
 *
 * @returns those that are named, but by another number before the reverted versions: they are left
 *   without one, for `reviveCompanies` to give them that one.
 */
export async function unnameCompanies(
  db: RegistryDatabase,
  { first, from, until: version }: RevertedSpan,
): Promise<ReadonlyMap<number, CompanyRow>> {
  const { tables } = db
  // A revert may have given the number, too.
  const versions = new Set(
    await readNumbers(db, 'select version from imports where reverted_by is null'),
  )
  const renamed = new Map<number, CompanyRow>()
  for await (const some of eachBatch(db, mayBeUnnamed(from))) {
    const isNamed = await findNamed(db, some)
    const past = Map.groupBy(await tables.pastCompanies(some), ({ companyId }) => companyId)
    const unnamed: CompanyRow[] = []
    for (const one of await tables.companiesById(some)) {
      const { id, identifier } = one
      if (identifier === null) continue
      const states = past.get(id) ?? []
      const isGiven = versions.has(states.at(-1)?.until ?? one.version)
      const before = states.find((state) => isBefore(first, state))?.identifier ?? identifier
      if (!isNamed(id)) unnamed.push(one)
      else if (!isGiven && before !== identifier) renamed.set(id, one)
    }
    const both = [...unnamed, ...some.flatMap((id) => renamed.get(id) ?? [])]
    await tables.putCompanies(both.map(({ id }) => ({ id, ...nameless, version })))
    await noteStates(tables, unnamed, unnamed, version)
  }
  return renamed
}

/** Whether a past state was that before a version. */
const isBefore = (version: number, state: PastCompanyRow) =>
  state.version < version && state.until >= version

/**
 * Makes companies known again that were known before the reverted versions, and that a version in
 * force mentions again; returns their number. One that is known gets its number in a register back.
 */
export async function reviveCompanies(
  db: RegistryDatabase,
  { first, from: version }: RevertedSpan,
  renamed: ReadonlyMap<number, CompanyRow>,
): Promise<number> {
  const { tables } = db
  const wasKnown = `version < ${first} and until >= ${first}`
  const candidates = `
    select distinct company_id from companies_past where ${wasKnown} order by company_id`
  let count = 0
  for await (const some of eachBatch(db, candidates)) {
    const mentioned = await findMentioned(db, some)
    const isNamed = await findNamed(db, some)
    const now = new Map((await tables.companiesById(some)).map((one) => [one.id, one]))
    const back = some.filter((id) => {
      const one = now.get(id)
      return one === undefined ? mentioned.has(id) : one.identifier === null && isNamed(id)
    })
    const revived = new Map<number, CompanyRow>()
    for (const past of await tables.pastCompanies(back)) {
      const { companyId: id, jurisdiction, identifier } = past
      if (!isBefore(first, past) || revived.has(id)) continue
      const name = isNamed(id) ? { jurisdiction, identifier } : nameless
      revived.set(id, { id, ...name, version })
    }
    const rows = (await withoutTakenNames(tables, [...revived.values()])).filter(
      ({ id, identifier }) => !now.has(id) || identifier !== null || renamed.has(id),
    )
    const former = rows.flatMap(({ id }) => renamed.get(id) ?? now.get(id) ?? [])
    await tables.putCompanies(rows)
    await noteStates(tables, former, rows, version)
    count += rows.filter(({ id }) => !now.has(id)).length
  }
  return count
}

/** Notes what companies were until a version, and that it changed some. */
async function noteStates(
  tables: ListingTables,
  former: readonly CompanyRow[],
  changed: readonly CompanyRow[],
  version: number,
): Promise<void> {
  await tables.putPastCompanies(
    former.map(({ id, ...one }) => ({ companyId: id, ...one, until: version })),
  )
  await traceCompanies(
    tables,
    version,
    changed.map(({ id }) => id),
  )
}

const companiesAtOnce = 1_000

/** The companies that a query finds, some at once. */
async function* eachBatch(db: RegistryDatabase, candidates: string) {
  for (const some of inBatches(await readNumbers(db, candidates), companiesAtOnce)) {
    yield some
    await nextTurn()
  }
}

/**
 * Those of the companies that have records now, or of which an import in force has changed a
 * listing: any, or the one that is given. Where its head was pruned, traces show what it removed.
 */
async function findMentioned(
  db: RegistryDatabase,
  companies: readonly number[],
  listing?: string,
): Promise<ReadonlySet<number>> {
  const rows = await db.rows<[company: number]>(
    `select distinct company_id from heads h
     where ${db.dialect.isOneOf('company_id', '$1', 'bigint')}
       and listing = coalesce($2, listing)
       and (version in (${inForce}) or total > 0 and not exists (
         select 1 from heads l where l.company_id = h.company_id and l.listing = h.listing
           and l.version > h.version
       ))
     union
     select company_id from traces
     where ${db.dialect.isOneOf('company_id', '$1', 'bigint')}
       and listing = coalesce($2, listing) and kind = 'remove' and version in (${inForce})`,
    companies,
    listing ?? null,
  )
  return new Set(rows.map(([company]) => company))
}

const nameless = { jurisdiction: null, identifier: null }

/**
 * Which of the companies have a register number: those that an import of companies in force names,
 * and those with an assigned id, since everything that mentions these has the number.
 * (Records that have both a given id and the number give it again with their next import.)
 */
async function findNamed(
  db: RegistryDatabase,
  companies: readonly number[],
): Promise<(id: number) => boolean> {
  const named = await findMentioned(db, companies, attributesShape.listing)
  return (id) => id >= assignedIdMin || named.has(id)
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
    return isTaken ? { ...one, ...nameless } : one
  })
}
