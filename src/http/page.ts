// A page that is ready to be sent: how it is made, tagged, linked to others, and kept.

import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Head, Page } from '../store/reading.ts'
import { canonicalForm, type ListingRequest, pageOffset } from './listing-request.ts'
import { type Coding, encode, isWorthCoding } from './wire/coding.ts'

/** A page that is ready to be sent. */
export interface ReadyPage {
  /** The lineage of the listing that it was made from: names one state of it. */
  readonly lineage: string
  /** The body in its coding. */
  readonly body: Buffer
  readonly coding: Coding
  readonly tag: string
  readonly link: string
  readonly lastModified: string
}

/** Makes the page that a request asks for, in the coding that its client prefers if it pays. */
export async function makePage(
  request: ListingRequest,
  page: Page,
  tag: string,
  accepted: Coding,
): Promise<ReadyPage> {
  const plain = pageBody(request, page)
  const coding = isWorthCoding(plain) ? accepted : 'identity'
  return {
    lineage: page.lineage,
    body: await encode(plain, coding),
    coding,
    tag,
    link: linkField(request, page.total),
    lastModified: new Date(page.changedAt).toUTCString(),
  }
}

/** The body of a success (contract 3.1), around the records as the store has them. */
function pageBody(request: ListingRequest, page: Page): Buffer {
  const { resource } = request
  const { meta, total } = page
  const head = `{"ok":true,"${resource.name}":[`
  const tail =
    (resource.metaOf === undefined ? ']' : `],"meta":${meta ?? '[]'}`) +
    `,"total":${total},"pagination_total":${total},"pagination_offset":${pageOffset(request)}}`
  return page.recordsBetween(head, tail)
}

/** Characters of a request's fingerprint: 72 bits. */
const fingerprintLength = 12

/**
 * The entity tag of a page: the lineage of its listing, which names one state of it whatever backup
 * was restored meanwhile, and the request's canonical form, since pages of one URL may be asked for
 * in a body, and since one import may change two listings. Weak: one tag stands for every content
 * encoding (RFC 9110 section 8.8.1).
 *
 * @param form is the canonical form of the request.
 */
export function entityTag({ lineage }: Head, form: string): string {
  const fingerprint = hash('sha1', form, 'base64url').slice(0, fingerprintLength)
  return `W/"${lineage}-${fingerprint}"`
}

/** Whether an If-None-Match field names the tag, by weak comparison (RFC 9110 section 13.1.2). */
export function matchesTag(field: string | undefined, tag: string): boolean {
  if (field === undefined) return false
  if (field.trim() === '*') return true
  const opaque = tag.slice(2)
  return field.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === opaque)
}

/** The Link field (RFC 8288): `first`, `prev`, `next` and `last`, each relative to the host. */
function linkField(request: ListingRequest, total: number): string {
  const { page, limit } = request
  const last = Math.max(1, Math.ceil(total / limit))
  const link = (rel: string, to: number) =>
    `<${canonicalForm({ ...request, page: to })}>; rel="${rel}"`
  const links = [link('first', 1)]
  if (page > 1) links.push(link('prev', Math.min(page - 1, last)))
  if (page < last) links.push(link('next', page + 1))
  return [...links, link('last', last)].join(', ')
}

/** Ready pages, by canonical form and coding. */
export interface PageCache {
  /** The page under `key`, of whatever state: it is the caller's to compare that. */
  get(key: string): ReadyPage | undefined
  /** Keeps a page, unless it would drive out others and has not been asked for lately. */
  set(key: string, page: ReadyPage): void
}

/** What an entry takes beside its body, in bytes, estimated generously. */
const overheadBytes = 1_024

/**
 * Makes a cache of ready pages. An entry is good for one state of its listing only, so that a
 * changed listing is never served stale, not even where a restored backup repeats version numbers;
 * no change has to be announced to the cache.
 *
 * @param bytesMax bounds the whole cache; 0 switches it off.
 */
export function createPageCache(bytesMax: number): PageCache {
  if (bytesMax === 0) return { get: () => undefined, set: () => undefined }
  const pages = new LRUCache<string, ReadyPage>({
    maxSize: bytesMax,
    // One page must not push all others out.
    maxEntrySize: Math.max(1, Math.floor(bytesMax / 8)),
    sizeCalculation: sizeOf,
  })
  const askedOnce = new LRUCache<string, true>({
    maxSize: Math.ceil(bytesMax / overheadBytes),
    sizeCalculation: () => 1,
  })

  // Once the cache is full, a page is kept when it is asked for a second time while as many others
  // were as there are in it (after A1out of 2Q, Johnson and Shasha 1994). Who walks through long
  // listings drives out nothing that is asked for often; and what is not kept is garbage while it
  // is young: pages that lie in the cache for a while cost a collection of all that V8 holds.
  function isWorthKeeping(key: string, page: ReadyPage): boolean {
    const isRoom = pages.calculatedSize + sizeOf(page) <= bytesMax
    if (isRoom || pages.has(key) || askedOnce.delete(key)) return true
    askedOnce.set(key, true)
    if (askedOnce.size > pages.size) askedOnce.pop()
    return false
  }

  return {
    get: (key) => pages.get(key),
    set(key, page) {
      if (isWorthKeeping(key, page)) pages.set(key, page)
    },
  }
}

function sizeOf({ body }: ReadyPage): number {
  return body.length + overheadBytes
}
