// The endpoint of a resource: a company's listing, one page at a time.

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Resource } from '../../resources/resource.ts'
import type {
  Head,
  ListedState,
  OutsideHistory,
  Page,
  SelectedPage,
  StoreReader,
} from '../../store/reading.ts'
import { describeListing } from '../docs/listing.ts'
import {
  companyUnknownThen,
  fromStore,
  outsideHistory,
  pageTooLarge,
  unavailable,
  unknownCompany,
} from '../errors.ts'
import {
  canonicalForm,
  listingPath,
  type ListingRequest,
  pageOffset,
  readListingRequest,
  selectionOf,
  versionedForm,
} from '../listing-request.ts'
import { entityTag, linkOf, makePage, matchesTag, type ReadyPage } from '../page.ts'
import { giveBackAfter } from '../wire/body-memory.ts'
import { chooseCoding, varyByCoding } from '../wire/coding.ts'
import { type Endpoint, readMethods, type Service } from './endpoint.ts'

/** The endpoint of a resource's listings. */
export function listing(resource: Resource): Endpoint {
  return {
    path: listingPath(resource),
    methods: readMethods,
    scope: resource.name,
    operation: describeListing(resource),
    createHandler: (service) => (request, reply) => answer(request, reply, resource, service),
  }
}

async function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  resource: Resource,
  { store, pages, metrics }: Service,
): Promise<FastifyReply> {
  const { asked, isByName } = await readListingRequest(request, reply, resource, store)
  const form = canonicalForm(asked)
  if (isByName) void reply.header('content-location', locationOf(asked, form))
  const coding = chooseCoding(request.headers['accept-encoding'])
  const cacheKey = `${form} ${coding}`
  const cached = pages.get(cacheKey)
  const condition = request.headers['if-none-match']
  if (cached !== undefined || condition !== undefined) {
    const head = await readHead(store, asked, form)
    const isCurrent = cached?.lineage === head.lineage
    const tag = isCurrent ? cached.tag : entityTag(head, form)
    if (matchesTag(condition, tag)) {
      setValidators(reply, head, tag, new Date(head.changedAt).toUTCString())
      return reply.code(304).send()
    }
    if (isCurrent) {
      metrics?.countPage(true)
      return sendPage(reply, head, cached, linkOf(cached, asked, form, head))
    }
  }
  // Looking up a key or reading a body takes time; no page is read for a client that has meanwhile
  // disconnected.
  if (request.raw.socket.destroyed) throw unavailable()
  metrics?.countPage(false)

  const page = await readPage(store, asked, form)
  const ready = await makePage(asked, form, page, coding)
  pages.set(cacheKey, ready)
  return sendPage(reply, page, ready, linkOf(ready, asked, form, page))
}

/** The same page by the numbers of company and version. */
function locationOf({ version }: ListingRequest, form: string): string {
  return version === undefined ? form : versionedForm(form, version)
}

/** Whether the listing is read as it is: all of it, in its order, in the last version. */
function isPlain({ version, query }: ListingRequest): boolean {
  return version === undefined && query === ''
}

/** @throws ApiError 404 or 410 if there is no such company or version. */
async function readHead(
  store: StoreReader,
  asked: ListingRequest,
  form: string,
): Promise<Head & Partial<ListedState>> {
  const { resource, companyId } = asked
  const head = await fromStore<Head | OutsideHistory | undefined>(() =>
    isPlain(asked) ? store.readHead(resource, companyId) : store.readState(selectionOf(asked)),
  )
  return known(head, asked, form)
}

/** @throws ApiError as `readHead`, and 400 if the page would be too large. */
async function readPage(
  store: StoreReader,
  asked: ListingRequest,
  form: string,
): Promise<Page & Partial<SelectedPage>> {
  const { resource, companyId, limit } = asked
  // No listing is that long, and larger numbers are not exact.
  const offset = Math.min(Number(pageOffset(asked)), Number.MAX_SAFE_INTEGER - limit)
  const read = await fromStore<Page | OutsideHistory | undefined>(() =>
    isPlain(asked)
      ? store.readPage(resource, companyId, offset, limit)
      : store.readSelection(selectionOf(asked), offset, limit),
  )
  const page = known(read, asked, form)
  if (page.greatestLimit !== undefined) throw pageTooLarge(limit, page.greatestLimit)
  return page
}

function known<T extends object>(
  read: T | OutsideHistory | undefined,
  { companyId, version }: ListingRequest,
  form: string,
): T {
  if (read === undefined) {
    throw version === undefined ? unknownCompany(companyId) : companyUnknownThen(companyId, version)
  }
  if (!('outside' in read)) return read
  throw outsideHistory(read, version ?? 0, form)
}

function sendPage(reply: FastifyReply, head: Head, page: ReadyPage, link: string): FastifyReply {
  setValidators(reply, head, page.tag, page.lastModified)
  reply.header('content-type', 'application/json; charset=utf-8').header('link', link)
  if (page.memory !== undefined) giveBackAfter(reply.raw, page.memory)
  if (page.coding !== 'identity') reply.header('content-encoding', page.coding)
  return reply.send(page.body)
}

/** Sets the headers that a 200 and a 304 have in common (contract section 5). */
function setValidators(reply: FastifyReply, head: Head, tag: string, lastModified: string): void {
  varyByCoding(reply)
    .header('etag', tag)
    .header('cache-control', 'private, no-cache')
    .header('data-version', head.dataVersion)
    .header('last-modified', lastModified)
}
