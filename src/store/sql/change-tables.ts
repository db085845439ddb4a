// The part of the seam of listings (../listing/tables.ts) for what has changed between versions.

import type {
  ChangedListing,
  ChangedRange,
  ListingTables,
  TraceKind,
  TraceRow,
} from '../listing/tables.ts'
import { comparable, lookup, type RowReader, type RowWriter } from './dialect.ts'

const hasHead = (where: string) => `
  exists (
    select 1 from heads l where l.company_id = c.company_id and l.listing = $1 and ${where}
  )`

// SQLite seeks by both columns only if no value is cast and nothing else bounds the version;
// otherwise it would scan the whole version, or everything since.
const isBetween = `
  c.listing = $1 and (c.version, c.company_id) > ($4, $5) and (c.version, c.company_id) <= ($6, $7)`

const rangeOf = ({ since, until, after: place, upTo, limit }: ChangedRange) => {
  const end = upTo ?? { version: until, companyId: Number.MAX_SAFE_INTEGER }
  return [
    since,
    comparable(until),
    comparable(place.version),
    place.companyId,
    comparable(end.version),
    end.companyId,
    limit,
  ]
}

type Flag = boolean | number
type ChangeColumns = readonly [companyId: number, version: number, isOnly: Flag, isLast: Flag]
type TraceColumns = readonly [number, number, number, number, TraceKind]

export function changeLookups(db: RowReader) {
  const { dialect: d } = db
  // The last ones are marked, not selected, so that a statement ends after so many rows, however
  // few of them are the last.
  const headsSql = `
    select c.company_id, c.version,
      not ${hasHead('l.version > $2 and l.version < c.version')},
      not ${hasHead('l.version > c.version and l.version <= $3')}
    from heads c ${d.useIndex('heads_by_version')}
    where ${isBetween} order by c.version, c.company_id limit $8`
  const tracedSql = `
    select c.company_id, c.version, false, not ${hasHead('l.version > $2 and l.version <= $3')}
      and not exists (
        select 1 from traces l where l.company_id = c.company_id and l.listing = $1
          and l.version > c.version and l.version <= $3
      )
    from traces c ${d.useIndex('traces_by_version')}
    where ${isBetween}
    group by c.version, c.company_id order by c.version, c.company_id limit $8`
  const tracesSql = `
    select company_id, version, id, sort, kind from traces
    where ${d.isOneOf('company_id', '$2', 'bigint')} and listing = $1
      and version > $3 and version <= $4
    order by company_id, version, id`
  const changedOf = ([companyId, version, isOnly, isLast]: ChangeColumns): ChangedListing => {
    return { companyId, version, isOnly: Boolean(isOnly), isLast: Boolean(isLast) }
  }
  const heads = lookup(db, headsSql, changedOf)
  const traced = lookup(db, tracedSql, changedOf)
  const traces = lookup(db, tracesSql, (columns: TraceColumns): TraceRow => {
    const [companyId, version, id, sort, kind] = columns
    return { companyId, version, id, sort, kind }
  })
  return {
    changedHeads: (listing, range) => heads(listing, ...rangeOf(range)),
    changedTraces: (listing, range) => traced(listing, ...rangeOf(range)),
    traces: (listing, companies, { since, until }) =>
      traces(listing, companies, since, comparable(until)),
  } satisfies Partial<ListingTables>
}

export function traceTables(db: RowWriter) {
  const key = ['company_id', 'listing', 'version', 'id']
  const whereTraced = `
    select distinct company_id from traces
    where listing = $1 and ${db.dialect.isOneOf('id', '$2', 'bigint')}`
  return {
    whereTraced: lookup(db, whereTraced, ([companyId]: readonly [number]) => companyId),
    putTraces: (listing, traces) =>
      db.insert(
        {
          table: 'traces',
          fixed: { listing },
          columns: ['company_id', 'version', 'id', 'sort', 'kind'],
          replacing: { key, columns: ['sort', 'kind'] },
        },
        traces.map((one) => [one.companyId, one.version, one.id, one.sort, one.kind]),
      ),
  } satisfies Partial<ListingTables>
}
