// A request for a company as a whole, as one value (contract 8.4, 9.1).

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { StoreReader } from '../store/reading.ts'
import { companiesPath } from './companies-request.ts'
import { findCompany, parseCompany } from './company-name.ts'
import { fromStore } from './errors.ts'
import { readMembers } from './members.ts'
import { parseVersion } from './selection-parameters.ts'

export interface CompanyQuestion {
  readonly companyId: number
  /** The registry's version; undefined for the last one. */
  readonly version: number | undefined
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
 * @throws ApiError 400 for what is not allowed; else as `readMembers` and `findCompany`.
 */
export async function readCompanyRequest(
  request: FastifyRequest,
  reply: FastifyReply,
  store: StoreReader,
): Promise<CompanyQuestion> {
  const { company_id: segment } = request.params as { company_id: string }
  const given = await readMembers(request, reply)
  const company = parseCompany(segment)
  const version = parseVersion(given)
  const isByRegister = typeof company !== 'number'
  const companyId = isByRegister ? await findCompany(store, company) : company
  const isByMoment = typeof version === 'object'
  return {
    companyId,
    version: isByMoment ? await fromStore(() => store.findRegistryVersion(version)) : version,
    isByName: isByRegister || isByMoment,
  }
}
