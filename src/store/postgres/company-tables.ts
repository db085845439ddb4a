// Companies and their names in PostgreSQL, and what has changed between versions: the part of the
// seam of listings that is about them. Names are found in a table of their own, since Citus spreads
// companies by id.

import type { IdentifyingName } from '../inspecting.ts'
import type {
  CompanyRow,
  ListingTables,
  PastCompanyRow,
  ChangedRange,
  TraceKind,
} from '../listing/tables.ts'
import { listOf, type Rows, greatest } from './tables.ts'

type Columns = [id: number, jurisdiction: string | null, identifier: string | null, number]
type PastColumns = [...Columns, until: number]

const pastColumns = 'p.company_id, p.jurisdiction, p.identifier, p.version, p.until'

/** Those with one of the names whose parts are the first two parameters. */
const isNamed = '(identifier, jurisdiction) in (select * from unnest($1::text[], $2::text[]))'

const namesOf = (names: readonly IdentifyingName[]) => [
  names.map(([, identifier]) => identifier),
  names.map(([jurisdiction]) => jurisdiction),
]

const dropNames = `
  delete from company_names where (identifier, jurisdiction, company_id) in (
    select identifier, jurisdiction, id from companies where id = any($1::bigint[])
  )`

const putCompanies = `
  insert into companies (id, jurisdiction, identifier, version)
    select * from unnest($1::bigint[], $2::text[], $3::text[], $4::integer[])
  on conflict (id) do update
    set jurisdiction = excluded.jurisdiction, identifier = excluded.identifier`

const putNames = `
  insert into company_names (identifier, jurisdiction, company_id)
    select * from unnest($1::text[], $2::text[], $3::bigint[])`

export function companyTables(rows: Rows) {
  return { ...namedCompanies(rows), ...formerCompanies(rows) }
}

export function companyLookups(rows: Rows) {
  return {
    companiesById: async (ids) =>
      (
        await rows<Columns>(
          `select id, jurisdiction, identifier, version from companies
           where id = any($1::bigint[])`,
          listOf(ids),
        )
      ).map(([id, jurisdiction, identifier, version]): CompanyRow => ({
        ...{ id, jurisdiction, identifier, version },
      })),
    pastCompanies: async (ids) =>
      (
        await rows<PastColumns>(
          `select ${pastColumns} from companies_past p where company_id = any($1::bigint[])
           order by company_id, until`,
          listOf(ids),
        )
      ).map(pastOf),
  } satisfies Partial<ListingTables>
}

function namedCompanies(rows: Rows) {
  const { companiesById } = companyLookups(rows)
  return {
    async companiesByName(names) {
      const found = await rows<[number]>(
        `select company_id from company_names where ${isNamed}`,
        ...namesOf(names),
      )
      return found.length === 0 ? [] : companiesById(found.map(([id]) => id))
    },
    async lastCompanyId(below) {
      const [now] = await rows<[number | null]>(
        'select max(id) from companies where id < $1',
        below,
      )
      const [past] = await rows<[number | null]>(
        'select max(company_id) from companies_past where company_id < $1',
        below,
      )
      return Math.max(now?.[0] ?? 0, past?.[0] ?? 0)
    },
    async putCompanies(companies) {
      if (companies.length === 0) return
      const ids = listOf(companies.map(({ id }) => id))
      const versions = listOf(companies.map(({ version }) => version))
      await rows(dropNames, ids)
      await rows(putCompanies, ids, ...partsOf(companies), versions)
      const named = companies.filter(({ identifier }) => identifier !== null)
      const [jurisdictions, identifiers] = partsOf(named)
      await rows(putNames, identifiers, jurisdictions, listOf(named.map(({ id }) => id)))
    },
    async dropCompanies(ids) {
      await rows(dropNames, listOf(ids))
      await rows('delete from companies where id = any($1::bigint[])', listOf(ids))
    },
  } satisfies Partial<ListingTables>
}

function formerCompanies(rows: Rows) {
  return {
    forgottenByName: async (names) =>
      (
        await rows<PastColumns>(
          `select ${pastColumns} from companies_past p where ${isNamed}
             and not exists (select 1 from companies c where c.id = p.company_id)`,
          ...namesOf(names),
        )
      ).map(pastOf),
    async dropPastCompanies(ids) {
      await rows('delete from companies_past where company_id = any($1::bigint[])', listOf(ids))
    },
    async putPastCompanies(past) {
      if (past.length === 0) return
      const of = (part: (row: PastCompanyRow) => number) => listOf(past.map(part))
      await rows(
        `insert into companies_past (company_id, until, version, jurisdiction, identifier)
           select * from
             unnest($1::bigint[], $2::integer[], $3::integer[], $4::text[], $5::text[])`,
        of(({ companyId }) => companyId),
        of(({ until }) => until),
        of(({ version }) => version),
        ...partsOf(past),
      )
    },
  } satisfies Partial<ListingTables>
}

/** The parts of names; null for a company that has none. */
function partsOf(companies: readonly Pick<CompanyRow, 'jurisdiction' | 'identifier'>[]) {
  const jurisdictions = companies.map(({ jurisdiction }) => jurisdiction)
  return [jurisdictions, companies.map(({ identifier }) => identifier)] as const
}

function pastOf([companyId, jurisdiction, identifier, version, until]: PastColumns) {
  return { companyId, jurisdiction, identifier, version, until } satisfies PastCompanyRow
}

const hasHead = (where: string) => `
  exists (
    select 1 from heads l where l.company_id = c.company_id and l.listing = $1 and ${where}
  )`

const isAfter = `
  c.listing = $1 and c.version <= $3
  and (c.version, c.company_id) > ($4::integer, $5::bigint)`

const changedSql = `
  select c.company_id, c.version, not ${hasHead('l.version > $2 and l.version < c.version')}
  from heads c
  where ${isAfter} and not ${hasHead('l.version > c.version and l.version <= $3')}
  order by c.version, c.company_id limit $6`

const tracedSql = `
  select distinct c.company_id, c.version from traces c
  where ${isAfter} and not ${hasHead('l.version > $2 and l.version <= $3')}
    and not exists (
      select 1 from traces l where l.company_id = c.company_id and l.listing = $1
        and l.version > c.version and l.version <= $3
    )
  order by c.version, c.company_id limit $6`

const tracesSql = `
  select company_id, version, id, sort, kind from traces
  where company_id = any($2::bigint[]) and listing = $1 and version > $3 and version <= $4
  order by company_id, version, id`

const putTracesSql = `
  insert into traces (company_id, listing, version, id, sort, kind)
    select company_id, $1, version, id, sort, kind
    from unnest($2::bigint[], $3::integer[], $4::bigint[], $5::bigint[], $6::text[])
      u (company_id, version, id, sort, kind)
  on conflict (company_id, listing, version, id)
    do update set sort = excluded.sort, kind = excluded.kind`

const valuesOf = ({ since, until, after, limit }: ChangedRange) =>
  [since, greatest(until), greatest(after.version), after.companyId, limit] as const

export function changeLookups(rows: Rows) {
  return {
    changedListings: async (listing, range) =>
      (await rows<[number, number, boolean]>(changedSql, listing, ...valuesOf(range))).map(
        ([companyId, version, isOnly]) => ({ companyId, version, isOnly }),
      ),
    tracedListings: async (listing, range) =>
      (await rows<[number, number]>(tracedSql, listing, ...valuesOf(range))).map(
        ([companyId, version]) => ({ companyId, version }),
      ),
    traces: async (listing, companies, { since, until }) =>
      (
        await rows<[number, number, number, number, TraceKind]>(
          tracesSql,
          ...[listing, listOf(companies), since, greatest(until)],
        )
      ).map(([companyId, version, id, sort, kind]) => ({ companyId, version, id, sort, kind })),
  } satisfies Partial<ListingTables>
}

export function traceTables(rows: Rows) {
  return {
    async putTraces(listing, traces) {
      if (traces.length === 0) return
      await rows(
        putTracesSql,
        listing,
        listOf(traces.map(({ companyId }) => companyId)),
        listOf(traces.map(({ version }) => version)),
        listOf(traces.map(({ id }) => id)),
        listOf(traces.map(({ sort }) => sort)),
        traces.map(({ kind }) => kind),
      )
    },
  } satisfies Partial<ListingTables>
}
