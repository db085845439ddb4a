// The part of the seam of listings that finds what has changed between versions.

import type { ChangedRange, ListingTables, TraceKind } from '../listing/tables.ts'
import { greatest, listOf, type Rows } from './tables.ts'

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
