// Finds the listings of a kind that changed in a span of versions, ordered by their last changes.

import type {
  ChangedListing,
  ChangedPlace,
  ChangedRange,
  ListingLookups,
  VersionSpan,
} from '../listing/tables.ts'
import { createPace } from '../serving/pace.ts'
import type { Reading } from './read-changes.ts'

/** How many changes are examined together: more in each round, until the page is full. */
const [changesAtFirst, changesAtOnce] = [16, 500]
/** A page ends after this many superseded changes, so that its time is bounded. */
export const passedMax = 2_000

/** The listings of a kind that have changed, by their last changes, in batches. */
export async function* changedListings(
  { tables, span, asked, page }: Reading,
  listing: string,
): AsyncGenerator<readonly ChangedListing[]> {
  const { companyId, after: last } = asked
  let after: ChangedPlace = { version: span.since, companyId: Number.MAX_SAFE_INTEGER }
  if (last?.listing === listing) {
    // If part of a listing is left, the listing is read again.
    const { version, companyId, record } = last
    after = { version, companyId: record === undefined ? companyId : companyId - 1 }
  }
  if (companyId !== undefined) {
    const changed = await findChange(tables, listing, span, companyId)
    if (changed !== undefined && compare(changed, after) > 0) yield [changed]
    return
  }
  const pace = createPace()
  let atOnce = changesAtFirst
  let passed = 0
  for (let areMostLast = true; ; atOnce = Math.min(changesAtOnce, 2 * atOnce)) {
    // Most changes may be superseded by later ones of their listings.
    const limit: number = areMostLast ? Math.min(atOnce, page.left().limit + 1) : atOnce
    const { changed, end } = await readRange(tables, listing, { ...span, after, limit })
    if (changed.length > 0) yield changed
    if (end === undefined) return
    passed += limit - changed.length
    if (passed > passedMax) page.cut({ listing, ...end, record: undefined })
    if (page.isFull()) return
    areMostLast = changed.length > limit / 2
    after = end
    await pace()
  }
}

/** Examines the next changes; keeps the listings of which they are the last ones. */
async function readRange(
  tables: ListingLookups,
  listing: string,
  range: ChangedRange,
): Promise<{
  readonly changed: readonly ChangedListing[]
  /** Undefined if no more follow. */
  readonly end: ChangedPlace | undefined
}> {
  const heads = await tables.changedHeads(listing, range)
  const upTo = heads.length < range.limit ? undefined : heads.at(-1)
  const traces = await tables.changedTraces(listing, { ...range, upTo })
  const end = traces.length < range.limit ? upTo : traces.at(-1)
  const isIn = (one: ChangedPlace) => end === undefined || compare(one, end) <= 0
  const last = [...heads, ...traces].filter((one) => one.isLast && isIn(one))
  return { changed: last.sort(compare), end }
}

async function findChange(
  tables: ListingLookups,
  listing: string,
  span: VersionSpan,
  companyId: number,
): Promise<ChangedListing | undefined> {
  const [head] = await tables.heads(listing, [companyId], span.until)
  const isIn = head !== undefined && head.version > span.since
  const last = isIn ? head : (await tables.traces(listing, [companyId], span)).at(-1)
  return last && { companyId, version: last.version, isOnly: false, isLast: true }
}

function compare(a: ChangedPlace, b: ChangedPlace): number {
  return a.version - b.version || a.companyId - b.companyId
}
