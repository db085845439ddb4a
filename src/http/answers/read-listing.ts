// Reads listings and changes from the store as a request asks for them, or throws the error to
// answer it with.

import { after, type Awaitable } from '../../store/awaitable.ts'
import type { ChangesPage, ChangesRequest } from '../../store/changes.ts'
import type { Head, Page, ScanTurns } from '../../store/reading.ts'
import type { StoreReader } from '../../store/serving/store-reader.ts'
import { fromStore, noChanges, pageTooLarge, requireFound } from '../store-errors.ts'
import { recordWriter } from '../requests/formats.ts'
import { canonicalUrl, type ListingRequest, pageOffset } from '../requests/listing-request.ts'

/** A range of the selected records. */
export interface Slice {
  readonly offset: number
  readonly limit: number
}

/** The first records that are read, before the size of a record is known. */
const firstSlice: Slice = { offset: 0, limit: 500 }
/** Larger pieces gain nothing; making one takes about a millisecond. */
const pieceBytes = 262_144
const recordsMax = 5_000

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
    if (page.greatestLimit !== undefined) throw pageTooLarge(page.greatestLimit)
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

/** @throws ApiError 404, 410 or 400 if there are no such changes. */
export async function readChanges(store: StoreReader, asked: ChangesRequest): Promise<ChangesPage> {
  const page = await fromStore(() => store.readChanges(asked))
  if ('none' in page) throw noChanges(page, asked)
  return page
}

/**
 * Reads all records of a selection, in pieces of text, each when it is asked for.
 *
 * Every piece is a page of one version of the listing. Nothing is held in the store between two of
 * them, so a slow client delays neither imports nor checkpoints.
 *
 * @param read reads a page of the selection, as `readSlice` does.
 * @returns the first page, and the pieces, which throw an Error if the listing is not the one of
 *   that page any more.
 */
export async function readAll<Asked extends ListingRequest>(
  asked: Asked,
  read: (asked: Asked, slice: Slice) => Awaitable<Page>,
): Promise<{ readonly first: Page; readonly pieces: AsyncGenerator<Buffer> }> {
  const first = await read(asked, firstSlice)
  const pinned = { ...asked, version: first.dataVersion }
  return { first, pieces: recordPieces(asked, first, (slice) => read(pinned, slice)) }
}

async function* recordPieces(
  { format, resource }: ListingRequest,
  first: Page,
  read: (slice: Slice) => Awaitable<Page>,
): AsyncGenerator<Buffer> {
  const { header, bytes } = recordWriter(format, resource)
  const { selected } = first
  let { offset, limit } = firstSlice
  let page = first
  if (header !== '') yield Buffer.from(header)
  while (offset < selected) {
    const { records, greatestLimit, lineage } = page
    if (lineage !== first.lineage) throw new Error('the listing has another history now')
    if (greatestLimit === 0) throw new Error('a record is larger than a page')
    if (greatestLimit === undefined) {
      const piece = bytes(records)
      page.free?.()
      yield piece
      offset += Math.min(limit, selected - offset)
      limit = Math.ceil((limit * pieceBytes) / Math.max(piece.length, pieceBytes / 4))
      limit = Math.min(limit, recordsMax)
    } else limit = greatestLimit
    if (offset < selected) page = await read({ offset, limit })
  }
}
