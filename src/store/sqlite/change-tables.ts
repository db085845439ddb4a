// The part of the seam of listings that finds what has changed between versions.

import type { ChangedRange, ListingTables, TraceKind } from '../listing/tables.ts'
import type { Each, Rows } from './tables.ts'

const traceColumns = 't.company_id, t.version, t.id, t.sort, t.kind'

export function changeTables(rows: Rows, each: Each) {
  const inRange = ({ since, until, after, limit }: ChangedRange) =>
    [since, until, after.version, after.companyId, limit] as const
  const hasHead = (where: string) => `
    exists (
      select 1 from heads l where l.company_id = c.company_id and l.listing = ?1 and ${where}
    )`
  // With `c.version > ?2` beside it, SQLite would look at everything since then.
  const isAfter = `
    c.listing = ?1 and c.version <= ?3 and (c.version, c.company_id) > (?4, ?5)`
  return {
    changedListings: (listing, range) =>
      rows(
        `select c.company_id, c.version,
           not ${hasHead('l.version > ?2 and l.version < c.version')}
         from heads c indexed by heads_by_version
         where ${isAfter} and not ${hasHead('l.version > c.version and l.version <= ?3')}
         order by c.version, c.company_id limit ?6`,
        ...[listing, ...inRange(range)],
      ).map(([companyId, version, isOnly]) => ({
        companyId: Number(companyId),
        version: Number(version),
        isOnly: isOnly === 1,
      })),
    tracedListings: (listing, range) =>
      rows(
        `select distinct c.company_id, c.version from traces c indexed by traces_by_version
         where ${isAfter} and not ${hasHead('l.version > ?2 and l.version <= ?3')}
           and not exists (
             select 1 from traces l where l.company_id = c.company_id and l.listing = ?1
               and l.version > c.version and l.version <= ?3
           )
         order by c.version, c.company_id limit ?6`,
        ...[listing, ...inRange(range)],
      ).map(([companyId, version]) => ({
        companyId: Number(companyId),
        version: Number(version),
      })),
    traces: (listing, companies, { since, until }) =>
      rows(
        `select ${traceColumns} from json_each(?2) e cross join traces t
         on t.company_id = e.value and t.listing = ?1 and t.version > ?3 and t.version <= ?4
         order by t.company_id, t.version, t.id`,
        ...[listing, JSON.stringify(companies), since, until],
      ).map(([companyId, version, id, sort, kind]) => ({
        ...{ companyId: Number(companyId), version: Number(version), id: Number(id) },
        ...{ sort: Number(sort), kind: kind as TraceKind },
      })),
    putTraces: (listing, traces) =>
      each(
        'insert or replace into traces values (?, ?, ?, ?, ?, ?)',
        traces.map(({ companyId, version, id, sort, kind }) => [
          ...[companyId, listing, version, id, sort, kind],
        ]),
      ),
  } satisfies Partial<ListingTables>
}
