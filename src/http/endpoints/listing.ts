// The endpoint of a resource: a company's listing, one page at a time.

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Resource } from '../../resources/resource.ts'
import type { Head } from '../../store/reading.ts'
import { describeListing } from '../docs/listing.ts'
import { fromStore, pageTooLarge, unavailable, unknownCompany } from '../errors.ts'
import { canonicalForm, listingPath, pageOffset, readListingRequest } from '../listing-request.ts'
import { entityTag, makePage, matchesTag, type ReadyPage } from '../page.ts'
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
  const { companyId } = asked
  const form = canonicalForm(asked)
  if (isByName) void reply.header('content-location', form)
  const coding = chooseCoding(request.headers['accept-encoding'])
  const cacheKey = `${form} ${coding}`
  const cached = pages.get(cacheKey)
  const condition = request.headers['if-none-match']
  if (cached !== undefined || condition !== undefined) {
    const head = await fromStore(() => store.readHead(resource, companyId))
    if (head === undefined) throw unknownCompany(companyId)
    const isCurrent = cached?.lineage === head.lineage
    const tag = isCurrent ? cached.tag : entityTag(head, form)
    if (matchesTag(condition, tag)) {
      setValidators(reply, head, tag, new Date(head.changedAt).toUTCString())
      return reply.code(304).send()
    }
    if (isCurrent) {
      metrics?.countPage(true)
      return sendPage(reply, head, cached)
    }
  }
  // Looking up a key or reading a body takes time; no page is read for a client that has meanwhile
  // disconnected.
  if (request.raw.socket.destroyed) throw unavailable()
  metrics?.countPage(false)

  // No listing is that long, and larger numbers are not exact.
  const offset = Math.min(Number(pageOffset(asked)), Number.MAX_SAFE_INTEGER - asked.limit)
  const page = await fromStore(() => store.readPage(resource, companyId, offset, asked.limit))
  if (page === undefined) throw unknownCompany(companyId)
  if (page.greatestLimit !== undefined) throw pageTooLarge(asked.limit, page.greatestLimit)
  const ready = await makePage(asked, form, page, coding)
  pages.set(cacheKey, ready)
  return sendPage(reply, page, ready)
}

function sendPage(reply: FastifyReply, head: Head, page: ReadyPage): FastifyReply {
  setValidators(reply, head, page.tag, page.lastModified)
  reply.header('content-type', 'application/json; charset=utf-8').header('link', page.link)
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
