// A request for a company as a whole, as one value (contract 8.4, 9.1).

import type { HttpReply, HttpRequest } from '../wire/exchange.ts'
import type { StoreReader } from '../../store/reading.ts'
import { isByName, locate, type NumberedState, parseCompany } from './company-name.ts'
import { readMembers } from './members.ts'
import { parseVersion } from './selection-parameters.ts'

export const companiesPath = '/api/v1/companies'

export interface CompanyQuestion extends NumberedState {
  /** Whether the request names company or version in another way than by its number. */
  readonly isByName: boolean
}

/** The path of a company; without one, its id is in braces. */
export function companyPath(companyId: number | string = '{company_id}'): string {
  return `${companiesPath}/${companyId}`
}

/** The path and the version. */
export function companyForm({ companyId, version }: CompanyQuestion): string {
  return companyPath(companyId) + (version === undefined ? '' : `?version=${version}`)
}

/**
 * Parses a request, and finds the company and the version that it names.
 *
 * @throws ApiError 400 for what is not allowed; else as `readMembers` and `locate`.
 */
export async function readCompanyRequest(
  request: HttpRequest,
  reply: HttpReply,
  store: StoreReader,
): Promise<CompanyQuestion> {
  const { company_id: segment } = request.target.params as { company_id: string }
  const given = await readMembers(request, reply)
  const named = { company: parseCompany(segment), version: parseVersion(given) }
  // Every key that gets here has the scope for finding companies.
  const located = await locate(store, named, { resource: undefined, isNearTold: true })
  return { ...located, isByName: isByName(named) }
}
