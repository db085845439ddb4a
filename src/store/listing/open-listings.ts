// Heads, with the segments that their directories lead to.

import { collectLeaves, type DirectoryEntry, openDirectory } from './directory.ts'
import { decodeEntries, type ListedRecord, recordsOf, type SegmentIndex } from './segment.ts'
import type { ListingShape } from './shape.ts'
import {
  type HeadRow,
  inBatches,
  type ListingLookups,
  type ListingReads,
  type ListingTables,
  type SegmentKey,
} from './tables.ts'

/** A head, with the segments that its directory leads to. */
export interface OpenListing {
  readonly head: HeadRow
  readonly leaves: readonly DirectoryEntry[]
}

/** The listings at a version of those of the companies that have one, with their segments. */
export async function openListings(
  tables: ListingTables,
  listing: string,
  companies: readonly number[],
  version = versionMax,
): Promise<Map<number, OpenListing>> {
  const open = new Map<number, OpenListing>()
  for (const head of await tables.heads(listing, companies, version)) {
    open.set(head.companyId, { head, leaves: await leavesOf(tables, head) })
  }
  return open
}

/** The segments to which a head's directory leads. */
export function leavesOf(
  tables: Pick<ListingReads, 'entries'>,
  { companyId, directory }: Pick<HeadRow, 'companyId' | 'directory'>,
): Promise<readonly DirectoryEntry[]> {
  return collectLeaves(directory, (nodes) => tables.entries(companyId, nodes))
}

/** How many segments of one listing, and of all, are read at once. */
export interface ReadTogether {
  readonly each: number
  readonly together?: number
}

const keysAtOnce = 1_000

/**
 * The indexes of listings of few segments, by company, as far as they are not too many together.
 *
 * @param wanted as for `decodeEntries`.
 */
export async function readIndexes(
  tables: Pick<ListingLookups, 'segments'>,
  shape: ListingShape,
  open: ReadonlyMap<number, OpenListing>,
  { each, together = Infinity }: ReadTogether,
  wanted?: readonly number[],
): Promise<ReadonlyMap<number, readonly SegmentIndex[]>> {
  let segments = 0
  const small = [...open].filter(([, { leaves }]) => {
    const isSmall = leaves.length <= each && segments + leaves.length <= together
    if (isSmall) segments += leaves.length
    return isSmall
  })
  const found = new Map(small.map(([company]) => [company, [] as SegmentIndex[]]))
  const keys = small.flatMap(([company, { leaves }]) => keysOf(company, leaves))
  for (const batch of inBatches(keys, keysAtOnce)) {
    for (const { companyId, entries } of await tables.segments(batch, 'entries')) {
      found.get(companyId)?.push(decodeEntries(shape, entries, wanted))
    }
  }
  return found
}

/** How many segments are read at once with their texts. */
const textsAtOnce = 400

/**
 * The records of listings, segment by segment in no order, without the values of their columns.
 *
 * @param each of a longer listing, only so many segments are read.
 */
export async function* readSegments(
  tables: Pick<ListingLookups, 'segments'>,
  shape: ListingShape,
  open: ReadonlyMap<number, OpenListing>,
  each = Infinity,
): AsyncGenerator<{ readonly companyId: number; readonly records: Iterable<ListedRecord> }> {
  const keys = [...open].flatMap(([company, { leaves }]) => keysOf(company, leaves.slice(0, each)))
  for (const batch of inBatches(keys, textsAtOnce)) {
    for (const { companyId, entries, texts } of await tables.segments(batch, 'both')) {
      const index = decodeEntries(shape, entries, [])
      yield { companyId, records: recordsOf(index, texts ?? new Uint8Array()) }
    }
  }
}

/** No version is as high. */
export const versionMax = Number.MAX_SAFE_INTEGER

export function keysOf(companyId: number, entries: readonly DirectoryEntry[]): SegmentKey[] {
  return entries.map(({ segment }) => ({ companyId, segment }))
}

/** The segments and nodes that heads of a company name. */
export async function namedSegments(
  tables: Pick<ListingReads, 'entries'>,
  heads: readonly HeadRow[],
): Promise<Set<number>> {
  const named = new Set<number>()
  for (const { companyId, directory } of heads) {
    const { nodes, leaves } = await openDirectory(directory, (some) =>
      tables.entries(companyId, some),
    )
    for (const { entry } of nodes) named.add(entry.segment)
    for (const { segment } of leaves) named.add(segment)
  }
  return named
}
