// The endpoint that finds companies, by their number in a register or by words of their name
// (contract 8.1, 8.2).

import type { HttpReply, HttpRequest } from '../wire/exchange.ts'
import { wordsOfQuery } from '../../store/companies/name-words.ts'
import { matchesMax } from '../../store/sql/find-companies.ts'
import { budgetOf, greatestLimit } from '../../store/page-size.ts'
import type { FoundCompany } from '../../store/reading.ts'
import { companiesScope } from '../../store/keys.ts'
import { hasMoreCharacters } from '../../text/characters.ts'
import { badRequest, invalid } from '../errors.ts'
import { fromStore, pageTooLarge } from '../store-errors.ts'
import { companiesPath } from '../requests/company-request.ts'
import { pageOffset, parameters, readIntegers } from '../requests/listing-request.ts'
import { checkNames, type Given, readMembers, readValue } from '../requests/members.ts'
import { areSame } from '../requests/request-words.ts'
import { joinLinks } from '../answers/links.ts'
import { linksTo } from '../answers/page.ts'
import { sendCached, type StateAnswer } from '../answers/state-answer.ts'
import type { Service } from '../service.ts'
import type { Endpoint } from './endpoint.ts'

type CompaniesRequest = Readonly<ReturnType<typeof parseRequest>>

/** How many identifiers a request may have. */
export const identifiersMax = 100
/** The maximum length of the words of a request, in characters. */
export const queryLengthMax = 256
/** The maximum length of an identifier or a jurisdiction, in characters. */
const textLengthMax = 1_024

/** The parameters that select companies. */
export const companyTexts = ['identifier', 'jurisdiction', 'q'] as const

export const companies: Endpoint = {
  path: companiesPath,
  scope: companiesScope,
  answer,
}

async function answer(request: HttpRequest, service: Service): Promise<HttpReply> {
  const asked = parseRequest(await readMembers(request))
  const form = formOf(asked)
  return sendCached(request, service, { form, make: () => find(request, service, asked) })
}

/** @throws ApiError 400 if more names match than may, or the page would be too large. */
async function find(
  request: HttpRequest,
  { store, turns }: Service,
  asked: CompaniesRequest,
): Promise<StateAnswer> {
  const { identifiers, jurisdiction, q = '' } = asked
  const query = identifiers ? { identifiers, jurisdiction } : { words: wordsOfQuery(q) }
  const findNow = () => store.findCompanies(query)
  // A number may be in hundreds of jurisdictions.
  const isShort = jurisdiction !== undefined || identifiers?.length === 1
  const { registry, companies: found } = await fromStore(() => {
    if (identifiers === undefined) return turns.search(request, findNow)
    return isShort ? findNow() : turns.companies(request, findNow)
  })
  if (found === undefined) {
    throw badRequest(`More than ${matchesMax} names match; add another word`)
  }
  const { length } = found
  const offset = pageOffset(asked)
  const first = Math.min(Number(offset), length)
  const texts = pageTexts(found, first, asked.limit)
  const counters = `"total":${length},"pagination_total":${length},"pagination_offset":${offset}`
  const link = joinLinks(linksTo(asked, length, (page) => formOf({ ...asked, page })))
  return { text: `{"ok":true,"companies":[${texts.join(',')}],${counters}}`, registry, link }
}

/**
 * The texts of a page's companies.
 *
 * @throws ApiError 400 if they are too large for a page (contract 3.10).
 */
function pageTexts(found: readonly FoundCompany[], first: number, limit: number): string[] {
  const texts = found.slice(first, first + limit).map((one) => JSON.stringify(one))
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text) + 1, 0)
  if (bytes <= budgetOf(0).bytesMax) return texts
  const bytesOf = (one: FoundCompany) => Buffer.byteLength(JSON.stringify(one))
  const largest = found.reduce((most, one) => Math.max(most, bytesOf(one)), 0)
  throw pageTooLarge(greatestLimit(budgetOf(largest), limit))
}

/**
 * Parses a request by identifiers, in one jurisdiction or in all, or by the words `q`.
 *
 * @throws ApiError 400 that names the parameter, its value and what it takes.
 */
function parseRequest(given: Given) {
  checkNames(given, [...companyTexts, ...Object.keys(parameters)])
  const identifiers = parseIdentifiers(given)
  const jurisdiction = parseText(given, 'jurisdiction')
  const q = parseText(given, 'q', queryLengthMax)
  if ((identifiers === undefined) === (q === undefined)) {
    const what =
      q === undefined ? 'Neither identifier nor q is given' : 'Both identifier and q are given'
    throw badRequest(`${what}; give one of them: a number in a register, or words of a name`)
  }
  if (q !== undefined) {
    if (jurisdiction !== undefined) {
      throw badRequest('jurisdiction goes with identifier, not with q')
    }
    if (wordsOfQuery(q).length === 0) {
      throw invalid('q', q, 'it takes words of a name, of letters or digits')
    }
  }
  return { identifiers, jurisdiction, q, ...readIntegers(parameters, given) }
}

/** The canonical form: the path, and a query with all given parameters and those with defaults. */
function formOf(request: CompaniesRequest): string {
  const { identifiers = [], jurisdiction, q, page, limit } = request
  let query = ''
  for (const identifier of identifiers) query += `identifier=${encodeURIComponent(identifier)}&`
  if (jurisdiction !== undefined) query += `jurisdiction=${encodeURIComponent(jurisdiction)}&`
  if (q !== undefined) query += `q=${encodeURIComponent(q)}&`
  return `${companiesPath}?${query}page=${page}&limit=${limit}`
}

function parseText(given: Given, name: string, lengthMax?: number): string | undefined {
  return readValue(name, given, (written) => textOf(name, written, lengthMax))
}

/** The identifiers in query or body; undefined if there are none in either. */
function parseIdentifiers({ query, body }: Given): readonly string[] | undefined {
  const name = 'identifier'
  const inQuery = name in query ? textsOf(name, query[name]) : undefined
  const inBody = body !== undefined && name in body ? textsOf(name, body[name]) : undefined
  if (inQuery !== undefined && inBody !== undefined && !areSame(inQuery, inBody)) {
    throw badRequest(`${name} differs between the query and the body; give only one`)
  }
  return inQuery ?? inBody
}

function textsOf(name: string, value: unknown): readonly string[] {
  const texts: readonly unknown[] = Array.isArray(value) ? value : [value]
  if (texts.length === 0) throw invalid(name, value, 'it takes a text')
  if (texts.length > identifiersMax) {
    throw badRequest(`${name} is given ${texts.length} times; it takes at most ${identifiersMax}`)
  }
  return texts.map((text) => textOf(name, text))
}

function textOf(name: string, written: unknown, lengthMax = textLengthMax): string {
  if (typeof written === 'string' && isName(written, lengthMax)) return written
  throw invalid(name, written, `it takes a text of 1 to ${lengthMax} characters`)
}

/** Whether a text can be in a register; no store holds any other. */
function isName(text: string, lengthMax: number): boolean {
  if (text === '' || hasMoreCharacters(text, lengthMax)) return false
  return !text.includes('\0') && text.isWellFormed()
}
