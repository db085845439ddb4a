// A page as it goes on the wire: its bytes, and the headers that say what it is.

import type { Resource } from '../resources/resource.ts'
import type { Head, Page } from '../store/reading.ts'
import type { PageRequest } from './parameters.ts'

/**
 * How many records stand before a page (contract 3.3), exactly: a page number near 2^53 times its
 * limit is beyond what a number holds.
 */
export function pageOffset({ page, limit }: PageRequest): number | bigint {
  const offset = (page - 1) * limit
  return Number.isSafeInteger(offset) ? offset : BigInt(page - 1) * BigInt(limit)
}

/** The body of a success (contract 3.1), around the records as the store has them. */
export function pageBody(resource: Resource, request: PageRequest, page: Page): Buffer {
  const { meta, total } = page
  const head = `{"ok":true,"${resource.name}":[`
  const tail =
    (resource.metaOf === undefined ? ']' : `],"meta":${meta ?? '[]'}`) +
    `,"total":${total},"pagination_total":${total},"pagination_offset":${pageOffset(request)}}`
  return page.recordsBetween(head, tail)
}

/**
 * The entity tag of a page. It changes with its listing's version alone; page and limit are in it
 * because they may come in the body, where two pages have one URL, and the store's id because a
 * store that is made anew counts its versions from 1 again. Weak, since one tag stands for every
 * content encoding (RFC 9110 section 8.8.1).
 */
export function entityTag(storeId: string, { version }: Head, request: PageRequest): string {
  return `W/"${storeId}-${version}-${request.page}-${request.limit}"`
}

/** Whether an If-None-Match field names the tag, by weak comparison (RFC 9110 section 13.1.2). */
export function matchesTag(field: string | undefined, tag: string): boolean {
  if (field === undefined) return false
  if (field.trim() === '*') return true
  const opaque = tag.slice(2)
  return field.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === opaque)
}

/** The Link field (RFC 8288): `first`, `prev`, `next` and `last`, each relative to the host. */
export function linkField(path: string, { page, limit }: PageRequest, total: number): string {
  const last = Math.max(1, Math.ceil(total / limit))
  const link = (rel: string, to: number) => `<${path}?page=${to}&limit=${limit}>; rel="${rel}"`
  const links = [link('first', 1)]
  if (page > 1) links.push(link('prev', Math.min(page - 1, last)))
  if (page < last) links.push(link('next', page + 1))
  return [...links, link('last', last)].join(', ')
}
