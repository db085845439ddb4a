// Reads a page of what has changed between two versions: listing by listing, in the order of their
// last changes.

import type { Resource } from '../../resources/resource.ts'
import type { ChangesPage, ChangesRequest, NoChanges } from '../changes.ts'
import { sumOf } from '../listing/directory.ts'
import { inBatches } from '../listing/in-batches.ts'
import { attributesShape, shapeOf } from '../listing/shape.ts'
import type { ListingLookups, SegmentKey } from '../listing/tables.ts'
import { createFree } from '../listing/read-page.ts'
import type { Snapshot } from '../sql/database.ts'
import { withVersions } from './changed-in.ts'
import { addCompanies } from './company-changes.ts'
import { changedListings } from './changed-listings.ts'
import { createPage } from './changes-page.ts'
import { compareListing, type PageLeft } from './compare-listing.ts'
import { findSpan } from './find-span.ts'
import { createIndexSource, type WantedSegments } from './index-source.ts'
import { type Comparing, type KnownSpan, type ListingStates, openStates } from './listing-states.ts'

/** How many listings are opened at first; then, as many as are likely to fill the page. */
const openedAtFirst = 2
/** How many segments are read together. */
const segmentsAtOnce = 200

/** A page of changes; or why there is none. */
export async function readChanges(
  snapshot: Snapshot,
  asked: ChangesRequest,
): Promise<ChangesPage | NoChanges> {
  const registry = await snapshot.registry(asked.companyId)
  const ends = await findSpan(snapshot, registry, asked)
  if ('none' in ends) return ends
  const { since, until } = ends
  const texts: Uint8Array[] = []
  const tables = notingTexts(snapshot.tables, texts)
  const { companyId } = asked
  const span = { since: since.version, until: until.version, earliest: registry.earliestVersion }
  const page = createPage(asked.limit)
  const reading = { tables, span, asked, page }
  for (const resource of listingsFrom(asked)) {
    await (resource === undefined ? addCompanies(reading) : addRecords(reading, resource))
    if (page.isFull()) break
  }
  const { changes, next } = await page.finish(tables)
  if (changes.length === 0 && companyId !== undefined) {
    const names = await tables.statesById([companyId])
    // An erased company was known only before all versions.
    const wasKnown = names.some(({ since: known }) => known > 0)
    if (!wasKnown) return { none: 'unknown', version: until.version, registry }
  }
  return { registry, since, until, changes, next, free: createFree(snapshot.tables, texts) }
}

/** The same tables, which note the texts that they have read. */
function notingTexts(tables: ListingLookups, texts: Uint8Array[]): ListingLookups {
  return {
    ...tables,
    async segments(keys, what) {
      const rows = await tables.segments(keys, what)
      for (const row of rows) if (row.texts !== null) texts.push(row.texts)
      return rows
    },
    async textRanges(ranges) {
      const parts = await tables.textRanges(ranges)
      for (const part of parts) texts.push(part)
      return parts
    },
  }
}

/** What a page is made with. */
export interface Reading {
  readonly tables: ListingLookups
  readonly span: KnownSpan
  readonly asked: ChangesRequest
  readonly page: ReturnType<typeof createPage>
}

/** The listings asked for, from that of the last page on; companies (undefined) come first. */
function listingsFrom({ hasCompanies, resources, after }: ChangesRequest) {
  const all = [...(hasCompanies ? [undefined] : []), ...resources]
  const nameOf = (resource: Resource | undefined) => resource?.name ?? attributesShape.listing
  const at = all.findIndex((resource) => nameOf(resource) === after?.listing)
  return all.slice(Math.max(0, at))
}

async function addRecords(reading: Reading, resource: Resource): Promise<void> {
  const { tables, span, page } = reading
  const shape = shapeOf(resource)
  const { listing } = shape
  const comparing = { tables, source: createIndexSource(tables, shape), span }
  const first = page.left().limit
  let opened = 0
  for await (const changed of changedListings(reading, listing)) {
    for (let at = 0; at < changed.length;) {
      const { limit } = page.left()
      const fitting = opened === 0 ? openedAtFirst : (limit * opened) / Math.max(1, first - limit)
      const batch = changed.slice(at, at + Math.ceil(fitting))
      at += batch.length
      opened += batch.length
      await addListings(reading, comparing, await openStates(comparing, batch))
      if (page.isFull()) return
    }
  }
}

/** Adds the changes of listings to the page, until it is full. */
async function addListings(
  { asked: { after: last }, page }: Reading,
  comparing: Comparing,
  opened: readonly ListingStates[],
): Promise<void> {
  const { source } = comparing
  const { listing } = source.shape
  const weightOf = ({ leaves: { former, present } }: ListingStates) => {
    // Of a new listing, all records are reported.
    const records = former.length === 0 ? sumOf(present).records : 0
    return Math.max((former.length + present.length) / segmentsAtOnce, records / page.left().limit)
  }
  // Listings whose segments are read together: not many more than fill the page.
  for (const portion of inBatches(opened, opened.length, weightOf, 1)) {
    await source.prefetch(shortOf(portion, page.left()))
    for (const states of portion) {
      const { companyId, version: listingVersion } = states
      const isLast = last?.version === listingVersion && last.companyId === companyId
      const after = isLast && last.listing === listing ? last.record : undefined
      const changes = await compareListing(comparing, states, after, page.left())
      for (const change of await withVersions(comparing, states, changes)) {
        page.add({ ...change, listing, companyId, listingVersion })
      }
      if (page.isFull()) return
    }
  }
}

/** The segments of short listings, which are read together; those of new ones with their texts. */
function shortOf(opened: readonly ListingStates[], left: PageLeft): WantedSegments {
  const indexes: SegmentKey[] = []
  const both: SegmentKey[] = []
  // The last change only tells that there is another page.
  let { limit, bytesMax } = { ...left, limit: left.limit - 1 }
  for (const { companyId, leaves } of opened) {
    const { former, present } = leaves
    if (former.length + present.length >= segmentsAtOnce) continue
    for (const { segment } of former) indexes.push({ companyId, segment })
    for (const { segment, records, bytes } of present) {
      const isNew = former.length === 0
      // Those beyond the page are read as they are needed.
      if (isNew && (limit <= 0 || bytesMax <= 0)) break
      if (isNew) [limit, bytesMax] = [limit - records, bytesMax - bytes]
      const list = isNew ? both : indexes
      list.push({ companyId, segment })
    }
  }
  return { indexes, both }
}
