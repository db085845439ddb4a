// The query of a listing, from that of the address to that of the API.

import { withQuery } from '../place.ts'
import type { ResourceDescription } from '../resources.ts'

export const pageSizes = [25, 50, 100, 250, 1_000] as const
const usualSize = 25

/** Parameters that name a version. */
export const versionNames = ['version', 'as_of', 'known_at'] as const

export function pageOf(query: URLSearchParams): number {
  return positive(query.get('page')) ?? 1
}

export function sizeOf(query: URLSearchParams): number {
  return positive(query.get('limit')) ?? usualSize
}

function positive(text: string | null): number | undefined {
  const number = Number(text)
  return text !== null && Number.isSafeInteger(number) && number > 0 ? number : undefined
}

/** The path of a company as a whole. */
export function companyPath(company: string, query: URLSearchParams): string {
  return withText(`companies/${encodeURIComponent(company)}`, query)
}

/** The path of a company's listing with a query. */
export function listingPath(
  company: string,
  resource: ResourceDescription,
  query: URLSearchParams,
): string {
  return withText(`companies/${encodeURIComponent(company)}/${resource.name}`, query)
}

function withText(path: string, query: URLSearchParams): string {
  return query.size === 0 ? path : `${path}?${query}`
}

export function queryOf(path: string): URLSearchParams {
  return new URLSearchParams(path.split('?')[1])
}

/** The query of the page that an address shows; the service reports what is wrong with it. */
export function pageQuery(query: URLSearchParams): URLSearchParams {
  const given = (name: string, usual: number) =>
    query.has(name) ? query.getAll(name) : String(usual)
  return withQuery(query, { page: given('page', 1), limit: given('limit', usualSize) })
}

/** What is selected, without page and order: filters and version. */
export function selectionQuery(query: URLSearchParams): URLSearchParams {
  return withQuery(query, { page: undefined, limit: undefined, sort: undefined })
}

/** Whether any filter is set. */
export function isFiltered(query: URLSearchParams): boolean {
  const others: readonly string[] = [...versionNames, 'limit', 'sort', 'page']
  return [...query.keys()].some((name) => !others.includes(name))
}

/** Whether a version is named, so that the past is looked at. */
export function isOfPast(query: URLSearchParams): boolean {
  return versionNames.some((name) => query.has(name))
}

/** The version alone, to go from one view of a company to another. */
export function versionQuery(query: URLSearchParams): URLSearchParams {
  return only(query, versionNames)
}

/** The query without its filters; order, size and version are kept. */
export function withoutFilters(query: URLSearchParams): URLSearchParams {
  return only(query, [...versionNames, 'limit', 'sort'])
}

function only(query: URLSearchParams, names: readonly string[]): URLSearchParams {
  return new URLSearchParams([...query].filter(([name]) => names.includes(name)))
}
