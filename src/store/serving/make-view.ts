// Makes views: scans the indexes of a listing in steps, and orders the records that pass.

import { scanEntries } from '../listing/open-listings.ts'
import { orderScanned } from './order-view.ts'
import { createPace } from './pace.ts'
import { decodeEntries, reuseMemory } from '../listing/segment.ts'
import { shapeOf } from '../listing/shape.ts'
import type { HeadRow } from '../listing/tables.ts'
import { createScan, isListingOrder } from '../listing/scan.ts'
import { reverse, type View } from '../listing/view.ts'
import { stringEnd, stringText } from '../../text/member-scan.ts'
import type { Selection } from '../selection.ts'
import type { ServingReads } from './reads.ts'

/**
 * Makes the view of a selection.
 *
 * @param head the head of its listing.
 */
export async function makeView(
  reads: ServingReads,
  { resource, filters, sort }: Selection,
  head: HeadRow,
): Promise<View> {
  const shape = shapeOf(resource)
  const fields = { shape, orderBy: resource.order.by }
  const scan = createScan(fields, filters, sort)
  const memory = reuseMemory()
  const pace = createPace()
  for await (const { segments, entries } of scanEntries(reads, head)) {
    const texts = scan.readsTexts ? await reads.texts(head.companyId, segments) : undefined
    for (const [n, segment] of segments.entries()) {
      const index = decodeEntries(shape, entries[n] ?? noBytes, scan.wanted, memory)
      scan.add(index, segment, texts && valuesOf(texts[n] ?? noBytes, index.lengths, sort?.field))
      // Awaiting nothing costs as much as testing some records.
      const turn = pace()
      if (turn !== undefined) await turn
    }
    if (scan.isOver()) break
  }
  const scanned = scan.finish()
  if (sort === undefined) return scanned.view
  if (!isListingOrder(fields, sort)) return orderScanned(scanned, sort.direction, pace)
  return sort.direction === shape.direction ? scanned.view : reverse(scanned.view)
}

const noBytes = new Uint8Array()

/**
 * The values of a field in the records of a segment. The name of a member, from the comma to the
 * colon, cannot be within a string, where a quotation mark follows a backslash; so a record is only
 * parsed if its value is no text.
 */
function valuesOf(texts: Uint8Array, lengths: Uint32Array, field = ''): unknown[] {
  const bytes = Buffer.from(texts.buffer, texts.byteOffset, texts.length)
  const name = Buffer.from(`,"${field}":"`)
  let next = bytes.indexOf(name)
  let end = -1
  return Array.from(lengths, (length) => {
    const start = end + 1
    end = start + length
    if (next !== -1 && next < end) {
      const from = next + name.length
      next = bytes.indexOf(name, from)
      return stringText(bytes.subarray(from, stringEnd(bytes, from)))
    }
    const record: unknown = JSON.parse(bytes.toString('utf8', start, end))
    return (record as Readonly<Record<string, unknown>>)[field]
  })
}
