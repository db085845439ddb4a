// The endpoint of a company as a whole: who it is, what its sources say, what its listings have.

import type { HttpReply, HttpRequest } from '../wire/exchange.ts'
import type { Resource } from '../../resources/resource.ts'
import { companyText } from '../../store/companies/company-text.ts'
import type { StoreReader } from '../../store/serving/store-reader.ts'
import { companiesScope, hasScope } from '../../store/keys.ts'
import {
  companyPath,
  isByName,
  locate,
  type NumberedState,
  parseCompany,
} from '../requests/company-request.ts'
import { readMembers } from '../requests/members.ts'
import { parseVersion } from '../requests/selection-parameters.ts'
import { fromStore, requireFound, tooLarge } from '../store-errors.ts'
import { linkTo } from '../answers/links.ts'
import { sendCached, type StateAnswer } from '../answers/state-answer.ts'
import type { Service } from '../service.ts'
import type { Endpoint } from './endpoint.ts'

export const company: Endpoint = {
  path: companyPath(),
  scope: companiesScope,
  answer,
}

async function answer(request: HttpRequest, service: Service): Promise<HttpReply> {
  const { company_id: segment } = request.target.params as { company_id: string }
  const given = await readMembers(request)
  const named = { company: parseCompany(segment), version: parseVersion(given) }
  const asked = await locate(service.store, named)
  const { companyId, version } = asked
  const form = companyPath(companyId) + (version === undefined ? '' : `?version=${version}`)
  const readable = service.resources.filter(({ name }) => hasScope(request.key?.scopes, name))
  return sendCached(request, service, {
    form: [form, ...readable.map(({ name }) => name)].join(' '),
    location: isByName(named) ? form : undefined,
    make: () => service.turns.companies(request, () => describe(service.store, asked, readable)),
  })
}

/** @throws ApiError 404 or 410 if there is no such company or version; 400 if it is too large. */
async function describe(
  store: StoreReader,
  asked: NumberedState,
  resources: readonly Resource[],
): Promise<StateAnswer> {
  const { companyId, version } = asked
  const read = await fromStore(() => store.readCompany({ companyId, version, resources }))
  const path = companyPath(companyId)
  const state = requireFound(read, asked, () => path)
  const { registry, lineage, changedAt, sources } = state
  if (sources === undefined) {
    throw tooLarge(
      `Company ${companyId} has attributes of more than`,
      'ask for its listings one by one',
    )
  }
  const text = `{"ok":true,"company":${companyText(state.company, sources, state.listings)}}`
  const isFormer = version !== undefined && version < registry.version
  return {
    text,
    identity: lineage + text,
    registry,
    version,
    changedAt,
    ...(isFormer ? { link: linkTo('latest-version', path) } : {}),
  }
}
