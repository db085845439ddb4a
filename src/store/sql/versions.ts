// Lists the registry's versions for clients (contract 9.4).

import type { ListedVersion, VersionList, VersionRange } from '../reading.ts'
import { readRegistry } from './find-companies.ts'
import type { Snapshot } from './snapshot.ts'

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
