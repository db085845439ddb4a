// Compares the names of companies with what their sources say.

import { nameOf, readNames, readNamingSources } from '../companies/keep-names.ts'
import type { ListedRecord } from '../listing/segment.ts'
import { attributesShape } from '../listing/shape.ts'
import { type Database, readValue } from '../sql/database.ts'
import type { Report } from './faults.ts'

export type NameCheck = Awaited<ReturnType<typeof createNameCheck>>

export async function createNameCheck(db: Database, report: Report) {
  const sources = await readNamingSources(db)
  let pending = new Map<number, string | undefined>()
  let count = 0
  const wrong = (id: number) =>
    report('names', `company ${id}: its name is not what its sources say`)
  return {
    /** Notes what sources say about a company. */
    note(companyId: number, records: readonly ListedRecord[]): void {
      pending.set(companyId, nameIn(records))
    },
    /** Compares the companies that were noted since the last time. */
    async compare(): Promise<void> {
      const kept = await readNames(db, [...pending.keys()])
      for (const [id, name] of pending) if (kept.get(id) !== name) wrong(id)
      count += kept.size
      pending = new Map()
    },
    /** Finds the names of companies about which no source says anything. */
    async finish(): Promise<void> {
      if (Number(await readValue(db, 'select count(*) from names')) === count) return
      const others = `
        select company_id from names n where not exists (
          select 1 from heads h
          where h.company_id = n.company_id and h.listing = '${attributesShape.listing}'
        )`
      for await (const rows of db.batches(others)) {
        for (const row of rows) wrong(Number(row['company_id']))
      }
    },
  }

  function nameIn(records: readonly ListedRecord[]): string | undefined {
    try {
      return nameOf(records, sources)
    } catch {
      // Attributes that are not JSON are reported as such.
      return undefined
    }
  }
}
