// Verifies listings of some companies: each head against its segments, each segment once, and what
// is kept of the records against the present ones.

import type { GivenName } from '../companies/keep-names.ts'
import type { DirectoryEntry } from '../listing/directory.ts'
import { type SizedKey, textsTogether } from '../listing/open-listings.ts'
import { attributesShape, type ListingShape } from '../listing/shape.ts'
import type { HeadRow, SegmentKey } from '../listing/tables.ts'
import type { VerifiedListing, VerifiedRegistry } from './verify-companies.ts'
import { faultsOfHead, openChecked } from './verify-heads.ts'
import { addSums, isSameSums, noIds } from './verify-ids.ts'
import { checkSegment, type SegmentSummary } from './verify-segments.ts'

/** A segment that a head names. */
interface NamedSegment extends SizedKey {
  readonly shape: ListingShape | undefined
  readonly isPresent: boolean
}

/** The company of each segment that is there. */
type SegmentsThere = ReadonlyMap<number, number>

/** The names that sources give companies; undefined where these cannot be read. */
export type NamesGiven = ReadonlyMap<number, readonly GivenName[] | undefined>

/**
 * Verifies listings of some companies.
 *
 * @param there all segments of these companies.
 * @returns the names that sources give them.
 */
export async function verifyListings(
  registry: VerifiedRegistry,
  listings: readonly VerifiedListing[],
  there: SegmentsThere,
): Promise<NamesGiven> {
  const isThere = ({ segment, companyId }: SegmentKey) => there.get(segment) === companyId
  const { named, nodes, opened } = await openHeads(registry, listings)
  const fault = ({ segment, companyId }: SegmentKey, sentence: string) =>
    registry.report('segments', `segment ${segment} of company ${companyId}${sentence}`)
  for (const key of named.values()) if (!isThere(key)) fault(key, ' is missing')
  for (const [segment, companyId] of there) {
    const isNamed = named.has(segment) || nodes.has(segment)
    if (!isNamed) fault({ segment, companyId }, ': no head names it')
    if (segment > registry.lastSegment) {
      const last = `its number is above the last one, ${registry.lastSegment}`
      fault({ segment, companyId }, `: ${last}`)
    }
  }
  const sound = new Map<number, SegmentSummary>()
  for (const some of textsTogether(named.values().filter(isThere))) {
    for (const row of await registry.db.tables.segments(some, 'unchecked')) {
      const { shape, isPresent = false } = named.get(row.segment) ?? {}
      const summary = shape && checkSegment(registry, shape, row, isPresent)
      if (summary !== undefined) sound.set(row.segment, summary)
    }
  }
  const given = new Map<number, readonly GivenName[] | undefined>()
  for (const listing of listings) {
    const present = verifyHeads(registry, listing, opened, sound)
    if (listing.shape === attributesShape) {
      given.set(
        listing.companyId,
        present?.flatMap((one) => one.names),
      )
    } else if (listing.shape !== undefined) checkIds(registry, listing, present)
  }
  return given
}

/** The segments to which each head leads; each of them is checked as one of the last such head. */
async function openHeads({ db, report }: VerifiedRegistry, listings: readonly VerifiedListing[]) {
  const named = new Map<number, NamedSegment>()
  const nodes = new Set<number>()
  const opened = new Map<HeadRow, readonly DirectoryEntry[]>()
  for (const { companyId, shape, heads } of listings) {
    for (const head of heads.toReversed()) {
      const leaves = await openChecked(db.tables, head, nodes, (sentence) =>
        report(
          'directories',
          `a directory of company ${companyId}, version ${head.version}: ${sentence}`,
        ),
      )
      if (leaves === undefined) continue
      opened.set(head, leaves)
      for (const { segment, bytes } of leaves) {
        if (named.has(segment)) continue
        named.set(segment, { segment, bytes, companyId, shape, isPresent: head === heads.at(-1) })
      }
    }
  }
  return { named, nodes, opened }
}

/** Compares heads with their segments; returns those of the present one, if all are sound. */
function verifyHeads(
  { report }: VerifiedRegistry,
  { companyId, shape, heads }: VerifiedListing,
  opened: ReadonlyMap<HeadRow, readonly DirectoryEntry[]>,
  sound: ReadonlyMap<number, SegmentSummary>,
): readonly SegmentSummary[] | undefined {
  let present: readonly SegmentSummary[] | undefined = []
  if (shape === undefined) return undefined
  for (const head of heads) {
    present = undefined
    const leaves = opened.get(head)
    const segments = leaves?.flatMap(({ segment }) => sound.get(segment) ?? [])
    if (leaves === undefined || segments?.length !== leaves.length) continue
    present = segments
    for (const fault of faultsOfHead(shape, head, leaves, segments)) {
      report(
        `${shape.listing} heads`,
        `${shape.listing} of company ${companyId}, version ${head.version}: ${fault}`,
      )
    }
  }
  return present
}

function checkIds(
  { report }: VerifiedRegistry,
  { companyId, listing, kept }: VerifiedListing,
  present: readonly SegmentSummary[] | undefined,
): void {
  const sums = present?.reduce((sum, { ids }) => addSums(sum, ids), noIds)
  // What cannot be read is reported as such.
  if (sums === undefined || isSameSums(sums, kept)) return
  report(`${listing} ids`, `${listing} of company ${companyId}: its ids are not kept as they are`)
}
