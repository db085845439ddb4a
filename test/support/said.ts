// What the sources say about the companies of a store, as rows.

import { queryStore } from './import-rows.ts'
import { withReader } from './open-reader.ts'

/** What one source says about one company. */
export interface SaidRow {
  readonly company_id: number
  readonly jurisdiction: string | null
  readonly identifier: string | null
  readonly source: string
  readonly version: number
  readonly as_of: string | null
  readonly is_present: boolean
  /** A JSON object, as text. */
  readonly attributes: string
}

/** All that sources say about companies, by company and source. */
export async function readSaid(db: string): Promise<SaidRow[]> {
  const companies = await queryStore(db, 'select id from companies order by id')
  return withReader(db, async (reader) => {
    const rows: SaidRow[] = []
    for (const { id } of companies) {
      const asked = { companyId: Number(id), version: undefined, resources: [] }
      const read = await reader.readCompany(asked)
      if (read === undefined || 'outside' in read) continue
      const { jurisdiction, identifier } = read.company
      for (const one of read.sources ?? []) {
        rows.push({
          company_id: Number(id),
          jurisdiction,
          identifier,
          source: one.source,
          version: one.version,
          as_of: one.asOf,
          is_present: one.isPresent,
          attributes: one.attributes,
        })
      }
    }
    return rows
  })
}
