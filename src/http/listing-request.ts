// A request for a listing as one value, parsed once from path, query and body. Cache key, entity
// tag and links derive from its canonical form, so that none of them can miss a parameter.

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Resource } from '../resources/resource.ts'
import type { CompanyName } from '../store/inspecting.ts'
import type { StoreReader } from '../store/reading.ts'
import type { Selection } from '../store/selection.ts'
import { findCompany, parseCompany } from './company-name.ts'
import { badRequest, fromStore, invalid } from './errors.ts'
import { type Given, type Members, readMembers } from './members.ts'
import { parseSelection, type SelectionParameters, selectsNothing } from './selection-parameters.ts'

/** A request for a page of a listing. */
export interface ListingRequest extends Omit<SelectionParameters, 'version'> {
  readonly resource: Resource
  readonly companyId: number
  readonly page: number
  readonly limit: number
  /** The registry's version; undefined for the last one. */
  readonly version: number | undefined
}

/** A parameter: its range and its default (contract 1.3). */
export interface Parameter {
  readonly description: string
  readonly default: number
  readonly minimum: number
  readonly maximum: number
}

/** The parameters of every listing, in the order of the canonical form. */
export const parameters = {
  page: {
    description: 'Page number',
    default: 1,
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
  },
  limit: { description: 'Records per page', default: 100, minimum: 1, maximum: 1_000 },
} as const satisfies Readonly<Record<string, Parameter>>

type ParameterName = keyof typeof parameters

const names = Object.keys(parameters) as ParameterName[]
/** What precedes the value of each parameter in a query, in the order of the table. */
const queryParts = names.map((name, at) => [`${at === 0 ? '?' : '&'}${name}=`, name] as const)
const decimalDigits = /^\d{1,16}$/

/** The path of a company's listing of a resource; without a company, its id is in braces. */
export function listingPath({ name }: Resource, companyId: number | string = '{company_id}') {
  return `/api/v1/companies/${companyId}/${name}`
}

/** A request as the client wrote it: the company may be named by its register's name. */
type WrittenRequest = SelectionParameters &
  Omit<ListingRequest, 'companyId' | 'version'> & { readonly company: CompanyName }

/**
 * Parses a request, with its body if it has one, and finds the company that its path names.
 *
 * @returns whether the request names the company or the version in another way than by its number,
 *   besides the request.
 * @throws ApiError as `parseListingRequest`, `readBody` and `findCompany` do.
 */
export async function readListingRequest(
  request: FastifyRequest,
  reply: FastifyReply,
  resource: Resource,
  store: StoreReader,
): Promise<{ readonly asked: ListingRequest; readonly isByName: boolean }> {
  const { company_id: segment } = request.params as { company_id: string }
  const { query, body } = await readMembers(request, reply)
  const { company, version, ...rest } = parseListingRequest(resource, segment, query, body)
  const isByName = typeof company !== 'number'
  const companyId = isByName ? await findCompany(store, company) : company
  const isByMoment = typeof version === 'object'
  const found = isByMoment ? await fromStore(() => store.findVersion(resource, version)) : version
  const asked = { companyId, version: found, ...rest }
  return { asked, isByName: isByName || isByMoment }
}

/** What a request selects of its listing. */
export function selectionOf({ resource, companyId, ...request }: ListingRequest): Selection {
  const { version, filters, sort } = request
  return { resource, companyId, version, filters, sort }
}

/**
 * Parses the parts of a request into one value (contract 1.2 to 1.5).
 *
 * @param segment is the company in the path.
 * @param query has a list of texts for a repeated parameter.
 * @param body is the JSON object of the request's body; undefined if there is none.
 * @throws ApiError 400 that names the parameter, its value and what it takes.
 */
export function parseListingRequest(
  resource: Resource,
  segment: string,
  query: Members,
  body: Members | undefined,
): WrittenRequest {
  const company = parseCompany(segment)
  const isPlain = isPaging(query) && (body === undefined || isPaging(body))
  return {
    ...(isPlain ? selectsNothing : parseSelection(resource, query, body, names)),
    resource,
    company,
    ...parsePaging({ query, body }),
  }
}

/** The part of a request that says which page it asks for. */
export type Paging = Pick<ListingRequest, ParameterName>

/** @throws ApiError 400 that names the parameter, its value and what it takes. */
export function parsePaging({ query, body }: Given): Paging {
  return {
    page: parseInteger('page', parameters.page, { query, body }),
    limit: parseInteger('limit', parameters.limit, { query, body }),
  }
}

/**
 * The canonical form of a request without its version: its path, and a query with every parameter
 * in a fixed order. Two requests with the same form ask for the same page of a listing's state.
 */
export function canonicalForm(request: ListingRequest): string {
  let form = listingPath(request.resource, request.companyId)
  for (const [part, name] of queryParts) form += `${part}${request[name]}`
  return form + request.query
}

/** The canonical form with a version, for links. */
export function versionedForm(form: string, version: number): string {
  return `${form}&version=${version}`
}

/**
 * The exact number of records before the page (contract 3.3); a bigint if it is too large for a
 * number, as with a page near 2^53.
 */
export function pageOffset({ page, limit }: Paging): number | bigint {
  const offset = (page - 1) * limit
  return Number.isSafeInteger(offset) ? offset : BigInt(page - 1) * BigInt(limit)
}

/** The allowed values of a parameter, in words. */
export function allowedFor({ minimum, maximum }: Parameter): string {
  return `it takes an integer from ${minimum} to ${maximum}`
}

/** Whether nothing but a page is asked for. */
function isPaging(members: Members): boolean {
  for (const name in members) if (name !== 'page' && name !== 'limit') return false
  return true
}

/**
 * The values of parameters by name, as `parseInteger` finds them.
 *
 * @throws ApiError 400 as `parseInteger`.
 */
export function parseIntegers<Name extends string>(
  declared: Readonly<Record<Name, Parameter>>,
  given: Given,
): Readonly<Record<Name, number>> {
  const entries = Object.entries<Parameter>(declared)
  const values = entries.map(([name, one]) => [name, parseInteger(name, one, given)])
  return Object.fromEntries(values) as Readonly<Record<Name, number>>
}

/**
 * The value of a parameter in query or body, or its default.
 *
 * @throws ApiError 400 that names the parameter, its value and what it takes.
 */
function parseInteger(name: string, parameter: Parameter, { query, body }: Given): number {
  const inQuery = query[name]
  const inBody = body?.[name]
  if (Array.isArray(inQuery)) {
    throw badRequest(`${name} is given more than once; ${allowedFor(parameter)}`)
  }
  const fromQuery = inQuery === undefined ? undefined : parseValue(name, parameter, inQuery)
  const fromBody = inBody === undefined ? undefined : parseValue(name, parameter, inBody)
  if (fromQuery !== undefined && fromBody !== undefined && fromQuery !== fromBody) {
    throw badRequest(`${name} is ${fromQuery} in the query and ${fromBody} in the body; give one`)
  }
  return fromQuery ?? fromBody ?? parameter.default
}

function parseValue(name: string, parameter: Parameter, value: unknown): number {
  const { minimum, maximum } = parameter
  const number =
    typeof value === 'number' || (typeof value === 'string' && decimalDigits.test(value))
      ? Number(value)
      : NaN
  if (Number.isSafeInteger(number) && number >= minimum && number <= maximum) return number
  throw invalid(name, value, allowedFor(parameter))
}
