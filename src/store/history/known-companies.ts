// Which companies are known after a revert: those that a version in force mentions, and by which
// register number. They keep their ids.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { traceCompanies } from '../changes/trace.ts'
import { inBatches } from '../listing/in-batches.ts'
import { attributesShape } from '../listing/shape.ts'
import {
  type CompanyRow,
  type ListingTables,
  type RegisterNumber,
  versionEnd,
} from '../listing/tables.ts'
import { assignedIdMin } from '../sql/assigned-ids.ts'
import { namesIn } from '../sql/company-tables.ts'
import { readNumbers, type RegistryDatabase } from '../sql/database.ts'
import type { RevertReport } from '../writing.ts'

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
 * The companies that no import in force made known, or gave their register number; those that were
 * known before the reverted versions, or have lost their number; and those about which the sources
 * say something else now.
 */
const mayChange = ({ firstReverted: first, firstNew }: RevertedSpan) => `
  select company_id from company_states
  where until = ${versionEnd} and since not in (${inForce})
    or until < ${versionEnd} and identifier is null and until not in (${inForce})
    or until < ${versionEnd} and until >= ${first} and since < ${first}
  union
  select p.company_id from company_states p
  join company_states c on c.company_id = p.company_id and c.until = ${versionEnd}
  where c.identifier is null and p.identifier is not null
  union
  select company_id from heads
  where listing = '${attributesShape.listing}' and version >= ${firstNew}
  order by 1`

/** A company that may change. */
interface Settled {
  readonly id: number
  /** Undefined if it is not known now. */
  readonly now: CompanyRow | undefined
  /** Its number then, if it has one; undefined if it is not known then. */
  readonly number: RegisterNumber | undefined
}

const nameless: RegisterNumber = { jurisdiction: null, identifier: null }
const companiesAtOnce = 1_000

/**
 * Forgets the companies that no import in force mentions any more, makes those known again that one
 * mentions again, and gives all of them the register numbers that the imports in force give them.
 */
export async function settleCompanies(
  db: RegistryDatabase,
  span: RevertedSpan,
): Promise<Pick<RevertReport, 'companiesForgotten' | 'companiesRevived'>> {
  const { tables } = db
  const { firstNew, lastNew } = span
  const find = await createFinder(db, span.firstReverted)
  let [companiesForgotten, companiesRevived] = [0, 0]
  const waiting: Settled[] = []
  for (const some of inBatches(await readNumbers(db, mayChange(span)), companiesAtOnce)) {
    const changed = (await find(some)).filter(({ now, number }) => {
      return now?.identifier !== number?.identifier
    })
    const [losing, gaining] = partition(changed, ({ now, number }) => {
      return now !== undefined && (number?.identifier ?? null) === null
    })
    // Until the last version, companies that are forgotten may have records.
    const [forgotten, unnamed] = partition(losing, ({ number }) => number === undefined)
    await putStates(tables, forgotten, lastNew)
    await putStates(tables, unnamed, firstNew)
    // Before a company gets a number, another one may have to lose it.
    const renamed = gaining.filter(({ now }) => (now?.identifier ?? null) !== null)
    await tables.endCompanies(idsOf(renamed), firstNew)
    waiting.push(...(await putFree(tables, gaining, firstNew)))
    companiesForgotten += forgotten.length
    companiesRevived += gaining.filter(({ now }) => now === undefined).length
    await nextTurn()
  }
  for (const some of inBatches(waiting, companiesAtOnce)) {
    const taken = await putFree(tables, some, firstNew)
    const unnamed = taken.filter(({ now }) => now?.identifier !== null)
    await putStates(
      tables,
      unnamed.map((one) => ({ ...one, number: nameless })),
      firstNew,
    )
    // Others may have had their numbers until they were forgotten.
    await putFree(tables, taken.map(knownSince(firstNew)), lastNew)
  }
  return { companiesForgotten, companiesRevived }
}

function partition<T>(all: readonly T[], isFirst: (one: T) => boolean): [first: T[], rest: T[]] {
  const groups = Map.groupBy(all, isFirst)
  return [groups.get(true) ?? [], groups.get(false) ?? []]
}

/** A company that is known, without a number if it was not before: since a version. */
const knownSince =
  (version: number) =>
  ({ id, now, number }: Settled): Settled => {
    const revived = { id, ...nameless, since: version, version, until: versionEnd }
    return { id, now: now ?? revived, number }
  }

const idsOf = (companies: readonly Settled[]) => companies.map(({ id }) => id)

/** Writes the states of companies from a version on. */
async function putStates(
  tables: ListingTables,
  companies: readonly Settled[],
  version: number,
): Promise<void> {
  const rows = companies.flatMap(({ id, now, number }): CompanyRow[] => {
    if (number === undefined) return []
    const { jurisdiction, identifier } = number
    const since = now?.since ?? version
    return [{ id, jurisdiction, identifier, since, version, until: versionEnd }]
  })
  await tables.endCompanies(idsOf(companies), version)
  await tables.putCompanies(rows)
  await traceCompanies(tables, version, idsOf(companies))
}

/** The same, but for companies whose numbers others have at the version, which are returned. */
async function putFree(
  tables: ListingTables,
  companies: readonly Settled[],
  version: number,
): Promise<readonly Settled[]> {
  const names = namesIn(companies.flatMap(({ number }) => number ?? []))
  const forgotten = await tables.forgottenByName(names)
  const namesakes = [
    ...(await tables.companiesByName(names)),
    ...forgotten.filter(({ until }) => until > version),
  ]
  const used = new Set(namesakes.map((one) => JSON.stringify(namesIn([one]))))
  const [free, taken]: [Settled[], Settled[]] = [[], []]
  for (const one of companies) {
    const name = JSON.stringify(namesIn([one.number ?? nameless]))
    ;(used.has(name) ? taken : free).push(one)
    if (one.number?.identifier !== null) used.add(name)
  }
  await putStates(tables, free, version)
  return taken
}

/** The companies, and their listings, that have records now or that an import in force changed. */
const mentions = ({ dialect }: RegistryDatabase) => `
  select distinct company_id, listing from heads h
  where ${dialect.isOneOf('company_id', '$1', 'bigint')}
    and (version in (${inForce}) or total > 0 and not exists (
      select 1 from heads l where l.company_id = h.company_id and l.listing = h.listing
        and l.version > h.version
    ))
  union
  -- Where a head was pruned, traces show what it removed; a company that is erased had none.
  select company_id, listing from traces t
  where ${dialect.isOneOf('company_id', '$1', 'bigint')}
    and kind = 'remove' and version in (${inForce}) and not exists (
      select 1 from traces e where e.company_id = t.company_id and e.version > t.version
        and e.listing = '${attributesShape.listing}' and e.kind = 'erase'
    )`

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
 * Creates what finds out whether companies are known then, and by which number.
 *
 * It is the one that a company had in the last import of companies in force that names it, or the
 * last one that records in force have given it. If that was pruned, it is the one before the
 * version `first`, or the present one. A company with an assigned id has a number, since whatever
 * mentions it does so by number; others have one only if an import of companies in force names
 * them. (Records that repeat the number of a given id give it again with their next import.)
 */
async function createFinder(db: RegistryDatabase, first: number) {
  const versions = new Set(await readNumbers(db, inForce))
  const giving = `${inForce} and version > (select past_from from store)`
  const versionsGiving = new Set(await readNumbers(db, giving))

  function findNumber(
    states: readonly CompanyRow[],
    { id, isNamed, namedIn }: { id: number; isNamed: boolean; namedIn: number },
  ): RegisterNumber {
    const isOf = (one: RegisterNumber | undefined) => (one?.identifier ?? null) !== null
    const then = states.find(({ version, until }) => version <= namedIn && until > namedIn)
    const named = then ?? states.findLast(({ until }) => until === versionEnd)
    if (namedIn > 0 && named !== undefined && isOf(named)) return named
    const given = states.findLast((one) => isOf(one) && versionsGiving.has(one.version))
    if (given !== undefined) return given
    if (id < assignedIdMin && !isNamed) return nameless
    const before = states.find((one) => one.version < first && one.until >= first)
    return [before, ...states.toReversed()].find(isOf) ?? nameless
  }

  return async (companies: readonly number[]): Promise<readonly Settled[]> => {
    const found = await db.rows<[company: number, listing: string]>(mentions(db), companies)
    const mentioned = new Set(found.map(([company]) => company))
    const ofSources = found.filter(([, listing]) => listing === attributesShape.listing)
    const named = new Set(ofSources.map(([company]) => company))
    const namedIn = new Map(
      await db.rows<[company: number, version: number]>(lastNamed(db), companies),
    )
    const all = Map.groupBy(await db.tables.statesById(companies), ({ id }) => id)
    return companies.map((id) => {
      const states = all.get(id) ?? []
      const now = states.findLast(({ until }) => until === versionEnd)
      const isKnown = mentioned.has(id) || (now !== undefined && versions.has(now.since))
      const about = { id, isNamed: named.has(id), namedIn: namedIn.get(id) ?? 0 }
      return { id, now, number: isKnown ? findNumber(states, about) : undefined }
    })
  }
}
