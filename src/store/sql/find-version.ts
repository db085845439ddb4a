// Finds the version of the registry that a moment names (contract 9.2).

import type { Resource } from '../../resources/resource.ts'
import type { Moment } from '../reading.ts'
import type { Queries } from './database.ts'

/**
 * The version that a moment finds; 0 if it is before the first import.
 *
 * @param resource whose imports have the days of `asOf`; undefined for all imports.
 */
export async function findVersion(
  db: Pick<Queries, 'rows'>,
  resource: Resource | undefined,
  moment: Moment,
): Promise<number> {
  const [row] =
    'asOf' in moment
      ? await db.rows(versionAsOf(resource), {
          ...(resource === undefined ? {} : { resource: resource.name }),
          ...{ day: moment.asOf, next: Date.parse(moment.asOf) + dayMs },
        })
      : await db.rows(versionKnownAt, { at: moment.knownAt })
  return Number(row?.['version'])
}

const dayMs = 86_400_000

// An import of another target may have recorded changes in the resource.
const isOf = `(resource = $resource or recorded like '%"' || $resource || '":%')`

// What a revert has taken back, and reverts themselves, have no day here: a mistyped one would hide
// all later versions.
const versionAsOf = (resource: Resource | undefined) => `
  select coalesce(
    (select min(version) - 1 from imports
     where ${resource === undefined ? '' : `${isOf} and `}reverts is null
       and reverted_by is null
       and (substr(as_of, 1, 10) > $day or as_of is null and committed_at >= $next)),
    (select max(version) from imports)
  ) as version`

const versionKnownAt = `
  select coalesce(max(version), 0) as version from imports where committed_at <= $at`
