// A request for a listing as one value, parsed once from path, query and body. Cache key, entity
// tag and links derive from its canonical form, so that none of them can miss a parameter.

import type { HttpRequest } from '../wire/exchange.ts'
import type { Resource } from '../../resources/resource.ts'
import { after } from '../../store/awaitable.ts'
import type { CompanyName } from '../../store/inspecting.ts'
import type { StoreReader } from '../../store/serving/store-reader.ts'
import { companiesScope, hasScope } from '../../store/keys.ts'
import { chooseCoding } from '../wire/coding.ts'
import { isByName, locate, type NumberedState, parseCompany } from './company-request.ts'
import { badRequest, invalid } from '../errors.ts'
import { chooseFormat, type Format, formatName, formats } from './formats.ts'
import { type Given, type Members, readMembers, readValue } from './members.ts'
import { parseSelection, type SelectionParameters, selectsNothing } from './selection-parameters.ts'

export interface ListingRequest extends Omit<SelectionParameters, 'version'>, NumberedState {
  readonly resource: Resource
  readonly page: number
  /** `noLimit` for all records. */
  readonly limit: number
  readonly format: Format
}

/** A request that has been read, and how it is answered. */
export type AskedListing = Readonly<Awaited<ReturnType<typeof readListingRequest>>>

/** The range and the default of a parameter (contract 1.3). */
export interface Parameter {
  readonly default: number
  readonly minimum: number
  readonly maximum: number
}

/** The parameters of every listing, in the order of the canonical form. */
export const parameters = {
  page: { default: 1, minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
  limit: { default: 100, minimum: 1, maximum: 1_000 },
} as const satisfies Readonly<Record<string, Parameter>>

type ParameterName = keyof typeof parameters

/** The limit of a request for all records in one answer (contract 11.3). */
export const noLimit = Infinity
const noLimitWord = 'all'

/** What is parsed here: everything else selects records. */
const names: readonly string[] = [...Object.keys(parameters), formatName]
const decimalDigits = /^\d{1,16}$/

/** The path of a company's listing of a resource; without a company, its id is in braces. */
export function listingPath(
  { name }: Pick<Resource, 'name'>,
  companyId: number | string = '{company_id}',
) {
  return `/api/v1/companies/${companyId}/${name}`
}

/** A request as the client wrote it: the company may be named by its register number. */
type WrittenRequest = SelectionParameters &
  Omit<ListingRequest, 'companyId' | 'version'> & { readonly company: CompanyName }

/**
 * Parses a request, with its body if it has one, and finds the company that its path names.
 *
 * @returns it with its canonical form, whether it names company or version otherwise than by their
 *   numbers, and the coding that the client prefers.
 * @throws ApiError as `parseListingRequest`, `readMembers` and `locate` do.
 */
export function readListingRequest(request: HttpRequest, resource: Resource, store: StoreReader) {
  const { company_id: segment } = request.target.params as { company_id: string }
  return after(readMembers(request), ({ query, body }) => {
    const { accept, 'accept-encoding': accepted } = request.headers
    const parsed = parseListingRequest(resource, segment, { query, body, accept })
    // Only a key that may search for companies learns of others than the one that it names.
    const isNearTold = hasScope(request.key?.scopes, companiesScope)
    const located = locate(store, parsed, isNearTold, resource)
    return after(located, ({ companyId, version }) => {
      // A copy without the name of the company would take six times as long.
      const asked = { ...parsed, companyId, version }
      const coding = chooseCoding(accepted)
      return { ...asked, form: canonicalUrl(asked), isByName: isByName(parsed), coding }
    })
  })
}

/**
 * Parses the parts of a request into one value (contract 1.2 to 1.5).
 *
 * @param segment is the company in the path.
 * @param given the query has a list of texts for a repeated parameter; `accept` is the field of
 *   that name.
 * @throws ApiError 400 that names the parameter, its value and what it takes.
 */
export function parseListingRequest(
  resource: Resource,
  segment: string,
  given: Given & { readonly accept: string | undefined },
): WrittenRequest {
  const { query, body } = given
  const company = parseCompany(segment)
  const isPlain = isPaging(query) && (body === undefined || isPaging(body))
  const selected = isPlain ? selectsNothing : parseSelection(resource, given, names)
  const format = chooseFormat(given, given.accept, formats)
  return { ...selected, resource, company, format, ...parseListingPaging(given, format) }
}

function parseListingPaging(given: Given, format: Format): Paging {
  const page = readInteger('page', parameters.page, given)
  const limit = readValue<number | typeof noLimitWord>(
    'limit',
    given,
    (written) =>
      written === noLimitWord ? noLimitWord : parseInteger('limit', parameters.limit, written),
    () => allowedFor(parameters.limit),
  )
  if (limit !== noLimitWord) return { page, limit: limit ?? parameters.limit.default }
  if (format === 'json') throw badRequest('limit is "all"; that takes format=csv or format=ndjson')
  if (page > 1) throw badRequest(`page is ${page}; limit=all has only one page`)
  return { page, limit: noLimit }
}

export type Paging = Pick<ListingRequest, ParameterName>

/**
 * The canonical form of a request without its version: its path, and a query with every parameter
 * in a fixed order. Two requests with the same form ask for the same page of a listing's state.
 */
export function canonicalUrl(request: ListingRequest): string {
  const { resource, companyId, page, limit, query, format } = request
  const count = limit === noLimit ? noLimitWord : limit
  const form = `${listingPath(resource, companyId)}?page=${page}&limit=${count}${query}`
  return format === 'json' ? form : `${form}&${formatName}=${format}`
}

export function versionedForm(form: string, version: number): string {
  return `${form}&version=${version}`
}

/**
 * The exact number of records before the page (contract 3.3); a bigint if it is too large for a
 * number, as with a page near 2^53.
 */
export function pageOffset({ page, limit }: Paging): number | bigint {
  if (page === 1) return 0
  const offset = (page - 1) * limit
  return Number.isSafeInteger(offset) ? offset : BigInt(page - 1) * BigInt(limit)
}

function allowedFor({ minimum, maximum }: Parameter): string {
  return `it takes an integer from ${minimum} to ${maximum}`
}

/** Whether the request selects nothing but a page. */
function isPaging(members: Members): boolean {
  for (const name in members) if (name !== 'page' && name !== 'limit') return false
  return true
}

/** The values of parameters by name, or their defaults. @throws ApiError as `invalid`. */
export function readIntegers<Name extends string>(
  declared: Readonly<Record<Name, Parameter>>,
  given: Given,
): Readonly<Record<Name, number>> {
  const entries = Object.entries<Parameter>(declared)
  const values = entries.map(([name, one]) => [name, readInteger(name, one, given)])
  return Object.fromEntries(values) as Readonly<Record<Name, number>>
}

function readInteger(name: string, parameter: Parameter, given: Given): number {
  const parse = (written: unknown) => parseInteger(name, parameter, written)
  return readValue(name, given, parse, () => allowedFor(parameter)) ?? parameter.default
}

function parseInteger(name: string, parameter: Parameter, written: unknown): number {
  const { minimum, maximum } = parameter
  const number =
    typeof written === 'number' || (typeof written === 'string' && decimalDigits.test(written))
      ? Number(written)
      : NaN
  if (Number.isSafeInteger(number) && number >= minimum && number <= maximum) return number
  throw invalid(name, written, allowedFor(parameter))
}
