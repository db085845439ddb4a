// A page as it goes on the wire: its bytes, and the headers that say what it is.

import type { Resource } from '../resources/resource.ts'
import { type Head, type Page, room } from '../store/store.ts'
import type { PageRequest } from './parameters.ts'

/**
 * How many records stand before a page (contract 3.3), exactly: a page number near 2^53 times its
 * limit is beyond what a number holds.
 */
export function pageOffset({ page, limit }: PageRequest): number | bigint {
  const offset = (page - 1) * limit
  return Number.isSafeInteger(offset) ? offset : BigInt(page - 1) * BigInt(limit)
}

/**
 * The body of a success (contract 3.1), around the records' bytes as the store has them. Written
 * into the room that is around them: with a copy, a page of 37 kB takes 170 us and not 155, most of
 * that for the memory that it leaves to be collected.
 */
export function pageBody(resource: Resource, request: PageRequest, page: Page): Buffer {
  const { records, meta, total } = page
  const head = `{"ok":true,"${resource.name}":[`
  const tail =
    (resource.metaOf === undefined ? ']' : `],"meta":${meta ?? '[]'}`) +
    `,"total":${total},"pagination_total":${total},"pagination_offset":${pageOffset(request)}}`
  if (records === undefined) return Buffer.from(head + tail)
  return surround(head, records, tail)
}

/** Writes texts into the room around records; where one is longer than that, takes a copy. */
function surround(head: string, records: Uint8Array, tail: string): Buffer {
  const roomy = Buffer.from(records.buffer, records.byteOffset, records.length)
  const start = room.before - Buffer.byteLength(head)
  const end = roomy.length - room.after
  if (start < 0 || Buffer.byteLength(tail) > room.after) {
    return Buffer.concat([Buffer.from(head), roomy.subarray(room.before, end), Buffer.from(tail)])
  }
  roomy.write(head, start)
  return roomy.subarray(start, end + roomy.write(tail, end))
}

/**
 * The entity tag of a page. It changes with the lineage of its listing, which names one state of it
 * whatever backup was restored meanwhile; page and limit are in it because they may come in the
 * body, where two pages have one URL. Weak, since one tag stands for every content encoding (RFC
 * 9110 section 8.8.1).
 */
export function entityTag({ lineage }: Head, { page, limit }: PageRequest): string {
  return `W/"${lineage}-${page}-${limit}"`
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
