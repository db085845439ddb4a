// What each source has in the registry, when it was last imported, and when it last had a company.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Resource } from '../../resources/resource.ts'
import type { SourceImport, SourceSummary } from '../inspecting.ts'
import { readAttributes, statementAt, statementOf } from '../companies/attributes.ts'
import type { RegistryDatabase } from '../sql/database.ts'
import { keysOf, openListings, readIndexes } from '../listing/open-listings.ts'
import { attributesShape } from '../listing/shape.ts'
import { versionEnd } from '../listing/tables.ts'
import { isRemoval } from '../sql/import-log.ts'

/** Every source of every target by name, including those whose records are gone. */
export async function listSources(
  db: RegistryDatabase,
  resources: readonly Resource[],
): Promise<SourceSummary[]> {
  const sources = await db.tables.sources()
  const found = new Map<string, SourceSummary & { imports: SourceImport[] }>()
  const summary = (target: string, sourceId: number) => {
    const source = sources.get(sourceId)?.name ?? ''
    const key = JSON.stringify([source, target])
    const known = found.get(key) ?? { source, target, records: 0, companies: 0, imports: [] }
    found.set(key, known)
    return known
  }
  for (const [target, source, version, committedAt, asOf] of await db.rows<Import>(
    importsInForce,
  )) {
    summary(target, source).imports.push({ version, committedAt, asOf: asOf ?? undefined })
  }
  const targets = new Set(resources.map(({ name }) => name))
  const isErased = (await db.rows(someErased)).length > 0
  const counts = isErased ? await countPresent(db) : await db.rows<Count>(countCompanies)
  for (const [target, source, records, companies] of [
    ...counts,
    ...(await db.rows<Count>(countRecords)),
  ]) {
    if (target !== 'companies' && !targets.has(target)) continue
    Object.assign(summary(target, source), { records, companies })
  }
  return [...found.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one)
}

const importsInForce = `
  select resource, source_id, version, committed_at, as_of from imports
  where reverts is null and reverted_by is null and not ${isRemoval} order by version`

type Import = readonly [
  target: string,
  source: number,
  version: number,
  committedAt: number,
  asOf: string | null,
]
type Count = readonly [target: string, source: number, records: number, companies: number]

// Imports count a company that returns as new, and one that is absent as removed; so do reverts.
const countCompanies = `
  select 'companies', source_id, cast(sum(inserted - removed) as bigint),
    cast(sum(inserted - removed) as bigint)
  from imports where resource = 'companies'
  group by source_id having sum(inserted - removed) > 0`

// Erased companies, which the log still counts; their sources are unknown.
const someErased = 'select 1 from company_states where since = 0 limit 1'

const companiesAtOnce = 1_000

/** The companies that each source has, counted one by one. */
async function countPresent({ tables }: RegistryDatabase): Promise<Count[]> {
  const counts = new Map<number, number>()
  const { listing } = attributesShape
  for (let after = -1; ;) {
    const ids = await tables.companiesWith(listing, { after, limit: companiesAtOnce })
    const open = await openListings(tables, listing, ids)
    const keys = [...open].flatMap(([id, { leaves }]) => keysOf(id, leaves))
    const read = readIndexes(tables, attributesShape, keys)
    await read(keys.length, (index) => {
      for (const [n, source] of index.sources.entries()) {
        if (statementAt(index, n).isPresent) counts.set(source, (counts.get(source) ?? 0) + 1)
      }
    })
    if (ids.length < companiesAtOnce) break
    after = ids.at(-1) ?? Infinity
    await nextTurn()
  }
  return [...counts].map(([source, count]) => [listing, source, count, count])
}

const countRecords = `
  select listing, source_id, count(*), count(distinct company_id)
  from record_ids group by listing, source_id`

/**
 * For each source that has said something about a company, the day of the last import that
 * certainly contained it, in wire form: a snapshot, or the import that changed the company. An
 * import without a day counts by its commit.
 */
export async function readLastSeen(
  db: RegistryDatabase,
  companyId: number,
): Promise<ReadonlyMap<string, string | undefined>> {
  const sources = await db.tables.sources()
  const said = (await readAttributes(db.tables, [companyId])).get(companyId) ?? []
  const days = new Map<string, string | undefined>()
  for (const { source, values } of said) {
    const { version, isPresent, saidIn } = statementOf({ values })
    const end = isPresent ? versionEnd : version
    type Seen = [asOf: string | null, committedAt: number]
    const [[asOf, committedAt] = [null, null]] = await db.rows<Seen>(lastSeen, source, end, saidIn)
    days.set(String(sources.get(source)?.name), asOf ?? dayOf(committedAt))
  }
  return days
}

/**
 * The last import in force that certainly contained the company: the last snapshot, or the import
 * of the current state if that is later; if the company is absent, an import before its removal.
 * Imports that changed nothing leave no trace, unless they are snapshots.
 */
const lastSeen = `
  select as_of, committed_at from imports
  where resource = 'companies' and source_id = $1 and reverts is null and reverted_by is null
    and version < $2 and (is_snapshot or version = $3)
  order by version desc limit 1`

/** The day of a moment in milliseconds since 1970, in wire form. */
function dayOf(moment: number | null): string | undefined {
  return moment === null ? undefined : `${new Date(moment).toISOString().slice(0, 10)}T00:00:00Z`
}
