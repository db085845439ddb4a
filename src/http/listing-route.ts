// The one route: a company's listing of a resource, a page of it at a time.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Resource } from '../resources/resource.ts'
import type { Awaitable, Head, Page, StoreReader } from '../store/store.ts'
import { type Coding, chooseCoding, encode, isWorthCoding, varyByCoding } from './compression.ts'
import { pageTooLarge, unavailable, unknownCompany } from './errors.ts'
import type { Metrics } from './metrics.ts'
import { entityTag, linkField, matchesTag, pageBody, pageOffset } from './page.ts'
import type { PageCache, ReadyPage } from './page-cache.ts'
import { type PageRequest, parseCompanyId, parsePageRequest } from './parameters.ts'
import { hasBody, readBody } from './request-body.ts'

/** What the route reads from. */
interface ListingSource {
  readonly store: StoreReader
  readonly cache: PageCache
  readonly metrics: Pick<Metrics, 'countPage'> | undefined
}

/** The path of a resource's listing, as the router writes it. */
export function listingPath({ name }: Resource): string {
  return `/api/v1/companies/:company_id/${name}`
}

/** Adds the listing of a resource. */
export function addListingRoute(
  app: FastifyInstance,
  resource: Resource,
  source: ListingSource,
): void {
  app.route({
    // The framework's own HEAD would give a 304 the length of a body that it does not stand for.
    method: ['GET', 'HEAD'],
    url: listingPath(resource),
    config: { resource },
    handler: (request, reply) => answer(request, reply, resource, source),
  })
}

async function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  resource: Resource,
  { store, cache, metrics }: ListingSource,
): Promise<FastifyReply> {
  const { company_id: segment } = request.params as { company_id: string }
  const companyId = parseCompanyId(segment)
  const query = request.query as Readonly<Record<string, unknown>>
  const body = hasBody(request.raw) ? await readBody(request.raw, reply.raw) : undefined
  const pageRequest = parsePageRequest(query, body)

  const coding = chooseCoding(request.headers['accept-encoding'])
  const key = `${resource.name}/${companyId}/${pageRequest.page}/${pageRequest.limit}/${coding}`
  const cached = cache.get(key)
  const condition = request.headers['if-none-match']
  if (cached !== undefined || condition !== undefined) {
    const head = await fromStore(() => store.readHead(resource, companyId))
    if (head === undefined) throw unknownCompany(companyId)
    const tag = entityTag(head, pageRequest)
    if (matchesTag(condition, tag)) {
      setValidators(reply, head, tag, new Date(head.changedAt).toUTCString())
      return reply.code(304).send()
    }
    if (cached?.lineage === head.lineage) {
      metrics?.countPage(true)
      return sendPage(reply, head, tag, cached)
    }
  }
  // A key that was looked up or a body that was read took time: whoever has hung up meanwhile, or
  // was cut off, shall not cost a page that nobody gets.
  if (request.raw.socket.destroyed) throw unavailable()
  metrics?.countPage(false)

  const page = await fromStore(() => readPage(store, resource, companyId, pageRequest))
  if (page === undefined) throw unknownCompany(companyId)
  if (page.greatestLimit !== undefined) throw pageTooLarge(pageRequest.limit, page.greatestLimit)
  const ready = await makeReady(resource, companyId, pageRequest, page, coding)
  cache.set(key, ready)
  return sendPage(reply, page, entityTag(page, pageRequest), ready)
}

/** A fault of the store is none of the request's: 503, and the log has the rest. */
async function fromStore<T>(read: () => Awaitable<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    throw unavailable(error)
  }
}

function readPage(
  store: StoreReader,
  resource: Resource,
  companyId: number,
  request: PageRequest,
): Awaitable<Page | undefined> {
  // No listing is that long; beyond it, numbers are no longer exact.
  const offset = Math.min(Number(pageOffset(request)), Number.MAX_SAFE_INTEGER - request.limit)
  return store.readPage(resource, companyId, offset, request.limit)
}

async function makeReady(
  resource: Resource,
  companyId: number,
  request: PageRequest,
  page: Page,
  accepted: Coding,
): Promise<ReadyPage> {
  const plain = pageBody(resource, request, page)
  const coding = isWorthCoding(plain) ? accepted : 'identity'
  const path = listingPath(resource).replace(':company_id', String(companyId))
  return {
    lineage: page.lineage,
    body: await encode(plain, coding),
    coding,
    link: linkField(path, request, page.total),
    lastModified: new Date(page.changedAt).toUTCString(),
  }
}

function sendPage(reply: FastifyReply, head: Head, tag: string, page: ReadyPage): FastifyReply {
  setValidators(reply, head, tag, page.lastModified)
  reply.header('content-type', 'application/json; charset=utf-8').header('link', page.link)
  if (page.coding !== 'identity') reply.header('content-encoding', page.coding)
  return reply.send(page.body)
}

/** What a 200 and a 304 have in common (contract section 5). */
function setValidators(reply: FastifyReply, head: Head, tag: string, lastModified: string): void {
  varyByCoding(reply)
    .header('etag', tag)
    .header('cache-control', 'private, no-cache')
    .header('data-version', head.dataVersion)
    .header('last-modified', lastModified)
}
