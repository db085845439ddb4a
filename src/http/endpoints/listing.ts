// The endpoint of a resource: a company's listing, one page at a time.

import type { HttpReply, HttpRequest } from '../wire/exchange.ts'
import type { Resource } from '../../resources/resource.ts'
import { after, type Awaitable } from '../../store/awaitable.ts'
import type { Head, Page, ScanTurns } from '../../store/reading.ts'
import { isWhole } from '../../store/selection.ts'
import { unavailable } from '../errors.ts'
import { contentTypes } from '../requests/formats.ts'
import { locationLengthMax } from '../answers/links.ts'
import {
  type AskedListing,
  listingPath,
  type ListingRequest,
  noLimit,
  readListingRequest,
  versionedForm,
} from '../requests/listing-request.ts'
import { entityTag, linkOf, linksOf, makePage, type ReadyPage } from '../answers/page.ts'
import { matchesTag, sendReady, sendUnchanged, setHead } from '../answers/send.ts'
import { readAll, readHead, readPage, readSlice } from '../answers/read-listing.ts'
import { varyBy } from '../wire/coding.ts'
import type { Service } from '../service.ts'
import type { Endpoint } from './endpoint.ts'

/** The endpoint of a resource's listings. */
export function listing(resource: Resource): Endpoint {
  return {
    path: listingPath(resource),
    scope: resource.name,
    answer: (request, service) => answer(request, resource, service),
  }
}

function answer(request: HttpRequest, resource: Resource, service: Service): Awaitable<HttpReply> {
  return after(readListingRequest(request, resource, service.store), (asked) =>
    answerAsked(request, asked, service),
  )
}

/** Answers from the cache, or with a 304, where the listing has not changed since. */
function answerAsked(
  request: HttpRequest,
  asked: AskedListing,
  service: Service,
): Awaitable<HttpReply> {
  const cached = service.answers.get(keyOf(asked)) as ReadyPage | undefined
  const condition = request.headers['if-none-match']
  if (cached === undefined && condition === undefined) {
    return answerAnew(request, asked, service)
  }
  return after(readHead(service.store, asked), (head) => {
    const isCurrent = cached?.lineage === head.lineage
    const isSame = matchesTag(condition, isCurrent ? cached.tag : entityTag(head, asked.form))
    if (!isCurrent) {
      // The links of a 304 need the number of records, which only a page has if there are filters.
      return isSame && asked.filters.length === 0
        ? sendSame(request, asked, { ...head, selected: head.total })
        : answerAnew(request, asked, service)
    }
    if (!isSame) service.metrics?.countPage(true)
    return sendPage(request, asked, { ready: cached, head })
  })
}

/** Reads a page, and keeps it for the next request. */
function answerAnew(
  request: HttpRequest,
  asked: AskedListing,
  service: Service,
): Awaitable<HttpReply> {
  const { store, answers, metrics } = service
  // Looking up a key or reading a body takes time; no page is read for a client that has meanwhile
  // disconnected.
  if (request.raw.socket.destroyed) throw unavailable()
  metrics?.countPage(false)
  if (asked.limit === noLimit) return sendAll(request, asked, service)
  const read = inTurn(request, { asked, service }, (turns) => readPage(store, asked, turns))
  return after(read, (page) =>
    after(makePage(request, asked, page), (ready) => {
      answers.set(keyOf(asked), ready)
      return sendPage(request, asked, { ready, head: page })
    }),
  )
}

function sendPage(
  request: HttpRequest,
  asked: AskedListing,
  { ready, head }: { readonly ready: ReadyPage; readonly head: Head },
): HttpReply {
  const { dataVersion } = head
  // Before anything is set, since it may be a 400.
  const link = linkOf(ready, asked, head)
  varyBy(request.reply, 'Accept')
  return sendReady(request, ready, {
    dataVersion,
    link,
    location: locationOf(asked),
    headers: recordHeaders(asked, { selected: ready.selected, dataVersion }),
  })
}

/** The key of a page in the cache. */
function keyOf({ form, coding }: AskedListing): string {
  return `${form} ${coding}`
}

/** Sends all records in one answer, made while it is sent (contract 11.3). */
async function sendAll(
  request: HttpRequest,
  asked: AskedListing,
  service: Service,
): Promise<HttpReply> {
  const { store, beginStream } = service
  const { reply } = request
  const { first, pieces } = await readAll(asked, (what, slice) =>
    inTurn(request, { asked: what, service }, (turns) =>
      readSlice(store, what, { ...slice, turns }),
    ),
  )
  const tag = entityTag(first, asked.form)
  if (matchesTag(request.headers['if-none-match'], tag)) {
    return sendSame(request, asked, first)
  }
  const link = linksOf(asked, first)
  const send = beginStream(request)
  const { changedAt, dataVersion } = first
  const told = { dataVersion, link, location: locationOf(asked) }
  setHead(varyBy(reply, 'Accept'), { tag, changedAt }, told).headers(recordHeaders(asked, first))
  if (asked.coding !== 'identity') reply.header('content-encoding', asked.coding)
  return send(pieces, asked.coding)
}

/** Sends a 304. */
function sendSame(
  request: HttpRequest,
  asked: AskedListing,
  page: Head & Pick<Page, 'selected'>,
): HttpReply {
  const { changedAt, dataVersion } = page
  const told = { dataVersion, link: linksOf(asked, page), location: locationOf(asked) }
  const reply = varyBy(request.reply, 'Accept')
  return sendUnchanged(reply, { tag: entityTag(page, asked.form), changedAt }, told)
}

/** Reads a listing; what may need a scan of it waits for its turn. */
function inTurn<T>(
  request: HttpRequest,
  { asked, service }: { readonly asked: ListingRequest; readonly service: Service },
  read: (turns?: ScanTurns) => Awaitable<T>,
): Awaitable<T> {
  return isWhole(asked) ? read() : service.turns.read(request, read)
}

/** The same page by the numbers of company and version, if it was named otherwise. */
function locationOf({ isByName, version, form }: AskedListing): string | undefined {
  if (!isByName) return undefined
  const location = version === undefined ? form : versionedForm(form, version)
  return location.length <= locationLengthMax ? location : undefined
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
