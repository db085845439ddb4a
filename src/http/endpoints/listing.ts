// The endpoint of a resource: a company's listing, one page at a time.

import type { HttpReply, HttpRequest } from '../wire/exchange.ts'
import type { Resource } from '../../resources/resource.ts'
import { after, type Awaitable } from '../../store/awaitable.ts'
import type { Head, ScanTurns } from '../../store/reading.ts'
import { describeListing } from '../docs/listing.ts'
import { unavailable } from '../errors.ts'
import { contentTypes } from '../requests/formats.ts'
import { linkLengthMax } from '../answers/links.ts'
import {
  canonicalUrl,
  listingPath,
  type ListingRequest,
  noLimit,
  readListingRequest,
  versionedForm,
} from '../requests/listing-request.ts'
import { entityTag, linkOf, linksOf, makePage, type ReadyPage } from '../answers/page.ts'
import { matchesTag, sendReady, sendUnchanged, setValidators } from '../answers/send.ts'
import { isPlain, readHead, readPage, readSlice } from '../answers/read-listing.ts'
import { firstSlice, recordPieces, type Slice } from '../answers/record-pieces.ts'
import { chooseCoding, type Coding, varyBy } from '../wire/coding.ts'
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

function answer(
  request: HttpRequest,
  reply: HttpReply,
  resource: Resource,
  service: Service,
): Awaitable<HttpReply> {
  return after(readListingRequest(request, reply, resource, service.store), (read) => {
    const { asked, isByName } = read
    const form = canonicalUrl(asked)
    const location = isByName ? locationOf(asked, form) : ''
    if (isByName && location.length <= linkLengthMax) reply.header('content-location', location)
    const coding = chooseCoding(request.headers['accept-encoding'])
    return answerAsked(request, reply, { asked, form, coding }, service)
  })
}

/** A request that has been read. */
interface Asked {
  readonly asked: ListingRequest
  /** Its canonical form. */
  readonly form: string
  readonly coding: Coding
}

/** Answers from the cache, or with a 304, where the listing has not changed since. */
function answerAsked(
  request: HttpRequest,
  reply: HttpReply,
  what: Asked,
  service: Service,
): Awaitable<HttpReply> {
  const { asked, form } = what
  const cached = service.pages.get(keyOf(what))
  const condition = request.headers['if-none-match']
  if (cached === undefined && condition === undefined) {
    return answerAnew(request, reply, what, service)
  }
  return after(readHead(service.store, asked, form), (head) => {
    const isCurrent = cached?.lineage === head.lineage
    const tag = isCurrent ? cached.tag : entityTag(head, form)
    if (matchesTag(condition, tag)) {
      const lastModified = new Date(head.changedAt).toUTCString()
      return sendUnchanged(varyBy(reply, 'Accept'), {
        ...{ tag, lastModified, dataVersion: head.dataVersion },
      })
    }
    if (!isCurrent) return answerAnew(request, reply, what, service)
    service.metrics?.countPage(true)
    return sendPage(request, reply, what, { ready: cached, head })
  })
}

/** Reads a page, and keeps it for the next request. */
function answerAnew(
  request: HttpRequest,
  reply: HttpReply,
  what: Asked,
  service: Service,
): Awaitable<HttpReply> {
  const { asked, form, coding } = what
  const { store, pages, metrics } = service
  // Looking up a key or reading a body takes time; no page is read for a client that has meanwhile
  // disconnected.
  if (request.raw.socket.destroyed) throw unavailable()
  metrics?.countPage(false)
  if (asked.limit === noLimit) return sendAll(request, reply, what, service)
  const read = inTurn(request, reply, { asked, service }, (turns) =>
    readPage(store, asked, form, turns),
  )
  return after(read, (page) =>
    after(makePage(asked, form, page, coding), (ready) => {
      pages.set(keyOf(what), ready)
      return sendPage(request, reply, what, { ready, head: page })
    }),
  )
}

function sendPage(
  request: HttpRequest,
  reply: HttpReply,
  { asked, form }: Asked,
  { ready, head }: { readonly ready: ReadyPage; readonly head: Head },
): HttpReply {
  const { dataVersion } = head
  return sendReady(request, varyBy(reply, 'Accept'), ready, {
    dataVersion,
    link: linkOf(ready, asked, form, head),
    headers: recordHeaders(asked, { selected: ready.selected, dataVersion }),
  })
}

/** The key of a page in the cache. */
function keyOf({ form, coding }: Asked): string {
  return `${form} ${coding}`
}

/** Sends all records in one answer, made while it is sent (contract 11.3). */
async function sendAll(
  request: HttpRequest,
  reply: HttpReply,
  { asked, form, coding }: Asked,
  service: Service,
): Promise<HttpReply> {
  const { store, streams } = service
  const read = (what: ListingRequest, slice: Slice) =>
    inTurn(request, reply, { asked: what, service }, (turns) =>
      readSlice(store, what, form, { ...slice, turns }),
    )
  const first = await read(asked, firstSlice)
  const stream = streams.begin(request)
  const lastModified = new Date(first.changedAt).toUTCString()
  const { dataVersion, latestVersion, selected } = first
  const tag = entityTag(first, form)
  setValidators(varyBy(reply, 'Accept'), { tag, lastModified, dataVersion })
  reply.headers(recordHeaders(asked, { selected, dataVersion }))
  const link = linksOf(asked, form, { selected, dataVersion, latestVersion })
  if (link !== undefined) reply.header('link', link)
  if (coding !== 'identity') reply.header('content-encoding', coding)
  const pinned = { ...asked, version: dataVersion }
  const pieces = recordPieces(asked, first, (slice) => read(pinned, slice))
  return stream.send(reply, pieces, coding)
}

/** Reads a listing; what may need a scan of it waits for its turn. */
function inTurn<T>(
  request: HttpRequest,
  reply: HttpReply,
  { asked, service }: { readonly asked: ListingRequest; readonly service: Service },
  read: (turns?: ScanTurns) => Awaitable<T>,
): Awaitable<T> {
  return isPlain(asked) ? read() : service.scanning.read(request, reply, read)
}

/** The same page by the numbers of company and version. */
function locationOf({ version }: ListingRequest, form: string): string {
  return version === undefined ? form : versionedForm(form, version)
}

/** The headers of records without counters around them (contract 11.2); none for JSON. */
function recordHeaders(
  { resource, companyId, format }: ListingRequest,
  { selected, dataVersion }: { readonly selected: number; readonly dataVersion: number },
): Readonly<Record<string, string | number>> {
  if (format === 'json') return {}
  const file = `${resource.name}-${companyId}-version-${dataVersion}.${format}`
  return {
    'content-type': contentTypes[format],
    'x-total-count': selected,
    'content-disposition': `attachment; filename="${file}"`,
  }
}
