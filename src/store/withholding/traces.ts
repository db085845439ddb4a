// What those who follow the registry have to be told of a withholding, which heads do not show: the
// former ones were written anew, too.

import { attributesShape } from '../listing/shape.ts'
import type { ListingTables, TraceRow } from '../listing/tables.ts'
import type { Applied } from './apply.ts'

const rowsAtOnce = 1_000

/** Leaves traces of what a version has withheld. */
export async function leaveTraces(
  tables: ListingTables,
  version: number,
  { touched, erased }: Applied,
): Promise<void> {
  const companies = new Map<number, TraceRow>()
  const records = new Map<string, TraceRow[]>()
  for (const { listing, companyId, id, sort, isPresent, isGone } of touched) {
    const kind = isGone ? 'erase' : 'put'
    if (listing === attributesShape.listing) {
      companies.set(companyId, { companyId, version, id: companyId, sort: 0, kind: 'put' })
    } else if (isPresent || isGone) {
      const rows = records.get(listing) ?? []
      records.set(listing, rows)
      rows.push({ companyId, version, id, sort, kind })
    }
  }
  if (erased !== undefined) {
    const row = { companyId: erased, version, id: erased, sort: 0 }
    companies.set(erased, { ...row, kind: 'erase' })
  }
  for (const [listing, rows] of [
    ...records,
    [attributesShape.listing, [...companies.values()]] as const,
  ]) {
    for (let at = 0; at < rows.length; at += rowsAtOnce) {
      await tables.putTraces(listing, rows.slice(at, at + rowsAtOnce))
    }
  }
}
