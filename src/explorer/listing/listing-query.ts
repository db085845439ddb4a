// The query of a listing, from that of the address to that of the API.

import { withQuery } from '../place.ts'
import type { ResourceDescription } from '../resources.ts'

export const pageSizes = [25, 50, 100, 250, 1_000] as const
const usualSize = 25

/** Parameters that only change what is on a page, not what is selected. */
const paging = ['page', 'limit']
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
  const text = query.toString()
  const path = `companies/${encodeURIComponent(company)}`
  return text === '' ? path : `${path}?${text}`
}

/** The path of a company's listing with a query. */
export function listingPath(
  company: string,
  resource: ResourceDescription,
  query: URLSearchParams,
): string {
  const text = query.toString()
  const path = `companies/${encodeURIComponent(company)}/${resource.name}`
  return text === '' ? path : `${path}?${text}`
}

/** The query of a path of the API. */
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
  const others = new Set<string>([...paging, ...versionNames, 'sort'])
  return [...query.keys()].some((name) => !others.has(name))
}

/** Whether a version is named, so that the past is looked at. */
export function isOfPast(query: URLSearchParams): boolean {
  return versionNames.some((name) => query.has(name))
}

/** The version alone, to go from one view of a company to another. */
export function versionQuery(query: URLSearchParams): URLSearchParams {
  const next = new URLSearchParams()
  for (const name of versionNames) {
    const value = query.get(name)
    if (value !== null) next.set(name, value)
  }
  return next
}

/** The query without its filters; order, size and version are kept. */
export function withoutFilters(query: URLSearchParams): URLSearchParams {
  const next = versionQuery(query)
  for (const name of ['limit', 'sort']) {
    const value = query.get(name)
    if (value !== null) next.set(name, value)
  }
  return next
}
