// Reads listings from the store as a request asks for them, and says what is wrong where it cannot.

import type { Head, Page, ScanTurns, StoreReader } from '../store/reading.ts'
import { fromStore, known, pageTooLarge } from './errors.ts'
import { type ListingRequest, pageOffset } from './listing-request.ts'
import type { Slice } from './record-pieces.ts'

/** Whether the listing is read as it is: all of it, in its order, in the last version. */
export function isPlain({ version, query }: ListingRequest): boolean {
  return version === undefined && query === ''
}

/** @throws ApiError 404 or 410 if there is no such company or version. */
export async function readHead(
  store: StoreReader,
  asked: ListingRequest,
  form: string,
): Promise<Head> {
  return known(await fromStore(() => store.readHead(asked)), asked, form)
}

/** @throws ApiError as `readHead`, and 400 if the page would be too large. */
export async function readPage(
  store: StoreReader,
  asked: ListingRequest,
  form: string,
  turns?: ScanTurns,
): Promise<Page> {
  const { limit } = asked
  // No listing is that long, and larger numbers are not exact.
  const offset = Math.min(Number(pageOffset(asked)), Number.MAX_SAFE_INTEGER - limit)
  const page = await readSlice(store, asked, form, { offset, limit, turns })
  if (page.greatestLimit !== undefined) throw pageTooLarge(limit, page.greatestLimit)
  return page
}

/** @throws ApiError as `readHead`. */
export async function readSlice(
  store: StoreReader,
  asked: ListingRequest,
  form: string,
  { offset, limit, turns }: Slice & { readonly turns?: ScanTurns | undefined },
): Promise<Page> {
  return known(await fromStore(() => store.readPage(asked, offset, limit, turns)), asked, form)
}
