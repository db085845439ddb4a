// Verifies listings of some companies: each head against its segments, each segment once, and what
// is kept of the records against the present ones.

import { metaTypesMax } from '../../resources/resource.ts'
import { decodeNode, type DirectoryEntry, openDirectory, sumOf } from '../listing/directory.ts'
import { compareOrder, elementOf } from '../listing/merge.ts'
import { type SizedKey, textsTogether } from '../listing/open-listings.ts'
import { addToCount, attributesShape, type ListingShape, metaOf } from '../listing/shape.ts'
import type { HeadRow } from '../listing/tables.ts'
import type { GivenName } from '../companies/keep-names.ts'
import type { VerifiedRegistry } from './verify-companies.ts'
import type { NamesGiven } from './verify-names.ts'
import {
  addSums,
  checkSegment,
  type IdSums,
  noIds,
  type SegmentSummary,
} from './verify-segments.ts'

/** The rows of one listing in the tables. */
export interface VerifiedListing {
  readonly companyId: number
  readonly listing: string
  /** Undefined for a resource that is no longer declared. */
  readonly shape: ListingShape | undefined
  /** In the order of their versions. */
  readonly heads: readonly HeadRow[]
  /** What is kept of the records of the present listing. */
  readonly kept: IdSums
}

/** What heads name. */
interface Named {
  /** The segments; undefined of one that is missing or damaged, or of no declared resource. */
  readonly segments: Map<number, SegmentSummary | undefined>
  /** The numbers of the nodes of directories. */
  readonly nodes: Set<number>
}

/** A head, and the segments to which it leads, unless its directory cannot be read. */
interface OpenHead {
  readonly listing: VerifiedListing
  readonly head: HeadRow
  readonly leaves: readonly DirectoryEntry[] | undefined
}

/**
 * Verifies listings of some companies.
 *
 * @param there all segments of these companies, by number.
 * @returns the names that sources give them.
 */
export async function verifyListings(
  registry: VerifiedRegistry,
  listings: readonly VerifiedListing[],
  there: ReadonlyMap<number, number>,
): Promise<NamesGiven> {
  const named: Named = { segments: new Map(), nodes: new Set() }
  const present = new Map<VerifiedListing, readonly SegmentSummary[] | undefined>()
  for await (const opened of openHeads(registry, listings, named.nodes)) {
    await checkSegments(registry, opened, named, there)
    for (const one of opened) {
      const segments = checkHead(registry, one, named)
      if (one.head === one.listing.heads.at(-1)) present.set(one.listing, segments)
    }
  }
  checkThere(registry, named, there)
  const names = new Map<number, readonly GivenName[] | undefined>()
  for (const listing of listings) {
    const segments = listing.heads.length === 0 ? [] : present.get(listing)
    checkIds(registry, listing, segments)
    if (listing.shape !== attributesShape) continue
    names.set(
      listing.companyId,
      segments?.flatMap((one) => one.names),
    )
  }
  return names
}

/** How many segments heads lead to that are checked together: a long listing may have many. */
const leavesAtOnce = 20_000

/** Opens heads, the last one of each listing first, some at a time. */
async function* openHeads(
  registry: VerifiedRegistry,
  listings: readonly VerifiedListing[],
  nodes: Set<number>,
): AsyncGenerator<readonly OpenHead[]> {
  let opened: OpenHead[] = []
  let count = 0
  for (const listing of listings) {
    for (const head of listing.heads.toReversed()) {
      const leaves = await openHead(registry, head, nodes)
      opened.push({ listing, head, leaves })
      count += leaves?.length ?? 0
      if (count < leavesAtOnce) continue
      yield opened
      opened = []
      count = 0
    }
  }
  yield opened
}

/** Opens a head, and reports what is wrong with its directory. */
async function openHead(
  { db, report }: VerifiedRegistry,
  { companyId, version, directory }: HeadRow,
  nodes: Set<number>,
): Promise<readonly DirectoryEntry[] | undefined> {
  const fault = (sentence: string) => {
    const place = `a directory of company ${companyId}, version ${version}`
    report('directories', `${place}: ${sentence}`)
  }
  async function readNodes(numbers: readonly number[]) {
    for (const segment of numbers) nodes.add(segment)
    const keys = numbers.map((segment) => ({ companyId, segment }))
    return (await db.tables.segments(keys, 'entries')).map(({ entries }) => entries)
  }
  try {
    const { nodes: parts, leaves } = await openDirectory(directory, readNodes)
    for (const { entry, entries } of parts) {
      if (isSum(entry, decodeNode(entries).entries)) continue
      fault(`its part ${entry.segment} does not match`)
    }
    return leaves
  } catch (error) {
    // Errors of a database have a code.
    if (!(error instanceof Error) || 'code' in error) throw error
    fault(error.message)
    return undefined
  }
}

function isSum(entry: DirectoryEntry, parts: readonly DirectoryEntry[]): boolean {
  const { records, bytes, largest } = sumOf(parts)
  return entry.records === records && entry.bytes === bytes && entry.largest === largest
}

/** Checks the segments that opened heads name, and no later head does. */
async function checkSegments(
  registry: VerifiedRegistry,
  opened: readonly OpenHead[],
  { segments }: Named,
  there: ReadonlyMap<number, number>,
): Promise<void> {
  const { db, report } = registry
  const found: (SizedKey & { readonly shape: ListingShape; readonly isPresent: boolean })[] = []
  for (const { listing, head, leaves = [] } of opened) {
    const { companyId, shape, heads } = listing
    const isPresent = head === heads.at(-1)
    for (const { segment, bytes } of leaves) {
      if (segments.has(segment)) continue
      segments.set(segment, undefined)
      if (there.get(segment) !== companyId) {
        report('segments', `segment ${segment} of company ${companyId} is missing`)
      } else if (shape !== undefined) found.push({ segment, bytes, companyId, shape, isPresent })
    }
  }
  for (const some of textsTogether(found)) {
    for (const [n, row] of (await db.tables.segments(some, 'unchecked')).entries()) {
      const { shape, isPresent } = elementOf(some, n)
      segments.set(row.segment, checkSegment(registry, shape, row, isPresent))
    }
  }
}

/** Checks whether heads name all segments that are there. */
function checkThere(
  { report, lastSegment }: VerifiedRegistry,
  { segments, nodes }: Named,
  there: ReadonlyMap<number, number>,
): void {
  for (const [segment, companyId] of there) {
    const fault = (sentence: string) =>
      report('segments', `segment ${segment} of company ${companyId}: ${sentence}`)
    if (!segments.has(segment) && !nodes.has(segment)) fault('no head names it')
    if (segment > lastSegment) fault(`its number is above the last one, ${lastSegment}`)
  }
}

/** Compares a head with its segments; returns those, if all are sound. */
function checkHead(
  { report }: VerifiedRegistry,
  { listing: { companyId, shape }, head, leaves }: OpenHead,
  named: Named,
): readonly SegmentSummary[] | undefined {
  const segments = leaves?.flatMap(({ segment }) => named.segments.get(segment) ?? [])
  if (shape === undefined || leaves === undefined || segments?.length !== leaves.length)
    return undefined
  for (const fault of faultsOfHead(shape, head, leaves, segments)) {
    report(
      `${shape.listing} heads`,
      `${shape.listing} of company ${companyId}, version ${head.version}: ${fault}`,
    )
  }
  return segments
}

/** What a head states that contradicts its segments. */
function* faultsOfHead(
  shape: ListingShape,
  head: HeadRow,
  leaves: readonly DirectoryEntry[],
  segments: readonly SegmentSummary[],
): Generator<string> {
  const types = new Map<string, number>()
  for (const [at, segment] of segments.entries()) {
    for (const [type, count] of segment.types) addToCount(types, type, count)
    const leaf = leaves[at]
    if (leaf !== undefined && !isSum(leaf, [segment])) {
      yield `its directory has other numbers than segment ${leaf.segment}`
    }
    const before = segments[at - 1]
    if (before !== undefined && compareOrder(shape, before.last, segment.first) >= 0) {
      yield `the record ${segment.first.id} is out of order`
    }
  }
  const { records, largest } = sumOf(segments)
  if (records !== head.total) {
    yield `the head has a total of ${head.total}, its segments have ${records} records`
  }
  if (largest !== head.largest) {
    yield `the largest record has ${largest} bytes, but the head has ${head.largest}`
  }
  const meta = metaOf(shape, types)
  if (meta !== head.meta) yield 'meta does not match the records'
  if (types.size > metaTypesMax) yield `${types.size} types, more than ${metaTypesMax}`
}

function checkIds(
  { report }: VerifiedRegistry,
  { companyId, listing, shape, kept }: VerifiedListing,
  present: readonly SegmentSummary[] | undefined,
): void {
  const sums = present?.reduce((sum, { ids }) => addSums(sum, ids), noIds)
  // What cannot be read is reported as such.
  if (shape === undefined || shape === attributesShape || sums === undefined) return
  if (sums.every((sum, n) => sum === kept[n])) return
  report(`${listing} ids`, `${listing} of company ${companyId}: its ids are not kept as they are`)
}
