// All records of a selection as pieces of text, each read when the one before it has been sent.
//
// Every piece is a page of one version of the listing. Nothing is held in the store between two of
// them, so a slow client delays neither imports nor checkpoints.

import type { Awaitable } from '../../store/awaitable.ts'
import type { Page } from '../../store/reading.ts'
import { recordWriter } from '../requests/formats.ts'
import type { ListingRequest } from '../requests/listing-request.ts'

/** A range of the selected records. */
export interface Slice {
  readonly offset: number
  readonly limit: number
}

/** The first records that are read, before the size of a record is known. */
export const firstSlice: Slice = { offset: 0, limit: 500 }
/** Larger pieces gain nothing; making one takes about a millisecond. */
const pieceBytes = 262_144
const recordsMax = 5_000

/**
 * @param first the page of `firstSlice`.
 * @param read reads a page of the version of `first`.
 * @throws Error if the listing is not the one of `first` any more.
 */
export async function* recordPieces(
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
      yield piece
      offset += Math.min(limit, selected - offset)
      limit = Math.ceil((limit * pieceBytes) / Math.max(piece.length, pieceBytes / 4))
      limit = Math.min(limit, recordsMax)
    } else limit = greatestLimit
    if (offset < selected) page = await read({ offset, limit })
  }
}
