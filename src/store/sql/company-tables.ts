// The part of the seam of listings (../listing/tables.ts) for companies.

import { after } from '../awaitable.ts'
import type { IdentifyingName } from '../inspecting.ts'
import { nameAttributeAt } from '../companies/name-attribute.ts'
import { attributesShape } from '../listing/shape.ts'
import type {
  CompanyRow,
  KnownCompanies,
  ListingTables,
  PastCompanyRow,
  CompanyStatements,
  RegisterNumber,
  StatementIndexes,
} from '../listing/tables.ts'
import { assignedIdMin } from './assigned-ids.ts'
import { firstSegmentOf } from './head-tables.ts'
import {
  comparable,
  type Dialect,
  type GatherQuery,
  lookup,
  onlyNumber,
  type RowReader,
  type RowWriter,
} from './dialect.ts'
import { numberIn } from './database.ts'

const companyColumns = 'id, jurisdiction, identifier, version'

type Columns = readonly [
  id: number,
  jurisdiction: string | null,
  identifier: string | null,
  version: number,
]

const companyOf = (row: readonly [...Columns, ...unknown[]]): CompanyRow => {
  const [id, jurisdiction, identifier, version] = row
  return { id, jurisdiction, identifier, version }
}

const pastColumns = 'p.company_id, p.jurisdiction, p.identifier, p.version, p.until'

const pastOf = (row: readonly [...Columns, until: number]): PastCompanyRow => {
  return { ...companyOf(row), until: row[4] }
}

export function companyLookups(db: RowReader) {
  const { dialect: d } = db
  const companiesById = `
    select ${companyColumns} from companies where ${d.isOneOf('id', '$1', 'bigint')}`
  const pastCompanies = `
    select ${pastColumns} from companies_past p where ${d.isOneOf('company_id', '$1', 'bigint')}
    order by company_id, until`
  const knownInPast = lookup(db, knownInPastSql, onlyNumber)
  type SourceColumns = readonly [id: number, name: string, nameAttributes: string | null]
  return {
    sources: (version) =>
      after(db.rows<SourceColumns>('select id, name, name_attributes from sources'), (rows) => {
        const sources = rows.map(([id, name, attributes]) => {
          return [id, { name, nameAttribute: nameAttributeAt(attributes, version) }] as const
        })
        return new Map(sources)
      }),
    companiesById: lookup(db, companiesById, companyOf),
    companyStatements: (ids, version) =>
      d.gather(db, saidOf(d), attributesShape.listing, ids, comparable(version)),
    statementIndexes: (ids) =>
      d.gather(db, indexesOf(d), attributesShape.listing, ids, comparable(Infinity)),
    knownCompanies: ({ after: last, limit }) => d.gather(db, knownFrom(rangeOfKnown), last, limit),
    knownOf: (ids) =>
      d.gather(db, knownFrom(`companies k where ${d.isOneOf('k.id', '$1', 'bigint')}`), ids),
    knownInPast: ({ after: last, upTo, limit }, version) =>
      knownInPast(last, upTo, comparable(version), limit),
    pastCompanies: lookup(db, pastCompanies, pastOf),
  } satisfies Partial<ListingTables>
}

const rangeOfKnown = '(select * from companies where id > $1 order by id limit $2) k'

const knownFrom = (those: string): GatherQuery<KnownCompanies> => ({
  values: {
    ids: 'k.id',
    jurisdictions: 'k.jurisdiction',
    identifiers: 'k.identifier',
    versions: 'k.version',
  },
  bytes: {},
  from: `from ${those} order by k.id`,
})

const knownInPastSql = `
  select distinct company_id from companies_past
  where company_id > $1 and company_id <= $2 and version <= $3 and until > $3
  order by company_id limit $4`

/** All its joins are on the company, as a distributed database needs. */
function indexesOf(d: Dialect): GatherQuery<StatementIndexes> {
  const { entries, join } = firstSegmentOf(d, 'h.company_id')
  return {
    values: {
      ids: 'h.company_id',
      versions: 'h.version',
      totals: 'h.total',
      entryBytes: `length(${entries})`,
    },
    bytes: { entries },
    from: `from (${d.headsInForce('h.*')}) h ${join} order by h.company_id`,
  }
}

function saidOf(d: Dialect): GatherQuery<CompanyStatements> {
  const { values, bytes, from } = indexesOf(d)
  const { texts } = firstSegmentOf(d, 'h.company_id')
  return {
    values: { ...values, textBytes: `length(${texts})` },
    bytes: { ...bytes, texts },
    from,
  }
}

/** The rows that have one of the names; they were looked up by identifiers alone. */
function thoseNamed<T extends RegisterNumber>(
  rows: readonly T[],
  names: readonly IdentifyingName[],
): T[] {
  const asked = new Map<string | null, Set<string | null>>()
  for (const [jurisdiction, identifier] of names) {
    const known = asked.get(jurisdiction)
    if (known === undefined) asked.set(jurisdiction, new Set([identifier]))
    else known.add(identifier)
  }
  return rows.filter((one) => asked.get(one.jurisdiction)?.has(one.identifier))
}

const identifiersOf = (names: readonly IdentifyingName[]) => [
  ...new Set(names.map(([, identifier]) => identifier)),
]

export function companyTables(db: RowWriter) {
  return { ...presentCompanies(db), ...formerCompanies(db) }
}

function presentCompanies(db: RowWriter) {
  const { dialect: d } = db
  const { companiesById } = companyLookups(db)
  const { table, id: idColumn } = d.companyNames
  const hasNameTable = table !== 'companies'
  const columnsFound = hasNameTable ? idColumn : companyColumns
  const byIdentifier = `
    select ${columnsFound} from ${table} where ${d.isOneOf('identifier', '$1', 'text')}`
  const findIds = lookup(db, byIdentifier, onlyNumber)
  const findCompanies = lookup(db, byIdentifier, companyOf)
  const nameColumns = ['identifier', 'jurisdiction', 'company_id']
  // A table of names has only companies with a name.
  const dropNames = `
    delete from ${table} where (${nameColumns.join(', ')}) in (
      select identifier, jurisdiction, id from companies
      where ${d.isOneOf('id', '$1', 'bigint')}
    )`
  return {
    async companiesByName(names) {
      const asked = identifiersOf(names)
      const found = hasNameTable
        ? await companiesById(await findIds(asked))
        : await findCompanies(asked)
      return thoseNamed(found, names)
    },
    async lastCompanyId(below) {
      const now = await numberIn(db, 'select max(id) from companies where id < $1', below)
      const past = 'select max(company_id) from companies_past where company_id < $1'
      return Math.max(now, await numberIn(db, past, below))
    },
    async putCompanies(companies) {
      if (companies.length === 0) return
      if (hasNameTable)
        await db.rows(
          dropNames,
          companies.map(({ id }) => id),
        )
      await db.insert(
        {
          table: 'companies',
          columns: ['id', 'jurisdiction', 'identifier', 'version'],
          replacing: { key: ['id'], columns: ['jurisdiction', 'identifier'] },
        },
        companies.map((one) => [one.id, one.jurisdiction, one.identifier, one.version]),
      )
      if (!hasNameTable) return
      const named = companies.filter(({ identifier }) => identifier !== null)
      await db.insert(
        { table, columns: nameColumns },
        named.map((one) => [one.identifier, one.jurisdiction, one.id]),
      )
    },
    async dropCompanies(ids) {
      if (hasNameTable) await db.rows(dropNames, ids)
      await db.rows(`delete from companies where ${d.isOneOf('id', '$1', 'bigint')}`, ids)
    },
  } satisfies Partial<ListingTables>
}

/**
 * In SQL, whether a company has left its former names. One that is forgotten has not, nor has one
 * that has lost the name for which its id was assigned: the name gets the same id again.
 *
 * @param company an expression of its id.
 */
export const hasLeftNames = (company: string) => `
  exists (
    select 1 from companies c
    where c.id = ${company} and (c.identifier is not null or c.id < ${assignedIdMin})
  )`

function formerCompanies(db: RowWriter) {
  const { dialect: d } = db
  const forgottenSql = `
    select ${pastColumns} from companies_past p ${d.useIndex('companies_past_by_name')}
    where ${d.isOneOf('identifier', '$1', 'text')}
      and not ${hasLeftNames('p.company_id')}`
  const forgotten = lookup(db, forgottenSql, pastOf)
  const dropSql = `delete from companies_past where ${d.isOneOf('company_id', '$1', 'bigint')}`
  return {
    forgottenByName: (names) =>
      after(forgotten(identifiersOf(names)), (found) => thoseNamed(found, names)),
    async dropPastCompanies(ids) {
      await db.rows(dropSql, ids)
    },
    putPastCompanies: (rows) =>
      db.insert(
        {
          table: 'companies_past',
          columns: ['company_id', 'until', 'version', 'jurisdiction', 'identifier'],
        },
        rows.map((one) => [one.id, one.until, one.version, one.jurisdiction, one.identifier]),
      ),
  } satisfies Partial<ListingTables>
}
