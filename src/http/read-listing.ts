// Reads listings from the store as a request asks for them, and says what is wrong where it cannot.

import type {
  Head,
  ListedState,
  OutsideHistory,
  Page,
  ScanTurns,
  StoreReader,
} from '../store/reading.ts'
import { fromStore, known, pageTooLarge } from './errors.ts'
import { type ListingRequest, pageOffset, selectionOf } from './listing-request.ts'
import type { AnyPage } from './page.ts'
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
): Promise<Head & Partial<ListedState>> {
  const { resource, companyId } = asked
  const head = await fromStore<Head | OutsideHistory | undefined>(() =>
    isPlain(asked) ? store.readHead(resource, companyId) : store.readState(selectionOf(asked)),
  )
  return known(head, asked, form)
}

/** @throws ApiError as `readHead`, and 400 if the page would be too large. */
export async function readPage(
  store: StoreReader,
  asked: ListingRequest,
  form: string,
  turns?: ScanTurns,
): Promise<AnyPage> {
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
): Promise<AnyPage> {
  const { resource, companyId } = asked
  const read = await fromStore<Page | OutsideHistory | undefined>(() =>
    isPlain(asked)
      ? store.readPage(resource, companyId, offset, limit)
      : store.readSelection(selectionOf(asked), offset, limit, turns),
  )
  return known(read, asked, form)
}
