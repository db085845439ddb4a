// The part of the seam of listings (../listing/tables.ts) for companies.

import { after } from '../awaitable.ts'
import type { IdentifyingName } from '../inspecting.ts'
import { nameAttributeAt } from '../companies/name-attribute.ts'
import { attributesShape } from '../listing/shape.ts'
import {
  type CompanyRow,
  type CompanyStatements,
  type ListingTables,
  type RegisterNumber,
  versionEnd,
} from '../listing/tables.ts'
import { assignedIdMin } from './assigned-ids.ts'
import { firstSegmentOf } from './head-tables.ts'
import {
  comparable,
  type Dialect,
  lookup,
  onlyNumber,
  type RowReader,
  type RowWriter,
} from './dialect.ts'
import { numberIn } from './database.ts'

const stateColumns = 's.company_id, s.jurisdiction, s.identifier, s.since, s.version, s.until'

const companyOf = (
  row: readonly [
    id: number,
    jurisdiction: string | null,
    identifier: string | null,
    since: number,
    version: number,
    until: number,
  ],
): CompanyRow => {
  const [id, jurisdiction, identifier, since, version, until] = row
  return { id, jurisdiction, identifier, since, version, until }
}

/** Conditions for states: of the present, and of the past, for which PostgreSQL has an index. */
const isPresent = `until = ${versionEnd}`
const isPast = `until < ${versionEnd}`

export function companyLookups(db: RowReader) {
  const { dialect: d } = db
  const isAsked = d.isOneOf('s.company_id', '$1', 'bigint')
  const states = `select ${stateColumns} from company_states s where ${isAsked}`
  const nextCompanies = lookup(db, nextStates, companyOf)
  const statements = {
    entries: lookup(db, statementsSql(d, 'entries'), statementsOf),
    both: lookup(db, statementsSql(d, 'both'), statementsOf),
  }
  type SourceColumns = readonly [id: number, name: string, nameAttributes: string | null]
  return {
    sources: (version) =>
      after(db.rows<SourceColumns>('select id, name, name_attributes from sources'), (rows) => {
        const sources = rows.map(([id, name, attributes]) => {
          return [id, { name, nameAttribute: nameAttributeAt(attributes, version) }] as const
        })
        return new Map(sources)
      }),
    companiesById: lookup(db, `${states} and ${isPresent}`, companyOf),
    statesById: lookup(db, `${states} order by company_id, version`, companyOf),
    companyStatements: (ids, version, what) =>
      statements[what](attributesShape.listing, ids, comparable(version)),
    nextCompanies: ({ after: last, limit }) => nextCompanies(last, limit),
  } satisfies Partial<ListingTables>
}

/** All states of a company are read together. */
const nextStates = `
  select ${stateColumns} from company_states s
  where company_id > $1 and company_id <= (
    select max(company_id) from (
      select company_id from company_states where company_id > $1
      order by company_id, version limit $2
    ) n
  )
  order by company_id, version`

/** All its joins are on the company, as a distributed database needs. */
function statementsSql(d: Dialect, what: 'entries' | 'both'): string {
  const { entries, texts, join } = firstSegmentOf(d, 'h.company_id')
  return `
    select h.company_id, h.version, h.total, ${d.hexOf(entries)},
      ${what === 'both' ? d.textOf(texts) : 'null'}
    from (${d.headsInForce('h.*')}) h ${join}`
}

type StatementColumns = readonly [
  companyId: number,
  version: number,
  total: number,
  entries: string | null,
  texts: string | null,
]

const statementsOf = (row: StatementColumns): CompanyStatements => {
  const [companyId, version, total, entries, texts] = row
  return { companyId, version, total, entries: entries ?? '', texts }
}

/** The names of those companies that have one. */
export const namesIn = (companies: readonly RegisterNumber[]): IdentifyingName[] =>
  companies.flatMap(({ jurisdiction, identifier }) =>
    jurisdiction === null || identifier === null ? [] : [[jurisdiction, identifier] as const],
  )

/** The rows that have one of the names; they were looked up by identifiers alone. */
function thoseNamed<T extends RegisterNumber>(
  rows: readonly T[],
  names: readonly IdentifyingName[],
): T[] {
  // A jurisdiction has no colon, so no two names have the same key.
  const asked = new Set(names.map(([jurisdiction, identifier]) => `${jurisdiction}:${identifier}`))
  return rows.filter((one) => asked.has(`${one.jurisdiction}:${one.identifier}`))
}

const identifiersOf = (names: readonly IdentifyingName[]) => [
  ...new Set(names.map(([, identifier]) => identifier)),
]

export function companyTables(db: RowWriter) {
  return { ...namedCompanies(db), ...writtenCompanies(db) }
}

const nameColumns = ['identifier', 'jurisdiction', 'company_id']

/** Whether a table of its own finds companies by name: only those that have one now. */
const hasNameTable = ({ companyNames }: Dialect) => companyNames.table !== 'companies'

function namedCompanies(db: RowWriter) {
  const { dialect: d } = db
  const { table, id } = d.companyNames
  const { companiesById } = companyLookups(db)
  const isNamed = d.isOneOf('identifier', '$1', 'text')
  const findIds = lookup(db, `select ${id} from ${table} where ${isNamed}`, onlyNumber)
  const present = `select ${stateColumns} from company_states s where ${isNamed} and ${isPresent}`
  const findCompanies = lookup(db, present, companyOf)
  const forgotten = lookup(
    db,
    `select ${stateColumns} from company_states s ${d.useIndex('company_states_by_name')}
     where ${isNamed} and ${isPast} and not ${hasLeftNames('s.company_id')}`,
    companyOf,
  )
  return {
    async companiesByName(names) {
      const asked = identifiersOf(names)
      const found = hasNameTable(d)
        ? await companiesById(await findIds(asked))
        : await findCompanies(asked)
      return thoseNamed(found, names)
    },
    forgottenByName: (names) =>
      after(forgotten(identifiersOf(names)), (found) => thoseNamed(found, names)),
    lastCompanyId: (below) =>
      numberIn(db, 'select max(company_id) from company_states where company_id < $1', below),
  } satisfies Partial<ListingTables>
}

function writtenCompanies(db: RowWriter) {
  const { dialect: d } = db
  const { table } = d.companyNames
  const isAsked = d.isOneOf('company_id', '$1', 'bigint')
  const dropNames = `
    delete from ${table} where (${nameColumns.join(', ')}) in (
      select ${nameColumns.join(', ')} from company_states where ${isAsked} and ${isPresent}
    )`
  return {
    async putCompanies(companies) {
      await db.insert(
        { table: 'company_states', columns: [...nameColumns, 'since', 'version', 'until'] },
        companies.map((one) => {
          return [one.identifier, one.jurisdiction, one.id, one.since, one.version, one.until]
        }),
      )
      if (!hasNameTable(d)) return
      const named = companies.filter((one) => one.identifier !== null && one.until === versionEnd)
      await db.insert(
        { table, columns: nameColumns },
        named.map((one) => [one.identifier, one.jurisdiction, one.id]),
      )
    },
    async endCompanies(ids, version) {
      if (ids.length === 0) return
      if (hasNameTable(d)) await db.rows(dropNames, ids)
      const end = `update company_states set until = $2 where ${isAsked} and ${isPresent}`
      await db.rows(end, ids, version)
    },
    async dropCompanies(ids) {
      if (hasNameTable(d)) await db.rows(dropNames, ids)
      await db.rows(`delete from company_states where ${isAsked}`, ids)
    },
  } satisfies Partial<ListingTables>
}

/**
 * In SQL, whether a company has left its former names. One that is forgotten has not, nor has one
 * that has lost the name for which its id was assigned: the name gets the same id again.
 *
 * @param company an expression of its id.
 */
const hasLeftNames = (company: string) => `
  exists (
    select 1 from company_states c
    where c.company_id = ${company} and c.${isPresent}
      and (c.identifier is not null or c.company_id < ${assignedIdMin})
  )`
