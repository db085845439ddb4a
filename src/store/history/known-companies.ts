// Which companies are known after a revert: those that a version in force mentions, and by which
// register number. They keep their ids.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { traceCompanies } from '../changes/trace.ts'
import { inBatches } from '../listing/in-batches.ts'
import { attributesShape } from '../listing/shape.ts'
import type { CompanyRow, ListingTables, RegisterNumber } from '../listing/tables.ts'
import { assignedIdMin } from '../sql/assigned-ids.ts'
import { readNumbers, type RegistryDatabase } from '../sql/database.ts'

/** The first version that a revert takes back, and the new versions that it makes. */
interface RevertedSpan {
  readonly firstReverted: number
  readonly firstNew: number
  readonly lastNew: number
}

/** The imports in force. Reverts only bring back what these have said, or remove it. */
const isInForce = 'reverts is null and reverted_by is null'
const inForce = `select version from imports where ${isInForce}`

/**
 * Companies that no import in force made known, or gave their register number, and companies about
 * which the sources say something else now.
 */
const mayBeUnnamed = (from: number) => `
  select id from companies where version not in (${inForce})
  union
  select company_id from companies_past where jurisdiction is null and until not in (${inForce})
  union
  select company_id from heads where listing = '${attributesShape.listing}' and version >= ${from}
  order by 1`

/**
 * Forgets the companies that no import in force mentions any more, and takes the register number
 * from those that stay known, but no longer have it.
 *
 * @returns how many were forgotten, and those that should have another number now. They have none
 *   until `reviveCompanies` gives it to them.
 */
export async function forgetCompanies(
  db: RegistryDatabase,
  { firstReverted, firstNew, lastNew: version }: RevertedSpan,
): Promise<{ forgotten: number; renamed: ReadonlyMap<number, CompanyRow> }> {
  const { tables } = db
  const versions = new Set(await readNumbers(db, inForce))
  const renamed = new Map<number, CompanyRow>()
  let forgotten = 0
  for await (const some of eachBatch(db, mayBeUnnamed(firstNew))) {
    const mentioned = await findMentioned(db, some)
    const findNumber = await createNumbers(db, firstReverted, some)
    const [gone, unnamed]: [CompanyRow[], CompanyRow[]] = [[], []]
    for (const one of await tables.companiesById(some)) {
      const { identifier } = findNumber(one.id, one)
      if (!versions.has(one.version) && !mentioned.has(one.id)) gone.push(one)
      else if (identifier === one.identifier) continue
      else if (identifier === null) unnamed.push(one)
      else if (one.identifier !== null) renamed.set(one.id, one)
    }
    const both = [...unnamed, ...some.flatMap((id) => renamed.get(id) ?? [])]
    await tables.dropCompanies(gone.map(({ id }) => id))
    await tables.putCompanies(both.map(({ id }) => ({ id, ...nameless, version })))
    const changed = [...gone, ...unnamed]
    await noteStates(tables, changed, changed, version)
    forgotten += gone.length
  }
  return { forgotten, renamed }
}

/** Companies that were known before a version, and those that have lost their register number. */
const mayBeRevived = (first: number) => `
  select company_id from companies_past where version < ${first} and until >= ${first}
  union
  select p.company_id from companies_past p join companies c on c.id = p.company_id
  where c.identifier is null and p.identifier is not null
  order by 1`

/**
 * Makes companies known again that were known before the reverted versions, and that an import in
 * force mentions again; returns their number. One that is known gets its number in a register back.
 */
export async function reviveCompanies(
  db: RegistryDatabase,
  { firstReverted, firstNew: version }: RevertedSpan,
  renamed: ReadonlyMap<number, CompanyRow>,
): Promise<number> {
  const { tables } = db
  let count = 0
  for await (const some of eachBatch(db, mayBeRevived(firstReverted))) {
    const mentioned = await findMentioned(db, some)
    const findNumber = await createNumbers(db, firstReverted, some)
    const now = new Map((await tables.companiesById(some)).map((one) => [one.id, one]))
    const back = some.filter((id) => {
      const one = now.get(id)
      return one === undefined ? mentioned.has(id) : one.identifier === null
    })
    const revived = back.map((id): CompanyRow => {
      const { jurisdiction, identifier } = findNumber(id, renamed.get(id) ?? now.get(id))
      return { id, jurisdiction, identifier, version }
    })
    const rows = (await withoutTakenNames(tables, revived)).filter(
      ({ id, identifier }) => !now.has(id) || identifier !== null || renamed.has(id),
    )
    const former = rows.flatMap(({ id }) => renamed.get(id) ?? now.get(id) ?? [])
    await tables.putCompanies(rows)
    await noteStates(tables, former, rows, version)
    count += rows.filter(({ id }) => !now.has(id)).length
  }
  return count
}

/** Records the state of companies until a version, and traces those that the version changed. */
async function noteStates(
  tables: ListingTables,
  former: readonly CompanyRow[],
  changed: readonly CompanyRow[],
  version: number,
): Promise<void> {
  await tables.putPastCompanies(former.map((one) => ({ ...one, until: version })))
  await traceCompanies(
    tables,
    version,
    changed.map(({ id }) => id),
  )
}

const companiesAtOnce = 1_000

/** The companies that a query finds, in batches. */
async function* eachBatch(db: RegistryDatabase, candidates: string) {
  for (const some of inBatches(await readNumbers(db, candidates), companiesAtOnce)) {
    yield some
    await nextTurn()
  }
}

/**
 * The companies that have records now, or that have a listing which an import in force has changed:
 * any listing, or only the given one. Where a head was pruned, traces show what it removed.
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

const nameless: RegisterNumber = { jurisdiction: null, identifier: null }

/**
 * For each company, the last import of companies in force that names it. With the versions as a
 * list, SQLite would seek each of them for each company.
 */
const lastNamed = ({ dialect }: RegistryDatabase) => `
  select h.company_id, max(h.version) from heads h cross join imports i
  where ${dialect.isOneOf('h.company_id', '$1', 'bigint')}
    and h.listing = '${attributesShape.listing}'
    and i.version = h.version and ${isInForce}
  group by h.company_id`

/**
 * Finds the register number of a company: the one that it had in the last import of companies in
 * force that names it, or the last one that records in force have given it. If that was pruned, it
 * is the one before the version `first`, or the present one. A company with an assigned id has a
 * number, since whatever mentions it does so by number; others have one only if an import of
 * companies in force names them.
 * (Records that repeat the number of a given id give it again with their next import.)
 */
async function createNumbers(db: RegistryDatabase, first: number, companies: readonly number[]) {
  const giving = `${inForce} and version > (select past_from from store)`
  const versions = new Set(await readNumbers(db, giving))
  const named = await findMentioned(db, companies, attributesShape.listing)
  const naming = new Map(
    await db.rows<[company: number, version: number]>(lastNamed(db), companies),
  )
  const past = Map.groupBy(await db.tables.pastCompanies(companies), ({ id }) => id)
  return (id: number, now: CompanyRow | undefined): RegisterNumber => {
    const former = past.get(id) ?? []
    const last = naming.get(id) ?? 0
    const then = former.find(({ version, until }) => version <= last && until > last) ?? now
    if (last > 0 && then !== undefined && then.identifier !== null) return then
    const states = now === undefined ? former : [...former, now]
    const given = states.findLast(({ identifier, version }, n) => {
      return identifier !== null && versions.has(Math.max(version, former[n - 1]?.until ?? 0))
    })
    if (given !== undefined) return given
    if (id < assignedIdMin && !named.has(id)) return nameless
    const before = former.find((one) => one.version < first && one.until >= first)
    const others = [before, ...states.toReversed()]
    return others.find((one) => (one?.identifier ?? null) !== null) ?? nameless
  }
}

/** Leaves out register numbers that other companies have been given meanwhile. */
async function withoutTakenNames(
  tables: ListingTables,
  companies: readonly CompanyRow[],
): Promise<readonly CompanyRow[]> {
  const nameOf = ({ jurisdiction, identifier }: CompanyRow) =>
    jurisdiction === null || identifier === null ? [] : [[jurisdiction, identifier] as const]
  const namesakes = await tables.companiesByName(companies.flatMap(nameOf))
  const taken = new Set(namesakes.map((one) => JSON.stringify(nameOf(one))))
  return companies.map((one) => {
    const name = JSON.stringify(nameOf(one))
    const isTaken = taken.has(name)
    if (one.identifier !== null) taken.add(name)
    return isTaken ? { ...one, ...nameless } : one
  })
}
