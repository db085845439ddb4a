// Reads listings from the store as a request asks for them, and says what is wrong where it cannot.

import { after, type Awaitable } from '../../store/awaitable.ts'
import type { Head, Page, ScanTurns, StoreReader } from '../../store/reading.ts'
import { fromStore, pageTooLarge, requireFound } from '../store-errors.ts'
import { canonicalUrl, type ListingRequest, pageOffset } from '../requests/listing-request.ts'
import type { Slice } from './record-pieces.ts'

/** Whether the listing is read as it is: all of it, in its order, in the last version. */
export function isPlain({ version, query }: ListingRequest): boolean {
  return version === undefined && query === ''
}

/** @throws ApiError 404 or 410 if there is no such company or version. */
export function readHead(store: StoreReader, asked: ListingRequest): Awaitable<Head> {
  const found = fromStore(() => store.readHead(asked))
  return after(found, (head) => requireFound(head, asked, () => canonicalUrl(asked)))
}

/** @throws ApiError as `readHead`, and 400 if the page would be too large. */
export function readPage(
  store: StoreReader,
  asked: ListingRequest,
  turns?: ScanTurns,
): Awaitable<Page> {
  const { limit } = asked
  // No listing is that long, and larger numbers are not exact.
  const offset = Math.min(Number(pageOffset(asked)), Number.MAX_SAFE_INTEGER - limit)
  return after(readSlice(store, asked, { offset, limit, turns }), (page) => {
    if (page.greatestLimit !== undefined) throw pageTooLarge(limit, page.greatestLimit)
    return page
  })
}

/** @throws ApiError as `readHead`. */
export function readSlice(
  store: StoreReader,
  asked: ListingRequest,
  { offset, limit, turns }: Slice & { readonly turns?: ScanTurns | undefined },
): Awaitable<Page> {
  const found = fromStore(() => store.readPage(asked, offset, limit, turns))
  return after(found, (page) => requireFound(page, asked, () => canonicalUrl(asked)))
}
