// The names that companies have and had in their registers.

import type { CompanyRow, ListingLookups } from '../listing/tables.ts'

/** The present and past names of companies, including those that a revert has forgotten. */
export async function namesOf(
  tables: Pick<ListingLookups, 'companiesById' | 'pastCompanies'>,
  ids: readonly number[],
): Promise<readonly CompanyRow[]> {
  return [...(await tables.companiesById(ids)), ...(await tables.pastCompanies(ids))]
}
