// The endpoint that finds companies, by their number in a register or by words of their name.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { matchesMax } from '../../store/sql/find-companies.ts'
import type { FoundCompany } from '../../store/reading.ts'
import {
  companiesForm,
  companiesPath,
  parseCompaniesRequest,
  queryOf,
} from '../companies-request.ts'
import { companiesScope } from '../../store/scopes.ts'
import { describeCompanies } from '../docs/companies.ts'
import { badRequest, fromStore } from '../errors.ts'
import { pageOffset } from '../listing-request.ts'
import { readMembers } from '../members.ts'
import { linkLengthMax, linksTo } from '../page.ts'
import { sendState } from '../state-answer.ts'
import { type Endpoint, readMethods, type Service } from './endpoint.ts'

export const companies: Endpoint = {
  path: companiesPath,
  methods: readMethods,
  scope: companiesScope,
  operation: describeCompanies(),
  createHandler: (service) => (request, reply) => answer(request, reply, service),
}

async function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  { store }: Service,
): Promise<FastifyReply> {
  const asked = parseCompaniesRequest(await readMembers(request, reply))
  const { registry, companies: found } = await fromStore(() => store.findCompanies(queryOf(asked)))
  if (found === undefined) {
    throw badRequest(`More than ${matchesMax} names match; add another word`)
  }
  const { length } = found
  const offset = pageOffset(asked)
  const first = Math.min(Number(offset), length)
  const texts = found.slice(first, first + asked.limit).map(entryText)
  const counters = `"total":${length},"pagination_total":${length},"pagination_offset":${offset}`
  const link = linksTo(asked, length, (page) => companiesForm({ ...asked, page }))
  return sendState(request, reply, {
    text: `{"ok":true,"companies":[${texts.join(',')}],${counters}}`,
    registry,
    ...(link.length <= linkLengthMax ? { link } : {}),
  })
}

function entryText({ id, jurisdiction, identifier, name }: FoundCompany): string {
  return JSON.stringify({ id, jurisdiction, identifier, name })
}
