// All records of a selection, for pictures and comparisons: in pages, up to a bound.

import { type AskOptions, ask } from '../api.ts'
import { type ListingAnswer, rowsOf } from '../answers.ts'
import { isOfPast, listingPath } from './listing-query.ts'
import { withQuery } from '../place.ts'
import type { ResourceDescription, Row } from '../resources.ts'

const pageLength = 1_000
/** How many records are loaded at most when the user asks for them. */
export const loadedMax = 10_000
/**
 * How many records are loaded for a picture. With the company then and now, its latest changes, the
 * versions and a page of its listing, a view takes ten requests at most.
 */
export const drawnMax = 5_000
/** Longer listings are compared with now only on request: a page of each, besides a picture. */
export const comparedMax = 1_000

export interface Selection {
  readonly rows: readonly Row[]
  /** How many records are selected; `rows` may be fewer. */
  readonly selected: number
}

/** Loads the records that a query selects, all of one version. */
export async function loadAll(
  company: string,
  resource: ResourceDescription,
  query: URLSearchParams,
  options: AskOptions,
  recordsMax = loadedMax,
): Promise<Selection> {
  const pageAt = (page: number, changes: Readonly<Record<string, string>> = {}) => {
    const text = { ...changes, page: String(page), limit: String(pageLength) }
    const path = listingPath(company, resource, withQuery(query, text))
    return ask<ListingAnswer>(path, options)
  }
  const { version, body } = await pageAt(1)
  const rows = [...rowsOf(resource, body)]
  const selected = body.pagination_total
  const fixed = version === undefined || isOfPast(query) ? {} : { version: String(version) }
  for (let page = 2; rows.length < Math.min(selected, recordsMax); page += 1) {
    const more = rowsOf(resource, (await pageAt(page, fixed)).body)
    if (more.length === 0) break
    rows.push(...more)
  }
  return { rows, selected }
}
