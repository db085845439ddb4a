// Leaves out the companies about which the source alone says something, and now the same: most of a
// register's later extract. The other ones are compared by opening their listings.

import { statementOf } from '../companies/attributes.ts'
import { createIndexReader } from '../companies/usual-index.ts'
import type { CompanyRows } from './company-rows.ts'
import type { ImportContext } from './context.ts'

/** @param comparison counts the companies that are left out. */
export async function withoutUnchanged(
  { tables, source }: ImportContext,
  batch: readonly CompanyRows[],
  comparison: { held: number },
): Promise<readonly CompanyRows[]> {
  const asked = batch.map(({ companyId }) => companyId)
  const said = await tables.companyStatements(asked, Infinity, 'entries')
  const byCompany = new Map(said.map((one) => [one.companyId, one]))
  const read = createIndexReader((record) => {
    return record.source === source && statementOf(record).isPresent
  })
  return batch.filter(({ companyId, ids, digests }) => {
    const { total, entries = '' } = byCompany.get(companyId) ?? {}
    if (total !== 1 || entries === '') return true
    const { found: isPresent, digest } = read(entries)
    const isSame = isPresent && ids.length === 1 && digest === digests.toHex()
    if (isSame) comparison.held += 1
    return !isSame
  })
}
