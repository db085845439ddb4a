// What both stores ask alike when they serve.

import type { Head } from '../reading.ts'

// What a listing without records would have: the company's own version, and no meta.
export const headColumns = `
  coalesce(h.total, 0), coalesce(h.version, c.version), i.committed_at,
  (select max(version) from imports), i.lineage`

/** @param company the parameter that is the company's id. */
export const headTables = (name: string, company: string) => `
  from companies c
  left join heads h on h.company_id = ${company} and h.resource = '${name}'
  join imports i on i.version = coalesce(h.version, c.version)
  where c.id = ${company}`

/** The columns of a head, in their order. */
export type HeadRow = [
  total: number,
  version: number,
  changedAt: number,
  dataVersion: number,
  lineage: string,
]

export function headOf([total, version, changedAt, dataVersion, lineage]: HeadRow): Head {
  return { total, version, lineage, changedAt, dataVersion }
}

/** The last import of each source. */
export const lastImportsSql = `
  select s.name as source, i.version, i.committed_at as "committedAt"
  from imports i join sources s on s.id = i.source_id
  where i.version in (select max(version) from imports group by source_id)
  order by i.version desc limit 100`
