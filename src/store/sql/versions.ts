// The registry's versions: listed for clients (contract 9.4), and found by a moment (contract 9.2).

import type {
  FoundVersion,
  LastImport,
  ListedVersion,
  Moment,
  VersionList,
  VersionRange,
} from '../reading.ts'
import { readRegistry } from './find-companies.ts'
import { type Snapshot, optionalNumber, optionalText, type Queries } from './database.ts'
import type { Resource } from '../../resources/resource.ts'

type VersionRow = readonly [
  version: number,
  committedAt: number,
  resource: string,
  source: string,
  asOf: string | null,
  inserted: number,
  updated: number,
  removed: number,
  recorded: string,
]

const versionsSql = `
  select i.version, i.committed_at, i.resource, s.name, i.as_of, i.inserted, i.updated, i.removed,
    i.recorded
  from imports i join sources s on s.id = i.source_id
  where i.version < cast($1 as bigint) order by i.version desc limit $2`

const countsSql = `
  select count(*) as total,
    coalesce(sum(case when version >= cast($1 as bigint) then 1 else 0 end), 0) as newer
  from imports`

/** The versions before one, newest first, in one state of the registry. */
export async function readVersions(
  snapshot: Snapshot,
  { before, limit }: VersionRange,
): Promise<VersionList> {
  const registry = await readRegistry(snapshot)
  const [counts] = await snapshot.rows<[total: number, newer: number]>(countsSql, before)
  const rows = await snapshot.rows<VersionRow>(versionsSql, before, limit)
  return {
    registry,
    total: Number(counts?.[0]),
    newer: Number(counts?.[1]),
    versions: rows.map(listedVersion),
  }
}

function listedVersion(row: VersionRow): ListedVersion {
  const [version, committedAt, resource, source, asOf, inserted, updated, removed, recorded] = row
  const byResource = JSON.parse(recorded) as Readonly<Record<string, number>>
  const events = Object.values(byResource).reduce((sum, count) => sum + count, 0)
  return { version, committedAt, resource, source, asOf, inserted, updated, removed, events }
}

/**
 * The version that a moment finds.
 *
 * @param resource whose imports have the days of `asOf`; undefined for all imports.
 */
export async function findVersion(
  db: Pick<Queries, 'rows'>,
  resource: Resource | undefined,
  moment: Moment,
): Promise<FoundVersion> {
  if ('knownAt' in moment) {
    const [row] = await db.rows(versionKnownAt, { at: moment.knownAt })
    const version = Number(row?.['version'] ?? 0)
    return version > 0 ? { version } : { first: momentOf(row?.['first']) }
  }
  const of = resource === undefined ? {} : { resource: resource.name }
  const days = { day: moment.asOf, next: Date.parse(moment.asOf) + dayMs }
  const [row] = await db.rows(versionAsOf(resource), { ...of, ...days })
  const version = Number(row?.['version'])
  const first = optionalNumber(row?.['first'])
  if (first === undefined) return { first: undefined }
  if (version >= first) return { version }
  const [last] = await db.rows(lastDays(resource), { ...of, first })
  const ofExtracts = optionalText(last?.['day']) ?? ''
  const ofCommits = momentOf(last?.['committed_at'])?.slice(0, 10) ?? ''
  return { first: ofExtracts > ofCommits ? ofExtracts : ofCommits }
}

const dayMs = 86_400_000

function momentOf(ms: unknown): string | undefined {
  return ms === null || ms === undefined ? undefined : new Date(Number(ms)).toISOString()
}

/**
 * The lineage of the last version that has withheld something: it takes no version back. Empty if
 * there is none.
 */
export async function lastWithheld(db: Pick<Queries, 'rows'>): Promise<string> {
  const [row] = await db.rows(
    `select lineage from imports where reverts = '[]' order by version desc limit 1`,
  )
  return String(row?.['lineage'] ?? '')
}

// What a revert has taken back, and reverts themselves, have no day here: a mistyped one would hide
// all later versions. An import of another target may have recorded changes in the resource.
const counts = (resource: Resource | undefined) =>
  (resource === undefined
    ? ''
    : `(resource = $resource or recorded like '%"' || $resource || '":%') and `) +
  'reverts is null and reverted_by is null'

const versionAsOf = (resource: Resource | undefined) => `
  select
    coalesce(
      (select min(version) - 1 from imports
       where ${counts(resource)}
         and (substr(as_of, 1, 10) > $day or as_of is null and committed_at >= $next)),
      (select max(version) from imports)
    ) as version,
    (select min(version) from imports where ${counts(resource)}) as first`

// A day finds the first import, or the first version that was not pruned, only if none of the
// imports up to there is later.
const lastDays = (resource: Resource | undefined) => `
  select max(substr(as_of, 1, 10)) as day,
    max(case when as_of is null then committed_at end) as committed_at
  from imports
  where ${counts(resource)} and (version <= $first or version <= (select past_from from store))`

const versionKnownAt = `
  select
    (select max(version) from imports where committed_at <= $at) as version,
    (select min(committed_at) from imports
     where version >= (select past_from from store)) as first`

/** The last import of each source, newest first; at most 100. */
export async function lastImports(db: Pick<Queries, 'rows'>): Promise<LastImport[]> {
  const rows = await db.rows(
    `select s.name, i.version, i.committed_at
     from imports i join sources s on s.id = i.source_id
     where i.version in (
       select max(version) from imports where reverts is null and reverted_by is null
       group by source_id
     )
     order by i.version desc limit 100`,
  )
  return rows.map((row) => ({
    source: String(row['name']),
    version: Number(row['version']),
    committedAt: Number(row['committed_at']),
  }))
}
