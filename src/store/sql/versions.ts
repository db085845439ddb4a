// The registry's versions: the last one, all of them as listed for clients (contract 9.4), and one
// found by a moment (contract 9.2).

import { after } from '../awaitable.ts'
import { createLru } from '../caching.ts'
import type {
  FoundVersion,
  LastImports,
  ListedVersion,
  Moment,
  RegistryState,
  VersionList,
  VersionRange,
} from '../reading.ts'
import type { Change, ServingReads } from '../serving/reads.ts'
import type { LoggedImport } from '../inspecting.ts'
import type { Snapshot } from './database.ts'
import type { RowReader } from './dialect.ts'
import { nameOf } from '../history/reverted-versions.ts'
import { isRemoval, listImports } from './import-log.ts'
import type { Resource } from '../../resources/resource.ts'

/** A row of `registrySql`. */
export type RegistryRow = readonly [
  earliest: number,
  version: number | null,
  lineage: string | null,
  committedAt: number | null,
]

/**
 * Reads the state of the registry as a whole; no row before the first import.
 *
 * @param at where it is read. Not a join of the two tables, which Citus plans at twice the cost.
 */
const registryAt = (at: string) => `
  select (select past_from from store), i.version, i.lineage, i.committed_at
  from imports i ${at} order by i.version desc limit 1`

export const registrySql = registryAt('')

/**
 * The state of the registry as a whole.
 *
 * @param company the only one about which more is read in this snapshot: at its node.
 */
export async function readRegistry(db: RowReader, company?: number): Promise<RegistryState> {
  const { atCompany } = db.dialect
  const [row] = await (company === undefined || atCompany === ''
    ? db.rows<RegistryRow>(registrySql)
    : db.rows<RegistryRow>(registryAt(atCompany), company))
  return registryStateOf(row)
}

export function registryStateOf(row: RegistryRow | undefined): RegistryState {
  return {
    version: row?.[1] ?? 0,
    lineage: row?.[2] ?? '',
    committedAt: row?.[3] ?? undefined,
    earliestVersion: Math.max(1, row?.[0] ?? 1),
  }
}

const changeBy = (column: string) =>
  `select lineage, committed_at, version from imports where ${column} = $1`

/** What made the version $1. */
export const changeSql = changeBy('version')
const changeOfLineageSql = changeBy('lineage')

/** How many imports are kept. */
const changesMax = 10_000

/** The version that made the company $1 known, as of the version $2. */
const knownSinceSql = `
  select since from company_states where company_id = $1 and version <= $2 and until > $2`

/**
 * Reads which imports made versions, and keeps them; and which versions made companies known.
 *
 * @param rowsOfCompany runs a statement about the company that is its first value.
 */
export function createVersionReads(rows: RowReader['rows'], rowsOfCompany = rows) {
  // After a restore, version numbers are used again, so these belong to one history.
  const changes = createLru<number | string, Change>(changesMax)
  let history: string | undefined

  /** Keeps an import that was read with a state of the registry. */
  function note({ lineage }: RegistryState, version?: number, change?: Change): void {
    if (lineage !== history) changes.clear()
    history = lineage
    if (version !== undefined && change !== undefined) changes.set(version, change)
  }

  return {
    note,
    change: (version, registry) => {
      if (registry !== undefined) note(registry)
      const known = changes.get(version)
      if (known !== undefined) return known
      const asked = history
      const sql = typeof version === 'number' ? changeSql : changeOfLineageSql
      return after(rows<[string, committedAt: number, number]>(sql, version), ([row]) => {
        if (row === undefined) throw new Error(`version ${version} is not in the log of imports`)
        const change = { version: row[2], lineage: row[0], committedAt: row[1] }
        if (history === asked) changes.set(version, change)
        return change
      })
    },
    knownSince: (companyId, version) =>
      after(rowsOfCompany<[number]>(knownSinceSql, companyId, version), ([row]) => row?.[0]),
  } satisfies Pick<ServingReads, 'change' | 'knownSince'> & { note: typeof note }
}

/** The versions before one, newest first, in one state of the registry. */
export async function readVersions(
  snapshot: Snapshot,
  { before, limit }: VersionRange,
): Promise<VersionList> {
  const registry = await snapshot.registry()
  const versions = await listImports(snapshot, limit, before)
  return { registry, versions: versions.map(listedVersion) }
}

function listedVersion({ counts, recorded, asOf, ...logged }: LoggedImport): ListedVersion {
  const { version, committedAt, target: resource, source } = logged
  const { inserted, updated, removed } = counts
  const events = Object.values(recorded).reduce((sum, count) => sum + count, 0)
  const of = { version, committedAt, resource, source, asOf: asOf ?? null }
  return { ...of, inserted, updated, removed, events }
}

/**
 * Creates what finds the version of a moment. What was in force is kept until the next version:
 * to read it of thousands of imports takes much longer than a page.
 */
export function createVersionFinder() {
  let kept = { lineage: '', states: new Map<Resource | undefined, readonly CountedState[]>() }

  async function statesIn(db: Rows, resource: Resource | undefined, registry: RegistryState) {
    const { version, lineage } = registry
    if (kept.lineage !== lineage) kept = { lineage, states: new Map() }
    const { states } = kept
    const known = states.get(resource)
    if (known !== undefined) return known
    const read = await readStates(db, resource, version)
    states.set(resource, read)
    return read
  }

  /** @param resource whose imports have the days of `asOf`; undefined for all imports. */
  return async (
    db: Rows,
    resource: Resource | undefined,
    moment: Moment,
  ): Promise<FoundVersion> => {
    if ('knownAt' in moment) return findKnown(db, moment.knownAt)
    const registry = registryStateOf((await db.rows<RegistryRow>(registrySql))[0])
    return findDay(await statesIn(db, resource, registry), registry, moment.asOf)
  }
}

async function findKnown(db: Rows, knownAt: number): Promise<FoundVersion> {
  type Known = [version: number | null, first: number | null]
  const [[version, first] = [null, null]] = await db.rows<Known>(versionKnownAt, knownAt)
  return version !== null && version > 0
    ? { version }
    : { first: first === null ? undefined : momentOf(first) }
}

function findDay(
  states: readonly CountedState[],
  { earliestVersion }: RegistryState,
  asOf: string,
): FoundVersion {
  const found = states.findLast(({ latest = '' }) => latest <= asOf)
  if (found?.latest !== undefined) return { version: found.upTo }
  let first: string | undefined
  for (const { upTo, latest } of states.toReversed()) {
    // A day finds the last version that it can, even one at which nothing is known.
    if (latest === undefined || upTo < earliestVersion) break
    if (first === undefined || latest < first) first = latest
  }
  return { first }
}

type Rows = Pick<RowReader, 'rows'>

/** Versions up to one with the same latest day of their imports in force, if these have any. */
interface CountedState {
  /** The last of them. */
  readonly upTo: number
  readonly latest: string | undefined
}

/**
 * What was in force of the imports of a resource, version by version, up to the last one: a revert
 * restores what was in force before. Another target may have recorded changes in the resource.
 */
async function readStates(
  db: Rows,
  resource: Resource | undefined,
  last: number,
): Promise<readonly CountedState[]> {
  type What = [source: string, target: string, reverts: string | null]
  type Columns = [version: number, asOf: string | null, committedAt: number, ...What]
  const sql = `
    select i.version, i.as_of, i.committed_at, s.name, i.resource, i.reverts
    from imports i join sources s on s.id = i.source_id
    where i.version <= $1
      ${resource === undefined ? '' : 'and (i.resource = $2 or i.recorded like $3)'}
    order by i.version`
  const named = resource === undefined ? [] : [resource.name, `%"${resource.name}":%`]
  const log = await db.rows<Columns>(sql, last, ...named)
  // By what a version shares with those that a revert takes back together.
  const groups = new Map<string, CountedState[]>()
  const states: CountedState[] = []
  for (const [n, [version, asOf, committedAt, source, target, reverts]] of log.entries()) {
    const group = nameOf({ source, target })
    const own = groups.get(group) ?? []
    const day = (asOf ?? momentOf(committedAt)).slice(0, 10)
    const firstReverted = Math.min(...(JSON.parse(reverts ?? '[]') as number[]))
    const latest =
      reverts === null
        ? laterOf(own.at(-1)?.latest, day)
        : own.findLast(({ upTo }) => upTo < firstReverted)?.latest
    own.push({ upTo: version, latest })
    groups.set(group, own)
    const upTo = (log[n + 1]?.[0] ?? last + 1) - 1
    const state = {
      upTo,
      latest: [...groups.values()].map((all) => all.at(-1)?.latest).reduce(laterOf),
    }
    if (states.at(-1)?.latest === state.latest) states.pop()
    states.push(state)
  }
  return states
}

function laterOf(one: string | undefined, other: string | undefined): string | undefined {
  return one === undefined || (other !== undefined && other > one) ? other : one
}

const momentOf = (ms: number) => new Date(ms).toISOString()

const versionKnownAt = `
  select
    (select max(version) from imports where committed_at <= $1) as version,
    (select min(committed_at) from imports
     where version >= (select past_from from store)) as first`

/** The last import of each source that was not removed since, newest first; at most 100. */
export async function lastImports(db: Rows): Promise<LastImports> {
  const [[version] = [0]] = await db.rows<[number]>('select coalesce(max(version), 0) from imports')
  const imports = await db.rows<[source: string, committedAt: number]>(
    `with gone as (
       select source_id, resource, max(version) as version from imports
       where ${isRemoval} and reverted_by is null group by source_id, resource
     )
     select s.name, i.committed_at
     from imports i join sources s on s.id = i.source_id
     where i.version in (
       select max(l.version) from imports l
       left join gone g on g.source_id = l.source_id and g.resource = l.resource
       where l.reverts is null and l.reverted_by is null and l.version > coalesce(g.version, 0)
       group by l.source_id
     )
     order by i.version desc limit 100`,
  )
  return { version, imports: imports.map(([source, committedAt]) => ({ source, committedAt })) }
}
