// A request for companies as one value: by their number in a register, or by words of their name
// (contract 8.1).

import { wordsOfQuery } from '../../store/name-words.ts'
import type { CompanyQuery } from '../../store/reading.ts'
import { badRequest, invalid } from '../errors.ts'
import { type Paging, parameters, readIntegers } from './listing-request.ts'
import { checkNames, type Given } from './members.ts'

/** A request for a page of companies. */
export interface CompaniesRequest extends Paging {
  /** In the order given; undefined for a request by words. */
  readonly identifiers: readonly string[] | undefined
  /** Undefined for all jurisdictions. */
  readonly jurisdiction: string | undefined
  /** The words, as given. */
  readonly q: string | undefined
}

export const companiesPath = '/api/v1/companies'

/** How many identifiers a request may have. */
export const identifiersMax = 100
/** The maximum length of the words of a request, in UTF-16 code units. */
export const queryLengthMax = 256
/** The maximum length of an identifier or a jurisdiction, in UTF-16 code units. */
const textLengthMax = 1_024

/** The parameters that select companies, with their descriptions. */
export const companyParameters = {
  identifier: `Number of the company in its register; up to ${identifiersMax} of them`,
  jurisdiction: 'Jurisdiction of the register, together with `identifier`',
  q: 'Words of the name, instead of `identifier`: all of them, the last one as a beginning',
} as const

const known = [...Object.keys(companyParameters), ...Object.keys(parameters)]

/** @throws ApiError 400 that names the parameter, its value and what it takes. */
export function parseCompaniesRequest(given: Given): CompaniesRequest {
  checkNames(given, known)
  const identifiers = parseTexts(given, 'identifier')
  const [jurisdiction, another] = parseTexts(given, 'jurisdiction') ?? []
  const [q, more] = parseTexts(given, 'q') ?? []
  if (another !== undefined) throw badRequest('jurisdiction is given more than once')
  if (more !== undefined) throw badRequest('q is given more than once')
  if ((identifiers === undefined) === (q === undefined)) {
    const what = q === undefined ? 'Neither' : 'Both'
    throw badRequest(
      `${what} identifier ${q === undefined ? 'nor' : 'and'} q ${q === undefined ? 'is' : 'are'} ` +
        'given; give one of them: a number in a register, or words of a name',
    )
  }
  if (q !== undefined) {
    if (jurisdiction !== undefined) {
      throw badRequest('jurisdiction goes with identifier, not with q')
    }
    checkWords(q)
  }
  return { identifiers, jurisdiction, q, ...readIntegers(parameters, given) }
}

/** The search that a request asks for. */
export function queryOf({ identifiers, jurisdiction, q }: CompaniesRequest): CompanyQuery {
  return identifiers === undefined
    ? { words: wordsOfQuery(q ?? '') }
    : { identifiers, jurisdiction }
}

/** The canonical form: the path, and a query with what is given and what has a default. */
export function companiesForm(request: CompaniesRequest): string {
  const { identifiers = [], jurisdiction, q, page, limit } = request
  let query = ''
  for (const identifier of identifiers) query += `identifier=${encodeURIComponent(identifier)}&`
  if (jurisdiction !== undefined) query += `jurisdiction=${encodeURIComponent(jurisdiction)}&`
  if (q !== undefined) query += `q=${encodeURIComponent(q)}&`
  return `${companiesPath}?${query}page=${page}&limit=${limit}`
}

function checkWords(q: string): void {
  if (q.length > queryLengthMax) {
    throw invalid('q', q, `it takes at most ${queryLengthMax} characters`)
  }
  if (wordsOfQuery(q).length === 0) {
    throw invalid('q', q, 'it takes words of a name, of letters or digits')
  }
}

/** The values of a parameter in query or body; undefined if it is in neither. */
function parseTexts({ query, body }: Given, name: string): readonly string[] | undefined {
  const inQuery = name in query ? textsOf(name, query[name]) : undefined
  const inBody = body !== undefined && name in body ? textsOf(name, body[name]) : undefined
  if (inQuery !== undefined && inBody !== undefined) {
    const isSame = JSON.stringify(inQuery) === JSON.stringify(inBody)
    if (!isSame) throw badRequest(`${name} differs between the query and the body; give one`)
  }
  return inQuery ?? inBody
}

function textsOf(name: string, value: unknown): readonly string[] {
  const texts: readonly unknown[] = Array.isArray(value) ? value : [value]
  if (texts.length === 0) throw invalid(name, value, 'it takes a text')
  if (texts.length > identifiersMax) {
    throw badRequest(`${name} is given ${texts.length} times; it takes at most ${identifiersMax}`)
  }
  return texts.map((text) => {
    if (typeof text === 'string' && isName(text)) return text
    throw invalid(name, text, `it takes a text of 1 to ${textLengthMax} characters`)
  })
}

/** Whether a text can be in a register; no store holds others. */
function isName(text: string): boolean {
  const { length } = text
  return length > 0 && length <= textLengthMax && !text.includes('\0') && text.isWellFormed()
}
