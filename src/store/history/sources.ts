// What each source has in the registry, and when it was imported.

import type { Resource } from '../../resources/resource.ts'
import type { SourceImport, SourceSummary } from '../inspecting.ts'
import type { Database, Row } from '../sql/database.ts'

/** Every source of every target, those whose records are gone included, by name. */
export async function listSources(
  db: Database,
  resources: readonly Resource[],
): Promise<SourceSummary[]> {
  const names = new Map(
    (await db.rows('select id, name from sources')).map((row) => [
      Number(row['id']),
      String(row['name']),
    ]),
  )
  const found = new Map<string, SourceSummary & { imports: SourceImport[] }>()
  const summary = (target: string, sourceId: unknown) => {
    const source = names.get(Number(sourceId)) ?? ''
    const key = JSON.stringify([source, target])
    const known = found.get(key) ?? { source, target, records: 0, companies: 0, imports: [] }
    found.set(key, known)
    return known
  }
  const imports = await db.rows(importsInForce)
  for (const row of imports)
    summary(String(row['resource']), row['source_id']).imports.push(of(row))
  const targets = new Set(resources.map(({ name }) => name))
  for (const row of [...(await db.rows(countCompanies)), ...(await db.rows(countRecords))]) {
    const target = String(row['target'])
    if (target !== 'companies' && !targets.has(target)) continue
    Object.assign(summary(target, row['source_id']), {
      records: Number(row['records']),
      companies: Number(row['companies']),
    })
  }
  return [...found.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one)
}

const importsInForce = `
  select resource, source_id, version, committed_at, as_of from imports
  where reverts is null and reverted_by is null order by version`

function of(row: Row): SourceImport {
  const asOf = row['as_of']
  return {
    version: Number(row['version']),
    committedAt: Number(row['committed_at']),
    asOf: asOf === null ? undefined : String(asOf),
  }
}

// Imports count a company that returns as new, and one that is absent as removed; so do reverts.
const countCompanies = `
  select 'companies' as target, source_id, sum(inserted - removed) as records,
    sum(inserted - removed) as companies
  from imports where resource = 'companies'
  group by source_id having sum(inserted - removed) > 0`

const countRecords = `
  select listing as target, source_id, count(*) as records, count(distinct company_id) as companies
  from record_ids group by listing, source_id`
