// Pages that are ready to send: how they are built, tagged and linked to others.

import type { HttpRequest } from '../wire/exchange.ts'
import type { Resource } from '../../resources/resource.ts'
import { fixedKey } from '../../store/caching.ts'
import { after, type Awaitable } from '../../store/awaitable.ts'
import type { Head, Page } from '../../store/reading.ts'
import { type Format, recordWriter } from '../requests/formats.ts'
import {
  type AskedListing,
  canonicalUrl,
  type ListingRequest,
  pageOffset,
  type Paging,
  versionedForm,
} from '../requests/listing-request.ts'
import { joinLinks, linkTo } from './links.ts'
import { compress, type Ready } from './send.ts'
import { borrow, giveBack } from '../wire/body-memory.ts'
import { isWorthCoding } from '../wire/coding.ts'

export interface ReadyPage extends Ready {
  /** The lineage of its listing, which identifies the state that the page was built from. */
  readonly lineage: string
  /** The number of records that the pages cover. */
  readonly selected: number
  /** The last `Link` field made for it, which names the version of the answer. */
  link: { readonly version: number; readonly field: string | undefined } | undefined
}

/**
 * Builds the page for a request, in the client's preferred coding if it is worth coding.
 *
 * @throws ApiError 503 as `compress`.
 */
export function makePage(
  request: HttpRequest,
  asked: AskedListing,
  page: Page,
): Awaitable<ReadyPage> {
  const { format, resource, form } = asked
  const plain =
    format === 'json' ? pageBody(asked, page) : recordsBody(format, resource, page.records)
  page.free?.()
  const coding = isWorthCoding(plain) ? asked.coding : 'identity'
  const coded = coding === 'identity' ? plain : compress(request, plain, coding)
  return after(coded, (body) => {
    if (body !== plain) giveBack(plain)
    return {
      lineage: page.lineage,
      body,
      coding,
      tag: entityTag(page, form),
      selected: page.selected,
      changedAt: page.changedAt,
      link: undefined,
    }
  })
}

/** The body of a successful response (contract 3.1), around the records as stored. */
function pageBody(request: ListingRequest, page: Page): Buffer {
  const { resource } = request
  const { meta, total, selected, records } = page
  const head = `{"ok":true,"${resource.name}":[`
  const tail =
    (resource.metaOf === undefined ? ']' : `],"meta":${meta ?? '[]'}`) +
    `,"total":${total},"pagination_total":${selected}` +
    `,"pagination_offset":${pageOffset(request)}}`
  let bytes = head.length + Buffer.byteLength(tail) + Math.max(0, records.length - 1)
  for (const texts of records) bytes += texts.length
  const body = borrow(bytes)
  let end = body.write(head, 'latin1')
  for (const [n, texts] of records.entries()) {
    if (n > 0) body[end++] = comma
    body.set(texts, end)
    end += texts.length
  }
  body.write(tail, end)
  return body
}

const comma = 0x2c

/** The body of a page in another format: its records alone (contract 11.2). */
function recordsBody(format: Format, resource: Resource, records: Page['records']): Buffer {
  const { header, bytes } = recordWriter(format, resource)
  const lines = bytes(records)
  const body = Buffer.concat([Buffer.from(header), lines])
  giveBack(lines)
  return body
}

/**
 * The entity tag of a page: the lineage of its listing, which identifies one state even after a
 * backup was restored, and the request's canonical form, since the body of a request may select
 * another page of the same URL, and one import may change two listings. It is weak, since one tag
 * covers every content coding (RFC 9110 section 8.8.1).
 *
 * @param form is the canonical form of the request: visible ASCII without quotation marks.
 */
export function entityTag({ lineage }: Head, form: string): string {
  return `W/"${lineage}${fixedKey(form)}"`
}

/** Longer Link fields are made for each answer: they would take more memory than their page. */
const linkKeptMax = 1_024

/**
 * The Link field of a page (RFC 8288), relative to the host: `first`, `prev`, `next` and `last`,
 * all of the version of this answer, so that a walk stays on it; and `latest-version` (RFC 5829)
 * where the registry has moved on.
 */
export function linkOf(
  page: ReadyPage,
  asked: AskedListing,
  { dataVersion, latestVersion }: Pick<Head, 'dataVersion' | 'latestVersion'>,
): string | undefined {
  if (page.link?.version === dataVersion && latestVersion === dataVersion) return page.link.field
  const field = linksOf(asked, { selected: page.selected, dataVersion, latestVersion })
  const isShort = field === undefined || field.length <= linkKeptMax
  if (isShort && latestVersion === dataVersion) page.link = { version: dataVersion, field }
  return field
}

/** The Link field as `linkOf` describes it. */
export function linksOf(
  asked: AskedListing,
  page: Pick<Page, 'selected' | 'dataVersion' | 'latestVersion'>,
): string | undefined {
  const { selected, dataVersion, latestVersion } = page
  const { form } = asked
  const links = linksTo(asked, selected, (to) => {
    const plain = to === asked.page ? form : canonicalUrl({ ...asked, page: to })
    return versionedForm(plain, dataVersion)
  })
  if (latestVersion !== dataVersion) links.push(linkTo('latest-version', form))
  return joinLinks(links)
}

/** The links (RFC 8288) `first`, `prev`, `next` and `last`, each relative to the host. */
export function linksTo(
  { page, limit }: Paging,
  total: number,
  formOf: (page: number) => string,
): string[] {
  const last = Math.max(1, Math.ceil(total / limit))
  const link = (rel: string, to: number) => linkTo(rel, formOf(to))
  const links = [link('first', 1)]
  if (page > 1) links.push(link('prev', Math.min(page - 1, last)))
  if (page < last) links.push(link('next', page + 1))
  return [...links, link('last', last)]
}
