// The endpoint that finds companies, by their number in a register or by words of their name.

import type { HttpReply, HttpRequest } from '../wire/exchange.ts'
import { matchesMax } from '../../store/sql/find-companies.ts'
import { greatestLimit, pageBytesMax } from '../../store/page-size.ts'
import type { FoundCompany, StoreReader } from '../../store/reading.ts'
import {
  companiesForm,
  companiesPath,
  type CompaniesRequest,
  parseCompaniesRequest,
  queryOf,
} from '../requests/companies-request.ts'
import { companiesScope } from '../../store/keys.ts'
import { describeCompanies } from '../docs/companies.ts'
import { badRequest } from '../errors.ts'
import { fromStore, pageTooLarge } from '../store-errors.ts'
import { pageOffset } from '../requests/listing-request.ts'
import { readMembers } from '../requests/members.ts'
import { joinLinks } from '../answers/links.ts'
import { linksTo } from '../answers/page.ts'
import { sendCached, type StateAnswer } from '../answers/state-answer.ts'
import { type Endpoint, readMethods, type Service } from './endpoint.ts'

export const companies: Endpoint = {
  path: companiesPath,
  methods: readMethods,
  scope: companiesScope,
  operation: describeCompanies(),
  createHandler: (service) => (request, reply) => answer(request, reply, service),
}

async function answer(
  request: HttpRequest,
  reply: HttpReply,
  service: Service,
): Promise<HttpReply> {
  const asked = parseCompaniesRequest(await readMembers(request, reply))
  const form = companiesForm(asked)
  return sendCached(request, reply, service, { form, make: () => find(service.store, asked) })
}

/** @throws ApiError 400 if more names match than may, or the page would be too large. */
async function find(store: StoreReader, asked: CompaniesRequest): Promise<StateAnswer> {
  const { registry, companies: found } = await fromStore(() => store.findCompanies(queryOf(asked)))
  if (found === undefined) {
    throw badRequest(`More than ${matchesMax} names match; add another word`)
  }
  const { length } = found
  const offset = pageOffset(asked)
  const first = Math.min(Number(offset), length)
  const texts = pageTexts(found, first, asked.limit)
  const counters = `"total":${length},"pagination_total":${length},"pagination_offset":${offset}`
  const link = joinLinks(linksTo(asked, length, (page) => companiesForm({ ...asked, page })))
  return { text: `{"ok":true,"companies":[${texts.join(',')}],${counters}}`, registry, link }
}

/**
 * The texts of a page's companies.
 *
 * @throws ApiError 400 if they are too large for a page (contract 3.10).
 */
function pageTexts(found: readonly FoundCompany[], first: number, limit: number): string[] {
  const texts: string[] = []
  let bytes = 0
  for (const one of found.slice(first, first + limit)) {
    const text = entryText(one)
    bytes += Buffer.byteLength(text) + 1
    if (bytes > room) {
      const widest = Math.max(...found.map((any) => Buffer.byteLength(entryText(any)) + 1))
      throw pageTooLarge(limit, greatestLimit({ widest, room }, limit))
    }
    texts.push(text)
  }
  return texts
}

/** The bytes that a page has for its companies, with a margin for the counters. */
const room = pageBytesMax - 1_024

function entryText({ id, jurisdiction, identifier, name }: FoundCompany): string {
  return JSON.stringify({ id, jurisdiction, identifier, name })
}
