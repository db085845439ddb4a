// Verifies listings of some companies: each head against its segments, each segment once, and what
// is kept of the records against the present ones.

import { metaTypesMax } from '../../resources/resource.ts'
import { decodeNode, type DirectoryEntry, openDirectory, sumOf } from '../listing/directory.ts'
import { compareOrder } from '../listing/merge.ts'
import { type SizedKey, textsTogether } from '../listing/open-listings.ts'
import { addToCount, attributesShape, type ListingShape, metaOf } from '../listing/shape.ts'
import type { HeadRow, SegmentKey } from '../listing/tables.ts'
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

/** A segment that a head names. */
interface NamedSegment extends SizedKey {
  readonly shape: ListingShape | undefined
  readonly isPresent: boolean
  /** Undefined if it is missing or damaged. */
  summary?: SegmentSummary | undefined
}

/** What heads name. */
interface Named {
  readonly segments: ReadonlyMap<number, NamedSegment>
  /** The numbers of the nodes of directories. */
  readonly nodes: ReadonlySet<number>
  /** The segments to which each head leads, unless its directory cannot be read. */
  readonly leaves: ReadonlyMap<HeadRow, readonly DirectoryEntry[]>
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
  const named = await openHeads(registry, listings)
  await checkSegments(registry, named, there)
  const names = new Map(
    listings.map((listing) => {
      const present = checkHeads(registry, listing, named)
      checkIds(registry, listing, present)
      return [listing, present?.flatMap((one) => one.names)] as const
    }),
  )
  const ofSources = [...names].filter(([{ shape }]) => shape === attributesShape)
  return new Map(ofSources.map(([{ companyId }, given]) => [companyId, given]))
}

/** Opens heads; each of their segments is checked as one of the last head that names it. */
async function openHeads(
  { db, report }: VerifiedRegistry,
  listings: readonly VerifiedListing[],
): Promise<Named> {
  const segments = new Map<number, NamedSegment>()
  const nodes = new Set<number>()
  const opened = new Map<HeadRow, readonly DirectoryEntry[]>()
  async function readNodes(companyId: number, numbers: readonly number[]) {
    for (const segment of numbers) nodes.add(segment)
    const keys = numbers.map((segment) => ({ companyId, segment }))
    return (await db.tables.segments(keys, 'entries')).map(({ entries }) => entries)
  }
  for (const { companyId, shape, heads } of listings) {
    for (const head of heads.toReversed()) {
      const fault = (sentence: string) => {
        const place = `a directory of company ${companyId}, version ${head.version}`
        report('directories', `${place}: ${sentence}`)
      }
      try {
        const read = (numbers: readonly number[]) => readNodes(companyId, numbers)
        const { nodes: parts, leaves } = await openDirectory(head.directory, read)
        for (const { entry, entries } of parts) {
          if (isSum(entry, decodeNode(entries).entries)) continue
          fault(`its part ${entry.segment} does not match`)
        }
        opened.set(head, leaves)
      } catch (error) {
        // Errors of a database have a code.
        if (!(error instanceof Error) || 'code' in error) throw error
        fault(error.message)
      }
      for (const { segment, bytes } of opened.get(head) ?? []) {
        if (segments.has(segment)) continue
        segments.set(segment, {
          segment,
          bytes,
          companyId,
          shape,
          isPresent: head === heads.at(-1),
        })
      }
    }
  }
  return { segments, nodes, leaves: opened }
}

function isSum(entry: DirectoryEntry, parts: readonly DirectoryEntry[]): boolean {
  const { records, bytes, largest } = sumOf(parts)
  return entry.records === records && entry.bytes === bytes && entry.largest === largest
}

/** Compares the segments that heads name with those that are there, and checks each of these. */
async function checkSegments(
  registry: VerifiedRegistry,
  { segments, nodes }: Named,
  there: ReadonlyMap<number, number>,
): Promise<void> {
  const { db, report, lastSegment } = registry
  const fault = ({ segment, companyId }: SegmentKey, sentence: string) =>
    report('segments', `segment ${segment} of company ${companyId}${sentence}`)
  const isThere = ({ segment, companyId }: SegmentKey) => there.get(segment) === companyId
  for (const key of segments.values()) if (!isThere(key)) fault(key, ' is missing')
  for (const [segment, companyId] of there) {
    const key = { segment, companyId }
    if (!segments.has(segment) && !nodes.has(segment)) fault(key, ': no head names it')
    if (segment <= lastSegment) continue
    fault(key, `: its number is above the last one, ${lastSegment}`)
  }
  for (const some of textsTogether(segments.values().filter(isThere))) {
    for (const row of await db.tables.segments(some, 'unchecked')) {
      const one = segments.get(row.segment)
      if (one?.shape === undefined) continue
      one.summary = checkSegment(registry, one.shape, row, one.isPresent)
    }
  }
}

/** Compares heads with their segments; returns those of the present one, if all are sound. */
function checkHeads(
  { report }: VerifiedRegistry,
  { companyId, shape, heads }: VerifiedListing,
  named: Named,
): readonly SegmentSummary[] | undefined {
  let present: readonly SegmentSummary[] | undefined = []
  if (shape === undefined) return undefined
  for (const head of heads) {
    present = undefined
    const leaves = named.leaves.get(head)
    const segments = leaves?.flatMap(({ segment }) => named.segments.get(segment)?.summary ?? [])
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
  if (shape === attributesShape || sums === undefined) return
  if (sums.every((sum, n) => sum === kept[n])) return
  report(`${listing} ids`, `${listing} of company ${companyId}: its ids are not kept as they are`)
}
