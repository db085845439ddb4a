// Makes views: scans the indexes of a listing in steps, and orders the records that pass.

import { scanEntries } from '../listing/open-listings.ts'
import { orderScanned } from './order-view.ts'
import { createPace } from './pace.ts'
import { shapeOf } from '../listing/shape.ts'
import type { HeadRow } from '../listing/tables.ts'
import { createScan, isListingOrder } from '../listing/scan.ts'
import { reverse, type View } from '../listing/view.ts'
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
  const pace = createPace()
  for await (const { segments, entries } of scanEntries(reads, head)) {
    const texts = scan.readsTexts ? await reads.texts(head.companyId, segments) : undefined
    for (let n = 0; n < segments.length; n++) {
      scan.add(entries[n] ?? noBytes, segments[n] ?? 0, texts?.[n])
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
