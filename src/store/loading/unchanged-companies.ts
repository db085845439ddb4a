// Leaves out the companies about which the source alone says something, and now the same: most of a
// register's later extract. The other ones are compared by opening their listings.

import { statementOf } from '../companies/attributes.ts'
import { createIndexReader, placesOf } from '../companies/usual-index.ts'
import { digestBytes } from '../listing/segment.ts'
import type { CompanyRows } from './company-rows.ts'
import type { ImportContext } from './context.ts'

/** @param comparison counts the companies that are left out. */
export async function withoutUnchanged(
  { tables, source }: ImportContext,
  batch: readonly CompanyRows[],
  comparison: { held: number },
): Promise<readonly CompanyRows[]> {
  const said = await tables.statementIndexes(batch.map(({ companyId }) => companyId))
  const { entries } = said
  const places = placesOf(said)
  const read = createIndexReader(entries, (record) => {
    return record.source === source && statementOf(record).isPresent
  })
  return batch.filter(({ companyId, ids, digests }) => {
    const place = places.get(companyId)
    if (place?.isUsual !== true || place.indexEnd === place.indexStart) return true
    const { found: isPresent, digestAt } = read(place)
    const end = digestAt + digestBytes
    const isSame =
      isPresent && ids.length === 1 && entries.compare(digests, 0, digestBytes, digestAt, end) === 0
    if (isSame) comparison.held += 1
    return !isSame
  })
}
