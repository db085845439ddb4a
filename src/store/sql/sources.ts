// What each source has in the registry, and when it was imported.

import type { Resource } from '../../resources/resource.ts'
import type { SourceImport, SourceSummary } from '../inspecting.ts'
import type { Database, Row } from './database.ts'

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
  for (const target of ['companies', ...resources.map(({ name }) => name)]) {
    for (const row of await db.rows(
      target === 'companies' ? countCompanies : countRecords(target),
    )) {
      Object.assign(summary(target, row['source_id']), {
        records: Number(row['records']),
        companies: Number(row['companies']),
      })
    }
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

const countCompanies = `
  select source_id, count(*) as records, count(*) as companies
  from company_attributes where is_present group by source_id`

const countRecords = (name: string) => `
  select source_id, count(*) as records, count(distinct company_id) as companies
  from ${name} group by source_id`
