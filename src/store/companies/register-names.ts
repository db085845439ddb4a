// What companies are and were called in their registers.

import type { CompanyRow, ListingLookups } from '../listing/tables.ts'

/** What companies are and were called, those included that a revert has forgotten. */
export async function namesOf(
  tables: Pick<ListingLookups, 'companiesById' | 'pastCompanies'>,
  ids: readonly number[],
): Promise<readonly CompanyRow[]> {
  const past = await tables.pastCompanies(ids)
  return [
    ...(await tables.companiesById(ids)),
    ...past.map(({ companyId: id, ...named }) => ({ id, ...named })),
  ]
}
